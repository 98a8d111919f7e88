import { beforeAll, expect, test } from 'vitest'
import { readTrace } from '../../../checker/trace/read.ts'

import { copyOfFixtures, here as lastnail, start } from '../lastnail.ts'

const config = (name: string, service: string, rest = '') => `
  import { always, defineSystem, jsonLines } from 'lastnail'
  export default defineSystem({
    name: '${name}',
    nodes: {
      redis: { command: ['node', 'database.js'], listens: 6379 },
      a: { command: ['node', '${service}'], env: { REDIS: 'redis' }, listens: 8080 },
    },
    state: jsonLines('stdout'),
    ${rest}
  })`

let directory: string
beforeAll(() => {
  const copy = copyOfFixtures({
    'database.js': "require('node:net').createServer(socket => socket.end('hi')).listen(6379)",
    'connects.js': `
      const socket = require('node:net').connect(6379, process.env.REDIS, () => {
        console.log('{"connected":true}')
        require('node:http').createServer((asked, response) => response.end()).listen(8080)
      })
      socket.on('data', () => {})`,
    'asks.js': "require('node:net').connect(6378, process.env.REDIS).write('?')",
    'connects.config.ts': config('connects', 'connects.js'),
    'answers.config.ts': config(
      'answers',
      'connects.js',
      `clients: { ann: async ({ a }) => (await a.http(8080, '/')).statusCode },
       properties: { neverAnswers: always(s => s.calls.every(({ value }) => value !== 200)) },`,
    ),
    'silent.js': "require('node:net').createServer(() => {}).listen(6378)",
    'silent.config.ts': config('silent', 'asks.js').replace("'database.js'], listens: 6379", "'silent.js']"),
  })
  directory = copy.directory
  return copy.remove
})

const began = [
  '   0  the start, in which nodes waited for each other:',
  '        a→redis #1 open :6379',
  '        redis→a #1 accept :6379',
]

test('a service that connects to its database and then listens is checked; the start is step 0 of its trace', async () => {
  const held = await lastnail(directory, 'check', 'connects.config.ts', '--executions', '3')
  expect(held).toMatchObject({ code: 0, stdout: expect.stringMatching(/^held$/m) })
  const { code, stdout } = await lastnail(directory, 'check', 'answers.config.ts', '--executions', '20')
  expect(code).toBe(1)
  expect(stdout.split('\n').slice(0, 5)).toEqual([...began, '   1  client ann', 'violated: safety neverAnswers'])
  const trace = /^trace: (.*)$/m.exec(stdout)![1]!
  expect(readTrace(trace).steps[0]!.started).toEqual(['a→redis #1 open :6379', 'redis→a #1 accept :6379'])
  const replayed = await lastnail(directory, 'replay', trace)
  expect(replayed).toMatchObject({ code: 1, stdout: expect.stringContaining(began.join('\n')) })
  const debugged = await start(directory, ['debug', trace], { input: 'to 0\nquit\n' })
  expect(debugged.stdout).toContain('       happened redis→a #1 accept :6379')
  const tried = await lastnail(directory, 'try', 'answers.config.ts', 'client ann')
  expect(tried.stdout.split('\n').slice(0, 3)).toEqual(began)
})

test('a local search begins where such a start has ended', async () => {
  const found = await lastnail(directory, 'check', 'answers.config.ts', '--search', 'local', '--for', '20s')
  expect(found).toMatchObject({ code: 1, stdout: expect.stringMatching(/^violated: safety neverAnswers$/m) })
})

test('a campaign checks such a service, and its schedule is kept and fails again', { timeout: 120_000 }, async () => {
  const args = ['answers.config.ts', '--executions', '12', '--workers', '1', '--json']
  const { code, stdout } = await lastnail(directory, 'campaign', ...args)
  const { verdict, bugs } = JSON.parse(stdout.split('\n').at(-1)!)
  expect({ code, verdict, bugs }).toMatchObject({ code: 1, verdict: 'violated', bugs: [{ property: 'neverAnswers' }] })
  const again = await lastnail(directory, 'regress', bugs[0].file, '--json')
  expect(again.code).toBe(1)
  expect(JSON.parse(again.stdout.split('\n').at(-1)!)).toMatchObject({ schedules: [{ outcome: 'fails', executed: 1 }] })
  const replayed = await lastnail(directory, 'replay', bugs[0].trace)
  expect(replayed).toMatchObject({ code: 1, stdout: expect.stringContaining(began.join('\n')) })
})

test('a start that cannot end names who waits for whom', async () => {
  const { code, stderr } = await lastnail(directory, 'check', 'silent.config.ts', '--executions', '3')
  const what = 'a waits for redis:6378 and has not opened port 8080: it listens on no TCP port'
  expect({ code, stderr }).toEqual({
    code: 64,
    stderr: `lastnail: the service does not start: ${what}\nlastnail: it printed nothing`,
  })
})
