import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { always, eventually, history, sometimes } from '../../../checker/system/property.ts'
import { readTrace } from '../../../checker/trace/read.ts'
import type { RecordedStep } from '../../../checker/trace/trace.ts'
import { Verification } from '../../../cli/verify/verification.ts'
import type { GlobalState, ResolvedSystem } from '../../../harness/config/config.ts'
import { copyOfFixtures, here as lastnail } from '../lastnail.ts'

/** A step that changes some states, every 100 ms. */
const step = (
  index: number,
  states: Readonly<Record<string, unknown>>,
  more: Partial<RecordedStep> = {},
): RecordedStep => ({
  index,
  choice: index === 0 ? undefined : { kind: 'timer', node: 'n1', label: `n1 timer +${index}ms` },
  atMs: 100 * index,
  durationUs: 0,
  ...{ messages: [], lost: [], clocks: [], timers: [], outputs: [], findings: [], operations: [], properties: [] },
  ...{ fingerprint: undefined, offered: [], withdrawn: [] },
  ...(index === 0 && { lives: ['n1', 'n2'].map(node => ({ node, isAlive: true, keepsOutput: false })) }),
  states: Object.entries(states).map(([node, state]) => ({ node, state })),
  ...more,
})

const nodes = [{ name: 'n1' }, { name: 'n2' }] as unknown as ResolvedSystem['nodes']

const verify = (properties: ResolvedSystem['properties'], steps: readonly RecordedStep[]) => {
  const verification = new Verification({ nodes, properties, observe: undefined })
  for (const each of steps) verification.see(each)
  return verification
}

test('a property is evaluated again only where something changed that it read', () => {
  const one = always((s: GlobalState) => s.node('n1').state < 9)
  const both = always((s: GlobalState) => s.nodes.every(({ state }) => state < 9))
  const { evaluations, violations } = verify({ one, both }, [
    step(0, { n1: 1, n2: 1 }),
    ...Array.from({ length: 5 }, (_, index) => step(index + 1, { n2: index })),
    step(6, { n1: 2 }),
    step(7, {}),
  ])
  expect(violations).toEqual([])
  expect(evaluations).toBe(2 + 7)
})

test('of steps that are kept in outline only findings are told', () => {
  const small = always((s: GlobalState) => s.node('n1').state < 3)
  const grows = always(
    history(
      (most: number | undefined, s: GlobalState) => Math.max(most ?? 0, s.node('n1').state),
      () => true,
    ),
  )
  const crash = { kind: 'crash' as const, node: 'n2', message: 'ended with code 1' }
  const verification = verify({ small, grows }, [
    step(0, {}, { keeps: 'choice' }),
    step(1, {}, { keeps: 'choice', findings: [crash] }),
    step(2, { n1: 2, n2: 1 }, { keeps: 'state' }),
    step(3, { n1: 3 }),
  ])
  const { violations, evaluations, undecided, from } = verification
  expect(violations.map(({ property, step }) => [property, step])).toEqual([
    [null, 1],
    ['small', 3],
  ])
  expect(evaluations).toBe(2)
  expect([...undecided.values()]).toEqual(['grows carries a value from the start, of which only an outline is kept'])
  expect(from).toBe(2)
})

test('the first violation of each is told, with its step, time and states', () => {
  const small = { ...always((s: GlobalState) => s.node('n1').state < 3), explain: () => 'too large' }
  const { violations } = verify(
    { small },
    [0, 1, 2, 3, 2, 4].map((value, index) => step(index, { n1: value })),
  )
  expect(violations).toEqual([
    {
      ...{ property: 'small', step: 3, atMs: 300, state: { n1: 3, n2: null } },
      message: 'small does not hold after step 3 (n1 timer +3ms): too large',
    },
  ])
})

test('eventually: it says when the predicate was false; longer than its bound is a violation', () => {
  const even = eventually((s: GlobalState) => s.node('n1').state % 2 === 0)
  const steps = [0, 1, 1, 2, 3, 5, 7, 9, 4, 1].map((value, index) => step(index, { n1: value }))
  const { properties, violations } = verify({ even }, steps)
  expect(violations).toEqual([])
  expect(properties).toEqual([
    {
      ...{ name: 'even', kind: 'eventually', holds: false },
      outages: [
        { fromStep: 1, fromMs: 100, untilStep: 3, untilMs: 300 },
        { fromStep: 4, fromMs: 400, untilStep: 8, untilMs: 800 },
        { fromStep: 9, fromMs: 900, untilStep: null, untilMs: null },
      ],
    },
  ])
  expect(verify({ even: { ...even, withinMs: 250 } }, steps).violations).toMatchObject([
    { property: 'even', step: 7, atMs: 700, message: expect.stringContaining('expected within 0.25 s') },
  ])
})

