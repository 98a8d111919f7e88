import { createHash } from 'node:crypto'
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { outlineOf } from '../../../checker/trace/outline.ts'
import { readTrace } from '../../../checker/trace/read.ts'
import type { RecordedStep, TraceHeader } from '../../../checker/trace/trace.ts'
import { TraceWriter, type TraceWriterOptions } from '../../../checker/trace/write.ts'

let directory: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'lastnail-trace-'))
})
afterAll(() => rmSync(directory, { recursive: true }))

const header: TraceHeader = {
  ...{
    system: 'kept',
    versions: {},
    config: { path: '', sha256: '' },
    seed: 1,
    clocksStart: '2026-01-01T00:00:00Z',
    options: {},
    nodes: [],
    properties: [],
  },
  faults: {},
}

/** Bytes that cannot be compressed. */
const noise = (index: number) =>
  Buffer.concat(Array.from({ length: 128 }, (_, part) => createHash('sha256').update(`${index} ${part}`).digest()))

/** One of two nodes sends 4 kB each second; `b` is restarted at the 70th second and prints a line each tenth. */
const stepAt = (index: number): RecordedStep => ({
  index,
  choice: index === 0 ? undefined : { kind: index === 70 ? 'reset' : 'timer', node: 'b', label: labelAt(index) },
  durationUs: 1,
  atMs: index * 1000,
  messages:
    index === 0
      ? []
      : [
          {
            from: 'a',
            to: 'b',
            ordinal: index,
            label: `a→b #${index}`,
            kind: 'data',
            bytes: noise(index),
            length: 4096,
          },
        ],
  lost: [],
  clocks: [{ node: index % 2 ? 'a' : 'b', elapsedMs: index * 1000 }],
  timers: [{ node: index % 2 ? 'a' : 'b', deadlinesMs: [index] }],
  states: index % 3 === 0 ? [{ node: 'a', state: { index } }] : [],
  outputs: index % 10 === 0 ? [{ node: 'b', stream: 'stdout', bytes: Buffer.from(`${index}\n`) }] : [],
  findings: [],
  operations: [],
  properties: index % 100 === 0 ? [{ name: 'even', holds: index % 200 === 0 }] : [],
  fingerprint: undefined,
  offered: [{ kind: 'timer', node: 'b', label: labelAt(index + 1) }],
  withdrawn: index === 0 ? [] : [0],
  ...(index === 0 && {
    lives: ['a', 'b'].map(node => ({ node, isAlive: true, keepsOutput: false })),
  }),
})

const labelAt = (index: number) => (index === 70 ? 'reset b' : `b timer ${index}`)

const steps = Array.from({ length: 1000 }, (_, index) => stepAt(index))

const write = (options: TraceWriterOptions, isEnded = true) => {
  const path = join(directory, `${options.keepMs}-${isEnded}.trace`)
  const writer = new TraceWriter(path, header, options)
  for (const step of steps) writer.step(step)
  if (isEnded) writer.end({ verdict: 'held' })
  writer.close()
  return path
}

test.each([true, false])('of a long run the end is kept as a whole, and an outline of the rest: ended %s', isEnded => {
  const path = write({ keepMs: 100_000 }, isEnded)
  const trace = readTrace(path, { torn: 'accept' })
  expect(trace.steps).toHaveLength(steps.length)
  expect(trace.end === undefined).toBe(!isEnded)
  const from = trace.steps.findIndex(({ keeps }) => keeps === undefined)
  // At least what is asked for, and at most twice as much, up to the length of a block.
  expect(steps.length - from).toBeGreaterThan(100)
  expect(steps.length - from).toBeLessThan(300)
  const written = [...steps.slice(0, from).map(outlineOf), ...steps.slice(from)]
  const differing = trace.steps.filter((step, index) => index !== from - 1 && !isDeepStrictEqual(step, written[index]))
  expect(differing).toEqual([])
  expect(existsSync(`${path}.new`)).toBe(false)
})

test('the last step of the outline has everything known after it', () => {
  const { steps: read } = readTrace(write({ keepMs: 100_000 }))
  const last = read.findLast(({ keeps }) => keeps !== undefined)!
  const { index } = last
  const [odd, even] = index % 2 ? [index, index - 1] : [index - 1, index]
  const tenths = steps.filter(each => each.index >= 70 && each.index <= index && each.index % 10 === 0)
  expect(last).toEqual({
    ...outlineOf(steps[index]!),
    keeps: 'state',
    states: [{ node: 'a', state: { index: index - (index % 3) } }],
    timers: [
      { node: 'b', deadlinesMs: [even] },
      { node: 'a', deadlinesMs: [odd] },
    ],
    clocks: [
      { node: 'b', elapsedMs: even * 1000 },
      { node: 'a', elapsedMs: odd * 1000 },
    ],
    lives: ['a', 'b'].map(node => ({ node, isAlive: true, keepsOutput: false })),
    // Since its last start.
    outputs: [{ node: 'b', stream: 'stdout', bytes: Buffer.from(tenths.map(each => `${each.index}\n`).join('')) }],
    offered: [{ kind: 'timer', node: 'b', label: labelAt(index + 1) }],
  })
})

test('its file is bounded, and that of a short run is the same as without', () => {
  const [whole, kept] = [write({}), write({ keepMs: 100_000 })].map(path => statSync(path).size) as [number, number]
  expect(kept).toBeLessThan(whole / 3)
  expect(readTrace(write({ keepMs: 1e9 })).steps.filter(({ keeps }) => keeps !== undefined)).toEqual([])
})
