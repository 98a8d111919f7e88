import { readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { readTrace } from '../../checker/trace/read.ts'
import { check, defineSystem } from '../../index.ts'
import '../../vitest.ts'
import { copyOfFixtures } from './lastnail.ts'

let directory: string
let config: string
let out: string
beforeAll(() => {
  const copy = copyOfFixtures()
  directory = copy.directory
  config = join(directory, 'adders.config.ts')
  out = join(directory, 'traces')
  return copy.remove
})

/** Both read before either writes. */
const schedule = [
  'a→store #1 4 bytes :7000 "read"',
  'b→store #1 4 bytes :7000 "read"',
  'store→a #1 7 bytes :7000 "value 0"',
  'a→store #2 7 bytes :7000 "write 1"',
  'store→a #2 7 bytes :7000 "written"',
  'store→b #1 7 bytes :7000 "value 0"',
  'b→store #2 7 bytes :7000 "write 1"',
  'store→b #2 7 bytes :7000 "written"',
]

test('check gives what the command prints with --json', async () => {
  const { seconds, stepsPerSecond, states, executions, spent, steps, searches, ...found } = await check(config, {
    ...{ property: 'noUpdateLost', from: schedule, executions: 2, out },
  })
  expect(found).toEqual({
    ...{ verdict: 'violated', property: 'noUpdateLost', kind: 'safety', depth: 0, seed: 1, repeated: true, notes: [] },
    ...{
      // Its order is the search's.
      schedule: expect.arrayContaining(schedule),
      variant: 0,
      criticalTransition: null,
      delayMs: 0,
      skewMs: 0,
      differs: null,
      sometimes: {},
      clocksStart: expect.stringMatching(/^\d{4}-\d\d-\d\dT00:00:00Z$/),
      met: {
        ...{ clients: {}, operations: {}, faults: {}, eventually: {}, sometimes: {}, heldBack: {} },
        always: { noUpdateLost: { 'state.done': 1, 'state.value': 1 } },
      },
      sample: null,
      report: realpathSync(join(out, 'adders/latest/noUpdateLost.html')),
      issue: realpathSync(join(out, 'adders/latest/noUpdateLost.md')),
      trace: realpathSync(join(out, 'adders/latest/noUpdateLost.trace')),
    },
  })
  expect(spent).toEqual({ search: 1, goal: 0, examination: executions - 1, audit: 0 })
  expect(searches[0]).toMatchObject({ name: 'straight', executions: 1, longest: schedule.length })
  expect(readTrace(found.trace!).end?.verdict).toMatchObject({ verdict: 'violated', schedule: found.schedule })
})

test('a definition serves as well as a file; options that are wrong are refused', async () => {
  const n1 = { command: [process.execPath, join(directory, 'store.js')] }
  const system = defineSystem({ name: 'store', nodes: { n1 }, clients: { read: ({ n1 }) => n1.udp(7000, 'read') } })
  expect(await check(system, { executions: 1 })).toMatchObject({ verdict: 'held', executions: 1, trace: null })
  await expect(check(system, { property: 'safe' })).rejects.toThrow('no property "safe": there is none')
  await expect(check({ name: 'store', nodes: { n1 } })).rejects.toThrow(
    "expected a system made by defineSystem(…), found { name: 'store', nodes: [Object] }",
  )
})

test('what is undetermined leaves a trace, in a test too', async () => {
  const n1 = { command: [process.execPath, join(directory, 'store.js')] }
  const idle = defineSystem({ name: 'idle', nodes: { n1 } })
  const { verdict, trace, sample } = await check(idle, { executions: 1, out: directory })
  expect({ verdict, sample }).toEqual({ verdict: 'undetermined', sample: trace })
  expect(readTrace(trace!).end?.verdict).toMatchObject({ verdict: 'undetermined', schedule: [] })
  await expect(expect(idle).toHold({ executions: 1, out: directory })).rejects.toThrow(
    /^undetermined: nothing can happen after the start: .*\ntrace: .*\nagain: npx lastnail replay /,
  )
})

test('a schedule is a test of its own, which fails readably', async () => {
  const failure = await expect(config)
    .toHold({ schedule, property: 'noUpdateLost' })
    .catch(error => error.message)
  expect(failure).toBe(`expected adders to hold, but noUpdateLost does not hold after step 8 (${schedule[7]})
   1  a→store #1 4 bytes :7000 "read"
   2  b→store #1 4 bytes :7000 "read"
   3  store→a #1 7 bytes :7000 "value 0"
   4  a→store #2 7 bytes :7000 "write 1"
   5  store→a #2 7 bytes :7000 "written"
   6  store→b #1 7 bytes :7000 "value 0"
   7  b→store #2 7 bytes :7000 "write 1"
   8  store→b #2 7 bytes :7000 "written"

store, the end of its stdout:
    {"value":0}
    {"value":1}
    {"value":1}
a, the end of its stdout:
    {"done":false}
    {"done":true}
b, the end of its stdout:
    {"done":false}
    {"done":true}`)
  await expect(config).not.toHold({ schedule, property: 'noUpdateLost' })
})

test('the same schedule holds once the service is mended, though it cannot be followed to its end', async () => {
  const path = join(directory, 'adder.js')
  const adder = readFileSync(path, 'utf8')
  try {
    // A number that nobody else changes: each adder has one of its own.
    writeFileSync(path, adder.replace(/`write .*`/, "'write 2'"))
    await expect(config).toHold({ schedule })
  } finally {
    writeFileSync(path, adder)
  }
})

test('a schedule of another system is refused', async () => {
  await expect(expect(config).toHold({ schedule: ['n1 timer +5ms'] })).rejects.toThrow(
    'the schedule begins with "n1 timer +5ms", which is not enabled: known are a→store #1 4 bytes :7000 "read", ',
  )
})

test('a schedule of which little can be executed says nothing, unless that is allowed', async () => {
  const others = ['one', 'two', 'three'].map(name => `${name} is no node`)
  const obsolete = [...schedule.slice(0, 2), ...others]
  const tried = (options: object) => expect(config).toHold({ schedule: obsolete, property: 'atMostTwo', ...options })
  await expect(tried({})).rejects.toThrow(
    'undetermined: the schedule no longer applies: 2 of the 5 steps of the schedule were executed; ' +
      'skipped: "one is no node", "two is no node", "three is no node"',
  )
  const misspelt = schedule.with(3, schedule[3]!.replace('store', 'stor'))
  await expect(expect(config).toHold({ schedule: misspelt, property: 'atMostTwo' })).rejects.toThrow(
    `skipped: "${misspelt[3]}"`,
  )
  await expect(tried({ allowSkipped: true })).rejects.toThrow(
    'allowSkipped: expected a number of steps or a list of labels, found true',
  )
  await expect(tried({ allowSkipped: others.slice(1) })).rejects.toThrow('the schedule no longer applies')
  await tried({ allowSkipped: others })
  await tried({ allowSkipped: 3 })
  const again = [schedule[0]!, schedule[1]!, schedule[0]!]
  await expect(config).toHold({ schedule: again, property: 'atMostTwo', allowSkipped: 1 })
})

test('without a schedule it is a check within a budget; a failure can be pasted as a test', async () => {
  await expect(config).toHold({ property: 'atMostTwo', executions: 1 })
  const failure = await expect(config)
    .toHold({ property: 'neverWritten', search: 'walk', executions: 3, out })
    .catch(error => error.message)
  expect(failure).toMatch(/^expected adders to hold, but neverWritten does not hold after step 3 /)
  expect(failure).toContain(
    `\ntrace: ${realpathSync(join(out, 'adders/latest/neverWritten.trace'))}\nas a test of its own:\n`,
  )
  const pasted = /toHold\((\{[\s\S]*\})\)$/.exec(failure)![1]!
  expect(pasted).toMatch(
    /^\{\n {2}seed: 1,\n {2}clocksStart: '\d{4}-\d\d-\d\dT00:00:00Z',\n {2}schedule: \[\n {4}'[ab]→store #1 4 bytes :7000 "read"',/,
  )
})
