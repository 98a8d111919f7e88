import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { execa } from 'execa'
import { writeSchedule } from '../../campaign/schedules/file.ts'
import type { Schedule } from '../../campaign/schedules/schedule.ts'

/** Two adders each add one to a store: they read, and write what comes after it if nobody has written meanwhile. */
const adder = (says: string) => `import { createSocket } from 'node:dgram'

const [, , store, name] = process.argv
const socket = createSocket('udp4')
socket.on('message', bytes => {
  const [what, value] = bytes.toString().split(' ')
  if (what === 'value') socket.send(${says}, 7000, store)
})
socket.send('read', 7000, store)
`
export const plain = adder(`"write " + (Number(value) + 1) + " after " + value`)
export const withName = adder(`"write by " + name + " " + (Number(value) + 1) + " after " + value`)

const store = (isStale: string) => `import { createSocket } from 'node:dgram'

let value = 0
let writes = 0
const log = () => console.log(JSON.stringify({ value, writes }))
const socket = createSocket('udp4')
socket.on('message', (bytes, { port, address }) => {
  const said = bytes.toString()
  if (said === 'read') return socket.send('value ' + value, port, address)
  const [next, seen] = said.match(/\\d+/g).map(Number)
  if (${isStale}) return socket.send('value ' + value, port, address)
  value = next
  writes += 1
  socket.send('written', port, address)
  log()
})
socket.bind(7000, log)
`
export const right = store('seen !== value')
/** An addition is lost where both adders read before one of them writes. */
export const wrong = store('false')

export const configuration = (folder = '') => `import { always, defineSystem, jsonLines } from 'lastnail'

const adder = name => ({ command: ['node', '${folder}adder.js', '{{store.address}}', name] })

export default defineSystem({
  name: 'additions',
  nodes: { store: { command: ['node', '${folder}store.js'] }, a: adder('a'), b: adder('b') },
  state: jsonLines('stdout'),
  properties: {
    nothingLost: always(state => {
      const { value, writes } = state.node('store').state ?? {}
      return value === writes
    }),
  },
})
`

/** By path; null for one that is taken away. */
type Files = Readonly<Record<string, string | null>>

/** A directory with the service in it, and a git repository if commits are made. */
export class Service {
  readonly directory = realpathSync(mkdtempSync(join(tmpdir(), 'lastnail-service-')))

  constructor(files: Files = {}) {
    this.write({
      'package.json': '{ "type": "module" }\n',
      'adder.js': plain,
      'store.js': right,
      'lastnail.config.ts': configuration(),
      ...files,
    })
  }

  write(files: Files): void {
    for (const [name, content] of Object.entries(files)) {
      const path = join(this.directory, name)
      if (content === null) {
        rmSync(path)
        continue
      }
      mkdirSync(dirname(path), { recursive: true })
      writeFileSync(path, content)
    }
  }

  /** Keeps a schedule, by default one without a step; returns its path. */
  keep(changes: Partial<Schedule> = {}, name = 'kept.json'): string {
    const path = join(this.directory, name)
    const finding = { at: '2026-01-01T00:00:00Z', commit: null }
    writeSchedule(path, {
      ...{ format: 1, system: 'additions', config: 'lastnail.config.ts', property: 'nothingLost', kind: 'safety' },
      ...{ message: 'nothingLost does not hold', seed: 1, variant: 0, bucket: '01234567', criticalTransition: null },
      ...{ found: { first: finding, last: finding, times: 1 }, programs: {}, labels: [] },
      ...changes,
    })
    return path
  }

  /** @returns the commit */
  async commit(message: string, files: Files = {}): Promise<string> {
    this.write(files)
    await this.git('init', '--quiet')
    await this.git('add', '--all', '.')
    await this.git('commit', '--quiet', '--message', message)
    return this.git('rev-parse', 'HEAD')
  }

  async git(...args: readonly string[]): Promise<string> {
    const identity = ['-c', 'user.name=Somebody', '-c', 'user.email=somebody@example.org', '-c', 'commit.gpgsign=false']
    return (await execa('git', [...identity, ...args], { cwd: this.directory })).stdout
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true })
  }
}

/** Both read, both write. */
export const stepsToLoss = [
  'a→store read',
  'b→store read',
  'store→a value',
  'store→b value',
  'a→store write',
  'b→store write',
]
