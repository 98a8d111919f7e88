import { once } from 'node:events'
import { createServer, connect as openSocket, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { execute } from './execute.ts'
import { install } from './install.ts'
import { loopback, type Service, start } from './service.ts'

const example = fileURLToPath(new URL('../../examples/liferaft/', import.meta.url))
const port = 7000
const names = ['n1', 'n2', 'n3']

interface State {
  role: 'follower' | 'candidate' | 'leader'
  term: number
  leader: string
  votedFor: string | null
}

interface Packet {
  type: string
  term: number
  address: string
  data?: { granted: boolean }
}

const address = (name: string) => loopback(Number(name.slice(1)))

const startNode = (name: string): Service<State> =>
  start([`${example}node.js`, name, ...names.map(member => `${member}=${address(member)}:${port}`)])

/** What a candidate sends; its log is empty, as every log here is. */
const packet = (type: string, from: string, term: number, fields: object = {}) =>
  `${JSON.stringify({ type, term, address: from, state: 2, leader: '', last: { index: 0, term, committedIndex: 0 }, ...fields })}\n`

/** A peer of the node that the test plays: one connection, and the answers that came on it. */
const connect = async (name: string) => {
  const socket = openSocket(port, address(name))
  onTestFinished(() => void socket.destroy())
  await once(socket, 'connect')
  const lines = createInterface({ input: socket })[Symbol.asyncIterator]()
  return {
    write: (bytes: string) => new Promise<void>(written => void socket.write(bytes, () => written())),
    answer: async (): Promise<Packet> => JSON.parse((await lines.next()).value),
  }
}

/** Two peers whose connections the node has accepted: it has refused a packet of a term long gone on each. */
const connectTwo = async (name: string) => {
  const peers = await Promise.all([connect(name), connect(name)])
  for (const peer of peers) {
    await peer.write(packet('vote', 'n2', -1))
    expect(await peer.answer()).toMatchObject({ type: 'error', address: name })
  }
  return peers
}

beforeAll(() => install(example))

test('three nodes elect one leader, and the others follow it', async () => {
  const nodes = names.map(startNode)
  const leaders = nodes.map(node => node.state(state => state.role === 'leader'))
  const elected = await Promise.race(leaders)
  expect(names).toContain(elected.leader)
  const followed = await Promise.all(
    nodes.map(node => node.state(state => state.leader === elected.leader && state.term >= elected.term)),
  )
  expect(followed.map(state => state.leader)).toEqual([elected.leader, elected.leader, elected.leader])
})

test('one vote beside its own makes a leader of three', async () => {
  const voter = createServer((socket: Socket) => {
    createInterface({ input: socket }).on('line', line => {
      const request: Packet = JSON.parse(line)
      if (request.type === 'vote')
        socket.write(packet('voted', 'n2', request.term, { state: 3, data: { granted: true } }))
    })
    onTestFinished(() => void socket.destroy())
  })
  onTestFinished(() => void voter.close())
  await once(voter.listen(port, address('n2')), 'listening')
  const leader = await startNode('n1').state(state => state.role === 'leader')
  expect(leader).toMatchObject({ leader: 'n1', votedFor: 'n1' })
})

test('of two vote requests in one term, one after the other, the first is granted', async () => {
  const node = startNode('n3')
  await node.state(state => state.term === 0)
  const [first, second] = await connectTwo('n3')
  let answers: Packet[] = []
  // Where its election timer fired between the two, the node is in a later term, and the two are tried in another one.
  for (let term = 1_000; answers.at(-1)?.type !== 'voted'; term += 1_000) {
    await first!.write(packet('vote', 'n1', term))
    answers = [await first!.answer()]
    await second!.write(packet('vote', 'n2', term))
    answers.push(await second!.answer())
  }
  expect(answers.map(answer => answer.data)).toEqual([{ granted: true }, { granted: false }])
})

test('of two vote requests in one term that overlap at a node, both are granted', async () => {
  const term = 1_000 // no node comes there by itself
  const node = startNode('n3')
  await node.state(state => state.term === 0)
  const [first, second] = await connectTwo('n3')
  process.kill(node.pid, 'SIGSTOP')
  await first!.write(packet('vote', 'n1', term))
  await second!.write(packet('vote', 'n2', term))
  process.kill(node.pid, 'SIGCONT')
  expect(await first!.answer()).toMatchObject({ type: 'voted', term, data: { granted: true } })
  expect(await second!.answer()).toMatchObject({ type: 'voted', term, data: { granted: true } })
  await node.state(state => state.term === term && state.votedFor === 'n1')
  await node.state(state => state.term === term && state.votedFor === 'n2')
})

describe('under the checker', () => {
  const restart = [
    'n3 timer +247ms',
    'n1 timer +297ms',
    'n1→n2 #1 open :7000',
    'n2→n1 #1 accept :7000',
    'n1→n2 #2 vote term=1',
    'crash n2',
    'n2→n1 #2 voted term=1 granted',
    'restart n2',
    'n3→n2 #1 open :7000',
    'n2→n3 #1 accept :7000',
    'n3→n2 #2 vote term=1',
    'n2→n3 #2 voted term=1 granted',
  ]
  const log = [
    'n1 timer +172ms',
    'n1→n3 #1 open :7000',
    'n1→n2 #1 open :7000',
    'n3→n1 #1 accept :7000',
    'n1→n3 #2 vote term=1',
    'n3→n1 #2 voted term=1 granted',
    'n1→n3 #3 append term=1',
    'n2→n1 #1 accept :7000',
    'divide n1→n2 #2 vote term=1',
    'client x',
    'n2 timer +239ms',
    'n2→n3 #1 open :7000',
    'n1→n3 #4 append term=1',
    'n3→n1 #3 open :7000',
    'n3→n2 #1 accept :7000',
    'n2→n3 #2 vote term=2',
    'n3→n2 #2 voted term=2 granted',
    'n2→n3 #3 append term=2',
    'n1→n3 #5 accept :7000',
    'n3→n1 #4 append ack term=1',
    'client y',
    'n2→n3 #4 append term=2',
    'n3→n2 #3 open :7000',
    'n2→n3 #5 accept :7000',
    'n3→n2 #4 append ack term=2',
  ]
  const duplicates = [
    'n3 timer +243ms',
    'duplicate n3→n4 #1 vote term=1',
    'n1 timer +188ms',
    'n3→n4 #1 vote term=1',
    'n1→n5 #1 vote term=1',
    'n5→n1 #1 voted term=1 granted',
    'n4→n3 #1 voted term=1 granted',
    'n3→n4 #2 vote term=1',
    'n4→n3 #2 voted term=1 granted',
    'n1→n2 #1 vote term=1',
    'n2→n1 #1 voted term=1 granted',
  ]
  test('a voter that ends and is started again votes twice in a term', async () => {
    const { diverged, violation, state } = await execute('liferaft/restart.config.ts', restart, 3)
    expect(diverged).toBe(undefined)
    expect(violation).toMatchObject({ kind: 'safety', property: 'electionSafety', step: 12 })
    expect(state.nodes.map(({ state }) => [state.role, state.term])).toEqual([
      ['leader', 1],
      ['follower', 1],
      ['leader', 1],
    ])
  })

  test('a voter whose request was duplicated is counted twice', async () => {
    const { diverged, violation } = await execute('liferaft/duplicates.config.ts', duplicates, 1)
    expect(diverged).toBe(undefined)
    expect(violation).toMatchObject({ kind: 'safety', property: 'electionSafety', step: 11 })
  })

  test('a node without the committed entry is elected, and commits another in its place', async () => {
    const { diverged, violation, state } = await execute('liferaft/log.config.ts', log, 1)
    expect(diverged).toBe(undefined)
    expect(violation).toMatchObject({ kind: 'safety', property: 'stateMachineSafety', step: 25 })
    expect(state.nodes.map(({ state }) => state.committed)).toEqual([['x'], ['y'], []])
  })
})