test('a bound is not judged over a trace without times, and that is said', () => {
  const even = { ...eventually((s: GlobalState) => s.node('n1').state % 2 === 0), withinMs: 250 }
  const steps = [0, 1, 1, 1, 1, 2].map((value, index) => step(index, { n1: value }))
  expect(verify({ even }, steps)).toMatchObject({ violations: [{ property: 'even' }], unbounded: [] })
  const untimed = steps.map(each => ({ ...each, atMs: undefined }))
  expect(verify({ even }, untimed)).toMatchObject({
    violations: [],
    unbounded: ['even was checked without its bound of 0.25 s, because the trace has no times'],
  })
})

test('sometimes: it is met or not, and never violated', () => {
  const met = sometimes((s: GlobalState) => s.node('n1').state === 2)
  const never = sometimes((s: GlobalState) => s.node('n1').state === 9)
  const { violations, properties } = verify(
    { met, never },
    [1, 2, 3].map((value, index) => step(index, { n1: value })),
  )
  expect(violations).toEqual([])
  expect(properties.map(({ name, holds }) => [name, holds])).toEqual([
    ['met', true],
    ['never', false],
  ])
})

test('the past of a node has its earlier states, also of earlier lives; output is that of its present life', () => {
  const seen: unknown[] = []
  const look = always((s: GlobalState) => {
    const { past, alive, output } = s.node('n1')
    seen.push([alive, past(3), output.stdout])
    return true
  })
  const life = (isAlive: boolean) => ({ lives: [{ node: 'n1', isAlive, keepsOutput: !isAlive }] })
  const wrote = (text: string) => ({ outputs: [{ node: 'n1', stream: 'stdout' as const, bytes: Buffer.from(text) }] })
  const reset = { choice: { kind: 'reset' as const, node: 'n1', label: 'reset n1' } }
  verify({ look }, [
    step(0, { n1: 1 }, wrote('a')),
    step(1, { n1: 2 }, wrote('b')),
    step(2, { n1: undefined }, life(false)),
    step(3, { n1: 2 }, { ...life(true), ...wrote('c') }),
    step(4, { n1: 3 }, { ...reset, ...wrote('d') }),
  ])
  expect(seen).toEqual([
    [true, [], 'a'],
    [true, [1], 'ab'],
    [false, [1], 'ab'],
    [true, [1], 'c'],
    [true, [2, 1], 'd'],
  ])
})

test('fold gets every state once; an error, or a value that is not JSON, is reported', () => {
  const total = history(
    (sum: number | undefined, s: GlobalState) => (sum ?? 0) + s.node('n1').state,
    (_: GlobalState, sum: number) => sum < 6,
  )
  const steps = [1, 2, 2, 1].map((value, index) => step(index, { n1: value }))
  expect(verify({ small: always(total) }, steps).violations).toMatchObject([{ property: 'small', step: 3 }])
  const sets = always(
    history(
      () => new Set([1]),
      () => true,
    ),
  )
  expect(() => verify({ sets }, steps)).toThrow(
    /properties.sets.*expected its history to be a value that JSON can hold/,
  )
})

test("a call's result that is not wholly in the trace leaves a property undecided", () => {
  const called = always((s: GlobalState) => s.calls.every(({ value }) => value !== 'no'))
  const call = (result: string) => ({
    calls: [
      { client: 'get', ordinal: 1, hasEnded: false },
      { client: 'get', ordinal: 1, hasEnded: true, result },
    ],
  })
  const { undecided } = verify({ called }, [step(0, {}, call('"aaaaaa…'))])
  expect([...undecided.values()]).toEqual([
    expect.stringContaining('only the beginning of the result of call 1 of get'),
  ])
  expect(verify({ called }, [step(0, {}, call('"no"'))]).violations).toHaveLength(1)
})

/** Beside its own properties some that depend on all that can be read. */
const watched = readFileSync(join(import.meta.dirname, '../fixtures/counter.config.ts'), 'utf8')
  .replace('import {', "import { crc32 } from 'node:zlib'\nimport { history,")
  .replace(
    'properties: {',
    `properties: {
    parity: eventually((s: GlobalState) =>
      crc32(JSON.stringify([s.nodes, s.calls, s.history, s.nodes.map(n => n.past(4))])) % 2 === 0),
    calm: eventually(
      history((steps: number | undefined, s: GlobalState) => (steps ?? 0) + s.calls.length, (_, steps) => steps % 3 === 0),
      { within: '10m' },
    ),`,
  )
  .replace("pace: 'native',", "churn: 'plan.txt',")
const plan =
  '1s leave counter kill\n2s join counter\n3s leave counter stop\n3500ms join counter\n4s leave reader cut\n4500ms join reader\n'

