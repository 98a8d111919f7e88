import { always, defineSystem, eventually, frames, type GlobalState, jsonLines } from 'lastnail'

interface Use {
  thread: number
  lock: string
  mode: 'shared' | 'exclusive'
}

/** What a client logs. */
interface Client {
  waiting: Use[]
  using: Use[]
}

interface Message {
  type: string
  lock?: string
  mode?: string
}

const env = { BUG: process.env.BUG ?? '' }
const server = '{{server.address}}:7000'
const client = (name: string, ...threads: string[]) => ({
  command: ['node', '--no-memory-reducer', 'client.js', `{{${name}.address}}:7000`, server, ...threads],
  env,
  listens: 7000,
})

const clients = ({ node }: GlobalState<Client>) => ['a', 'b'].flatMap(name => node(name).state ?? [])

export default defineSystem({
  name: 'lockserver',
  nodes: {
    server: { command: ['node', '--no-memory-reducer', 'server.js', server], env, listens: 7000 },
    a: client('a', 'l1=shared,l1=exclusive', 'l2=exclusive'),
    b: client('b', 'l2=shared,l2=exclusive', 'l1=exclusive'),
  },
  state: jsonLines<Client>('stdout'),
  properties: {
    everyRequestIsGranted: eventually((state: GlobalState<Client>) =>
      clients(state).every(({ waiting }) => waiting.length === 0),
    ),
    writersAreAlone: always((state: GlobalState<Client>) => {
      const using = clients(state).flatMap(client => client.using)
      return using
        .filter(({ mode }) => mode === 'exclusive')
        .every(writer => using.filter(({ lock }) => lock === writer.lock).length === 1)
    }),
  },
  // A client whose connection is lost would have to know which of its locks it still has: leases are not part of it.
  faults: {},
  messages: frames.jsonLines(({ type, lock = '', mode = '' }: Message) => `${type} ${lock} ${mode}`.trim()),
})
