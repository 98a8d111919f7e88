import { join } from 'node:path'
import { beforeAll, describe, expect, test } from 'vitest'
import { readTrace } from '../../../checker/trace/read.ts'
import { copyOfFixtures, here, lastnail, ofQuietMachine } from '../lastnail.ts'

const config = (nodes: string) => `
  import { defineSystem, jsonLines } from 'lastnail'
  export default defineSystem({
    name: 'starts',
    nodes: { ${nodes} },
    state: jsonLines('stdout'),
    clients: { ann: async ({ a }) => (await a.http(8080, '/')).statusCode },
  })`
const service = (rest = '') => `a: { command: ['node', 'connects.js'], listens: 8080, ${rest} }`
const database = (program: string, rest = '') => `db: { command: ['node', '${program}'], listens: 6379, ${rest} }`

let directory: string
beforeAll(() => {
  const copy = copyOfFixtures({
    'database.js': "require('node:net').createServer(socket => socket.end('hi')).listen(6379)",
    'silent.js': "require('node:net').createServer(() => {}).listen(6379)",
    'slow.js': `
      setTimeout(() => require('node:fs').writeFileSync('/tmp/ready', ''), 2000)
      require('node:net').createServer(socket => socket.end('hi')).listen(6379)`,
    // It listens once its database has answered, and ends where that cannot be reached.
    'connects.js': `
      require('node:net').connect(6379, 'db').on('data', () => {
        require('node:http').createServer((asked, response) => response.end()).listen(8080)
      }).on('error', () => process.exit(4))`,
    'last.js': `
      require('node:net').connect(8080, 'a').on('error', () => process.exit(4)).on('connect', () => console.log('{"found":1}'))
      setInterval(() => {}, 1e8)`,
    'connects.config.ts': config(`${service()}, ${database('database.js')}`),
    'after.config.ts': config(
      `last: { command: ['node', 'last.js'], after: ['a'] }, ${service("after: ['db']")}, ${database('database.js')}`,
    ),
    'healthy.config.ts': config(
      `${service("after: ['db']")}, ${database('slow.js', "healthy: ['test', '-e', '/tmp/ready']")}`,
    ),
    'silent.config.ts': config(
      `last: { command: ['node', 'last.js'], after: ['a'] }, ${service()}, ${database('silent.js')}`,
    ),
  })
  directory = copy.directory
  return copy.remove
})

const emulate = async (file: string, ...args: readonly string[]) => emulateBy(here, file, ...args)

const emulateBy = async (run: typeof here, file: string, ...args: readonly string[]) => {
  const { stdout, stderr } = await run(directory, 'emulate', file, '--for', '4s', '--json', ...args)
  expect(stdout, stderr).not.toBe('')
  return JSON.parse(stdout)
}

describe.each(['virtual', 'real'])('a run at the pace %s', pace => {
  test('clients call once a service that connects to its database listens', async () => {
    const { verdict, clients } = await emulate('connects.config.ts', '--pace', pace)
    expect({ verdict, clients }).toMatchObject({ verdict: 'held', clients: [{ name: 'ann', failed: 0 }] })
  })

  test('a node with `after` is started when those that it names are ready', async () => {
    const { verdict, clients, crashes, trace, notes } = await emulate('after.config.ts', '--pace', pace)
    expect({ verdict, crashes, notes: ofQuietMachine(notes) }).toEqual({ verdict: 'held', crashes: 0, notes: [] })
    expect(clients).toMatchObject([{ name: 'ann', failed: 0 }])
    const replayed = await here(directory, 'replay', trace)
    expect(replayed.stdout).toMatch(/^ {3}1 {2}join a$/m)
    expect(replayed.stdout).toMatch(/last: \{"found":1\}\n(?:.*\n)*.*all as recorded; no violation$/)
  })
})

test('so it is at the pace native, which begins with those that others wait for', async () => {
  const { verdict, crashes } = await emulate('after.config.ts', '--pace', 'native')
  expect({ verdict, crashes }).toEqual({ verdict: 'held', crashes: 0 })
})

test('the start takes time on the clock of the run, here until a health check passes', async () => {
  const { trace, hash, clients } = await emulate('healthy.config.ts')
  expect(readTrace(join(directory, trace)).steps.slice(1, 3)).toMatchObject([
    { atMs: 2000, choice: { label: 'db timer +2000ms' } },
    { atMs: 2000, choice: { label: 'join a' } },
  ])
  expect(clients).toMatchObject([{ name: 'ann', calls: 2, failed: 0 }])
  expect(await emulateBy(lastnail, 'healthy.config.ts')).toMatchObject({ hash })
})

test('who is still waited for is said, and clients do not call meanwhile', async () => {
  const { notes, clients } = await emulate('silent.config.ts')
  expect(notes).toEqual([
    'last was not started: it is started after a',
    'a waits for db:6379 and has not opened port 8080: it listens on no TCP port',
  ])
  expect(clients).toEqual([])
})
