import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { scheduleOf } from '../../../checker/trace/again.ts'
import { readTrace } from '../../../checker/trace/read.ts'
import { copyOfFixtures, here as lastnail, start } from '../lastnail.ts'

let directory: string
beforeAll(() => {
  const copy = copyOfFixtures({
    // It sends a word; the other side gives up when it has waited for five seconds.
    'patience.js': `
      const { createSocket } = require('node:dgram')
      const tell = state => console.log(JSON.stringify(state))
      const [, , role, address] = process.argv
      if (role === 'waits') {
        const waiting = setTimeout(() => tell({ gaveUp: true }), 5000)
        createSocket('udp4').bind(7000).on('message', () => { clearTimeout(waiting); tell({ heard: true }) })
      } else if (role === 'says') createSocket('udp4').send('word', 7000, address)
      else {
        createSocket('udp4').bind(7000)
        setTimeout(() => tell({ rang: true }), Number(role))
      }`,
    'patience.config.ts': `
      import { always, defineSystem, jsonLines } from 'lastnail'
      const node = (...args: readonly string[]) => ({ command: ['node', 'patience.js', ...args] })
      export default defineSystem({
        name: 'patience',
        nodes: { waits: node('waits'), says: node('says', '{{waits.address}}'), soon: node('1000'), late: node('4000') },
        state: jsonLines('stdout'),
        properties: {
          hears: always(s => !s.node('waits').state?.gaveUp),
          inOrder: always(s => !s.node('late').state?.rang || s.node('soon').state?.rang === true),
        },
      })`,
  })
  directory = copy.directory
  return copy.remove
})

const tryIt = (...args: readonly string[]) => lastnail(directory, 'try', 'adders.config.ts', ...args)

test('steps are named as far as it is clear which are meant; what could come next is shown', async () => {
  const { code, stdout } = await tryIt('a→store', 'store→a #1 7 bytes :7000 "value 0"', '--out', 'tried.trace')
  expect(code).toBe(0)
  expect(stdout.split('\n').slice(0, 3)).toEqual([
    '   1  a→store #1 4 bytes :7000 "read"',
    '   2  store→a #1 7 bytes :7000 "value 0"',
    '   or  a→store #2 7 bytes :7000 "write 1"',
  ])
  expect(stdout).toContain('\n   or  b→store #1 4 bytes :7000 "read"\n')
  expect(stdout).toMatch(/\nheld\nno violation in 2 steps$/)
  expect(scheduleOf(readTrace(join(directory, 'tried.trace')))).toHaveLength(2)
})

test('a pattern stands for several steps, and what was executed is shown', async () => {
  const { code, stdout } = await tryIt('a→store … ×1', 'all b→store until store→b', '--json')
  expect({ code, ...JSON.parse(stdout) }).toMatchObject({ code: 0, message: 'no violation in 2 steps' })
})

test('one step is told as one, also by the debugger', async () => {
  const { stdout } = await tryIt('a→store', '--out', 'one.trace')
  expect(stdout).toMatch(/\nno violation in 1 step$/)
  const debugged = await start(directory, ['debug', 'one.trace'], { input: 'quit\n' })
  expect(debugged.stdout).toMatch(/^adders: 1 step; /)
})

test('a violation that was met by hand is shrunk, and kept', { timeout: 120_000 }, async () => {
  const steps = ['a→store', 'b→store', 'store→b', 'store→a', 'a→store write']
  expect((await tryIt(...steps, 'b→store', '--out', 'met.trace')).code).toBe(1)
  const shrunk = await lastnail(directory, 'shrink', 'met.trace')
  expect(shrunk).toMatchObject({ code: 1, stdout: expect.stringMatching(/\nviolated: safety neverWritten\n/) })
  const kept = await lastnail(directory, 'keep', 'met.shrunk.trace')
  expect(kept).toMatchObject({ code: 0, stdout: expect.stringMatching(/^kept /) })
  expect((await lastnail(directory, 'regress', 'schedules')).stdout).toContain('neverWritten')
})

test('a violation ends it, with exit code 1; a program reads it as JSON', async () => {
  const { code, stdout } = await tryIt('a→store', 'store→a', 'a→store write', 'b→store', '--json')
  expect(code).toBe(1)
  expect(JSON.parse(stdout)).toMatchObject({ verdict: 'violated', property: 'neverWritten', kind: 'safety' })
  expect(JSON.parse(stdout).schedule).toHaveLength(3)
})

test('a violation that needs a message in flight for long, or clocks apart, says so as a check does', async () => {
  const late = await lastnail(directory, 'try', 'patience.config.ts', 'waits timer', '--json')
  expect(JSON.parse(late.stdout)).toMatchObject({ property: 'hears', delayMs: 5000 })
  const apart = await lastnail(directory, 'try', 'patience.config.ts', 'late timer')
  expect(apart).toMatchObject({ code: 1, stderr: '' })
  expect(apart.stdout).toContain('\nviolated: safety inOrder, only where the clocks of nodes run 3.0 s apart\n')
  const { stdout } = await tryIt('a→store', 'store→a', 'a→store write')
  expect(stdout).toMatch(/\nviolated: safety neverWritten\n/)
})

test('a name that means nothing, or several things, is refused', async () => {
  expect(await tryIt('a→stor #2')).toMatchObject({
    code: 64,
    stderr: expect.stringMatching(/^lastnail: step 1: "a→stor #2" is not enabled; /),
  })
  expect(await tryIt('read')).toMatchObject({
    code: 64,
    stderr: expect.stringMatching(/^lastnail: step 1: "read" may be any of "a→store .*", "b→store /),
  })
})

test('a violation is kept as a test, once', async () => {
  await tryIt('a→store', 'store→a', 'a→store write', '--out', 'bad.trace')
  const { code, stdout } = await lastnail(directory, 'keep', '--test', 'bad.trace')
  expect(code).toBe(0)
  expect(stdout).toBe(join(directory, 'schedules/neverWritten.test.ts'))
  const kept = readFileSync(stdout, 'utf8')
  expect(kept).toMatch(
    /toHold\(\{\n {4}seed: 1,\n {4}clocksStart: '\d{4}-\d\d-\d\dT00:00:00Z',\n {4}schedule: \[\n {6}'a→store #1 4 bytes :7000 "read"',\n/,
  )
  expect(kept).toContain("'../adders.config.ts'")
  expect(await lastnail(directory, 'keep', '--test', 'bad.trace')).toMatchObject({
    code: 64,
    stderr: expect.stringContaining('it would be overwritten'),
  })
})

test('check says which configurations a directory has, where it has several', async () => {
  expect(await lastnail(directory, 'check', '--executions', '1')).toMatchObject({
    code: 64,
    stderr: expect.stringContaining('there is more than one configuration here: say which of '),
  })
})
