import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { scheduleOf } from '../../../checker/trace/again.ts'
import { readTrace } from '../../../checker/trace/read.ts'
import { TraceWriter } from '../../../checker/trace/write.ts'
import { copyOfFixtures, here as lastnail } from '../lastnail.ts'

let directory: string
beforeAll(() => {
  const copy = copyOfFixtures()
  directory = copy.directory
  return copy.remove
})

const run = (...args: readonly string[]) => lastnail(directory, ...args)

const lastLine = (stdout: string) => JSON.parse(stdout.slice(stdout.lastIndexOf('\n') + 1))

const written = [
  expect.stringMatching(/^([ab])→store #1 4 bytes :7000 "read"$/),
  expect.stringMatching(/^store→([ab]) #1 7 bytes :7000 "value 0"$/),
  expect.stringMatching(/^([ab])→store #2 7 bytes :7000 "write 1"$/),
]

/** A number is written after three steps at the least; recorded once, and read by all tests. */
let found: { readonly trace: string; readonly schedule: readonly string[] }
beforeAll(async () => {
  const args = ['adders.config.ts', '--property', 'neverWritten', '--search', 'walk', '--executions', '5', '--json']
  const { code, stdout } = await run('check', ...args)
  expect(code).toBe(1)
  found = lastLine(stdout)
})

test('check prints one object of the fields that are documented', () => {
  expect(Object.keys(found)).toEqual([
    ...[
      'verdict',
      'property',
      'kind',
      'executions',
      'spent',
      'steps',
      'states',
      'seconds',
      'stepsPerSecond',
      'depth',
      'seed',
    ],
    ...[
      'variant',
      'clocksStart',
      'trace',
      'sample',
      'report',
      'schedule',
      'criticalTransition',
      'overtakings',
      'curve',
      'issue',
      'delayMs',
      'skewMs',
      'repeated',
      'differs',
      'met',
      'sometimes',
    ],
    ...['notes', 'searches'],
  ])
  expect(found).toMatchObject({
    ...{ verdict: 'violated', property: 'neverWritten', kind: 'safety', seed: 1, depth: 0 },
    ...{ criticalTransition: null, repeated: true, schedule: written },
    trace: expect.stringMatching(/\/\.lastnail\/adders\/[\dT-]{19}\/neverWritten\.trace$/),
    report: expect.stringMatching(/\/neverWritten\.html$/),
  })
})

test('what holds within the budget exits with 0, for a person in words', async () => {
  const { code, stdout } = await run('check', 'adders.config.ts', '--property', 'atMostTwo', '--executions', '2')
  expect(code).toBe(0)
  expect(stdout).toMatch(/^held\nno violation in 2 executions with \d+ steps/)
})

test('a trace is executed again: to the same violation, or up to a step', async () => {
  const { trace } = found
  const { code, stdout } = await run('replay', trace)
  expect(code).toBe(1)
  expect(stdout.split('\n').slice(3)).toEqual([
    'store: {"value":1}',
    'a: {"done":false}',
    'b: {"done":false}',
    'violated: safety neverWritten',
    expect.stringMatching(/^neverWritten does not hold after step 3 \([ab]→store #2 7 bytes :7000 "write 1"\)$/),
  ])
  const part = await run('replay', trace, '--to', '2', '--json')
  expect(part.code).toBe(0)
  expect(lastLine(part.stdout)).toMatchObject({
    verdict: 'held',
    property: null,
    steps: 2,
    schedule: written.slice(0, 2),
  })
  expect(await run('replay', trace, '--to', '4')).toMatchObject({
    ...{ code: 64, stdout: '' },
    stderr: `lastnail: ${trace} has 3 steps, so it has no step 4`,
  })
})

test('shrink writes the trace of a shorter schedule beside the longer one', async () => {
  const [read, ...others] = found.schedule
  const readOfOther = read!.replace(/^[ab]/, name => (name === 'a' ? 'b' : 'a'))
  const longer = join(directory, 'longer.trace')
  writeTrace(longer, [readOfOther, read!, ...others])
  const { code, stdout } = await run('shrink', longer, '--json')
  expect(code).toBe(1)
  const shorter = join(directory, 'longer.shrunk.trace')
  expect(lastLine(stdout)).toMatchObject({
    ...{ verdict: 'violated', property: 'neverWritten', repeated: true },
    ...{ schedule: found.schedule, trace: shorter },
  })
  expect(scheduleOf(readTrace(shorter))).toEqual(found.schedule)
})

/** A trace of another schedule that violates as the one that was found. */
const writeTrace = (path: string, schedule: readonly string[]) => {
  const { header, steps, end } = readTrace(found.trace)
  const writer = new TraceWriter(path, header)
  writer.step(steps[0]!)
  for (const [i, label] of schedule.entries())
    writer.step({ ...steps[1]!, index: i + 1, choice: { ...steps[1]!.choice!, label } })
  writer.end(end!)
  writer.close()
}

test('a service that was changed diverges, and the step is named', async () => {
  const { trace } = found
  const path = join(directory, 'adder.js')
  const adder = readFileSync(path, 'utf8')
  try {
    writeFileSync(path, adder.replace("ask('read')", "ask('peek')"))
    const other = await run('replay', trace)
    expect(other).toMatchObject({ code: 3, stdout: '' })
    expect(other.stderr).toBe(
      'lastnail: diverged at the start: expected, as recorded, the message "a→store #1 4 bytes :7000 "read"", ' +
        'the message "b→store #1 4 bytes :7000 "read"", but found the message "a→store #1 4 bytes :7000 "peek"", ' +
        'the message "b→store #1 4 bytes :7000 "peek""',
    )
    writeFileSync(path, adder.replace('Number(number) + 1', 'Number(number) + 2'))
    const later = await run('replay', trace)
    expect(later).toMatchObject({ code: 3, stdout: '' })
    expect(later.stderr).toMatch(
      /^lastnail: diverged at step 2 \(store→([ab]) #1 .*\): expected, as recorded, the message "\1→store #2 7 bytes :7000 "write 1"", but found the message "\1→store #2 7 bytes :7000 "write 2""$/,
    )
    expect(await run('shrink', trace)).toMatchObject({
      ...{ code: 3, stdout: '' },
      stderr: expect.stringMatching(/^lastnail: diverged at step 3: expected "[ab]→store #2 7 bytes :7000 "write 1""/),
    })
  } finally {
    writeFileSync(path, adder)
  }
})

test('a torn trace, a foreign file, none at all', async () => {
  const trace = join(directory, 'torn.trace')
  writeFileSync(trace, readFileSync(found.trace).subarray(0, -10))
  expect(readTrace(trace, { torn: 'accept' }).steps).toHaveLength(4)
  const torn = `lastnail: the trace ${trace} is torn at byte`
  for (const command of ['replay', 'shrink']) {
    const { code, stdout, stderr } = await run(command, trace)
    expect({ code, stdout, stderr: stderr.slice(0, torn.length) }).toEqual({ code: 64, stdout: '', stderr: torn })
    expect(stderr.split('\n')).toHaveLength(1)
  }
  // What is whole of it can be looked at.
  expect(await run('report', trace)).toEqual({
    code: 0,
    stdout: join(directory, 'torn.html'),
    stderr: expect.stringContaining('is torn at byte'),
  })
  for (const command of ['replay', 'shrink', 'report']) {
    expect((await run(command, 'adder.js')).stderr).toMatch(/^lastnail: adder.js is not a trace: expected .*$/)
    expect(await run(command, 'absent.trace')).toEqual({
      ...{ code: 64, stdout: '' },
      stderr: 'lastnail: cannot read the trace absent.trace: no such file',
    })
  }
})

test('a violation that needs other random numbers is recorded and continued with them', async () => {
  const draw = 'const n = Math.random(); setInterval(() => console.log(JSON.stringify({ n })), 1000)'
  const config = (holds: string) => `
    import { always, defineSystem, jsonLines } from 'lastnail'
    export default defineSystem({
      name: 'dice',
      nodes: { n: { command: ['node', '-e', ${JSON.stringify(draw)}] } },
      state: jsonLines('stdout'),
      properties: { holds: always(({ nodes: [{ state }] }) => ${holds}) },
    })`
  const check = (...args: readonly string[]) => run('check', 'dice.config.ts', '--search', 'walk', '--json', ...args)
  writeFileSync(join(directory, 'dice.config.ts'), config('!state'))
  const first = lastLine((await check('--executions', '1')).stdout)
  const { n } = readTrace(first.trace).steps.at(-1)!.states[0]!.state as { n: number }
  writeFileSync(join(directory, 'dice.config.ts'), config(`!state || state.n === ${n}`))
  const second = lastLine((await check('--executions', '100')).stdout)
  expect(second).toMatchObject({ verdict: 'violated', repeated: true, seed: 1, schedule: ['n timer +1000ms'] })
  expect(readTrace(second.trace).header.seed).toBe(2)
  expect((await run('replay', second.trace)).code).toBe(1)
  const later = lastLine((await check('--executions', '1', '--from', `${second.trace}:0`)).stdout)
  expect(later).toMatchObject({ verdict: 'violated', executions: expect.any(Number), seed: 1 })
})