test('over a recorded run properties have the values of the run, and later properties can be evaluated too', {
  timeout: 120_000,
}, async () => {
  const { directory, remove } = copyOfFixtures({ 'watched.config.ts': watched, 'plan.txt': plan })
  onTestFinished(remove)
  const run = JSON.parse((await lastnail(directory, 'emulate', 'watched.config.ts', '--for', '6s', '--json')).stdout)
  expect(run).toMatchObject({
    pace: 'virtual',
    properties: expect.arrayContaining([expect.objectContaining({ name: 'calm', withinMs: 600_000 })]),
  })
  const { steps } = readTrace(join(directory, run.trace))
  const changes = (name: string) =>
    steps.flatMap(({ index, properties }) =>
      properties.flatMap(each => (each.name === name ? [{ index, holds: each.holds }] : [])),
    )
  expect(changes('parity').length).toBeGreaterThan(20)

  const verified = JSON.parse((await lastnail(directory, 'verify', run.trace, '--json')).stdout)
  expect(verified).toMatchObject({ steps: run.steps, violations: [] })
  for (const { name, outages } of verified.properties.filter(({ kind }: { kind: string }) => kind === 'eventually')) {
    const turns = outages.flatMap(({ fromStep, untilStep }: Record<string, number | null>) => [
      { index: fromStep, holds: false },
      ...(untilStep === null ? [] : [{ index: untilStep, holds: true }]),
    ])
    const recorded = changes(name)
    expect(turns).toEqual(recorded[0]?.holds ? recorded.slice(1) : recorded)
  }

  const later = watched.replace('properties: {', `properties: { few: always((s: GlobalState) => s.calls.length < 5),`)
  writeFileSync(join(directory, 'watched.config.ts'), later)
  const { code, stdout } = await lastnail(directory, 'verify', run.trace)
  expect(code).toBe(1)
  expect(stdout).toMatch(
    /^violated\nfew does not hold after step \d+ \(client get\), at [\d.]+ s\n {2}counter: \{"count":\d+\}\n/,
  )
  // Another observer sees something only where it is executed again.
  writeFileSync(
    join(directory, 'watched.config.ts'),
    watched
      .replace("state: jsonLines('stdout')", 'state: () => ({ count: 0, seen: 1 })')
      .replace('properties: {', 'properties: { seen: always(s => s.nodes.every(n => n.state?.seen !== 1)),'),
  )
  expect(await lastnail(directory, 'verify', run.trace)).toMatchObject({
    stdout: expect.not.stringContaining('seen does not hold'),
  })
  expect(await lastnail(directory, 'verify', run.trace, '--execute')).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('seen does not hold in the initial state'),
  })

  const name = 'watched.config.ts'
  writeFileSync(join(directory, name), watched.replaceAll(/\bcounter:/g, 'teller:'))
  expect(await lastnail(directory, 'verify', run.trace)).toMatchObject({
    code: 64,
    stderr: expect.stringMatching(
      /^lastnail: \S+ was recorded with other nodes: counter, reader; the configuration has teller, reader$/,
    ),
  })
  writeFileSync(join(directory, name), watched.replace('count += 1', 'count += 2'))
  expect(await lastnail(directory, 'verify', run.trace)).toMatchObject({
    code: 64,
    stderr: expect.stringMatching(
      /^lastnail: \S+ was recorded with other programs: the command of counter has changed$/,
    ),
  })
  writeFileSync(join(directory, name), watched)
  const trace = readFileSync(join(directory, run.trace))
  writeFileSync(join(directory, 'torn.trace'), trace.subarray(0, trace.length - 9))
  expect(await lastnail(directory, 'verify', 'torn.trace')).toMatchObject({
    code: 64,
    stderr: expect.stringMatching(/^lastnail: [^\n]* is torn at byte/),
  })
  expect(await lastnail(directory, 'verify', run.trace, 'none.ts')).toMatchObject({
    code: 64,
    stderr: expect.stringContaining('no such file'),
  })
})

test('where no line that nodes print is a state, nothing held', { timeout: 60_000 }, async () => {
  const config = (line: string) => `
    import { always, defineSystem, jsonLines } from 'lastnail'
    export default defineSystem({
      name: 'quoted',
      nodes: { a: { command: ['sh', '-c', 'while :; do echo ${line}; sleep 1; done'] } },
      state: jsonLines(),
      properties: { small: always(s => (s.node('a').state?.n ?? 0) < 9) },
    })`
  // The shell takes the quotes away.
  const { directory, remove } = copyOfFixtures({
    'blind.config.ts': config('{"n":1}'),
    'sees.config.ts': config('\\\\{\\\\"n\\\\":1}'),
  })
  onTestFinished(remove)
  const judge = async (name: string) => {
    const run = await lastnail(directory, 'emulate', `${name}.config.ts`, '--for', '3s', '--json')
    const { trace, verdict, message } = JSON.parse(run.stdout)
    const verified = await lastnail(directory, 'verify', trace, '--json')
    return { verdict, message, verified: JSON.parse(verified.stdout), codes: [run.code, verified.code] }
  }
  const nothing = expect.stringMatching(/^no node ever had a state: .*; the last line that a printed is "\{n:1\}"$/)
  expect(await judge('blind')).toMatchObject({
    ...{ verdict: 'undetermined', message: nothing, codes: [2, 2] },
    verified: { verdict: 'undetermined', violations: [], notes: [nothing] },
  })
  expect(await judge('sees')).toMatchObject({
    verdict: 'held',
    codes: [0, 0],
    verified: { verdict: 'held', notes: [] },
  })
})
