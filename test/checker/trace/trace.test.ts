import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { enabledAfter, enabledChanges } from '../../../checker/trace/enabled.ts'
import { TraceError } from '../../../checker/trace/error.ts'
import { traceHash } from '../../../checker/trace/hash.ts'
import { readTrace, readWay, traceRecords } from '../../../checker/trace/read.ts'
import { encodeRecord, formatVersion, type TraceRecord } from '../../../checker/trace/schema.ts'
import { seal } from '../../../checker/trace/seal.ts'
import { ChangedTimers } from '../../../checker/trace/timers.ts'
import type { RecordedStep, TraceHeader } from '../../../checker/trace/trace.ts'
import { TraceWriter } from '../../../checker/trace/write.ts'

let directory: string
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'lastnail-trace-'))
})
afterAll(() => rmSync(directory, { recursive: true }))

let files = 0
const freshPath = () => join(directory, `${files++}.trace`)

const header: TraceHeader = {
  system: 'raft',
  versions: { lastnail: '0.1.0', node: '20.19.0', kernel: '6.1.0' },
  config: { path: '/home/me/lastnail.config.ts', sha256: 'ab'.repeat(32) },
  seed: 2 ** 40,
  clocksStart: '2026-11-30T00:00:00Z',
  options: { search: 'walk', executions: 3 },
  nodes: [
    { name: 'n1', command: ['node', 'server.js'], env: { ID: 'n1' }, image: '', address: '10.77.0.2', program: 'f00d' },
  ],
  properties: [{ name: 'electionSafety', kind: 'always' }],
  faults: { drop: 2, crash: 0 },
}

const start: RecordedStep = {
  index: 0,
  choice: undefined,
  durationUs: 120_000,
  messages: [],
  lost: [],
  clocks: [{ node: 'n1', elapsedMs: 0 }],
  timers: [{ node: 'n1', deadlinesMs: [150.5, 300] }],
  states: [{ node: 'n1', state: { role: 'follower', term: 0 } }],
  outputs: [{ node: 'n1', stream: 'stdout', bytes: Buffer.from('{"role":"follower","term":0}\n') }],
  findings: [],
  operations: [],
  properties: [{ name: 'electionSafety', holds: true }],
  fingerprint: undefined,
  offered: [{ kind: 'timer', node: 'n1', label: 'n1 timer 150.5 ms' }],
  withdrawn: [],
}

const vote: RecordedStep = {
  index: 1,
  choice: { kind: 'timer', node: 'n1', label: 'n1 timer 150.5 ms' },
  durationUs: 512,
  messages: [
    {
      ...{ from: 'n1', to: 'n2', ordinal: 1, label: 'n1→n2 #1 vote term=1', kind: 'datagram' },
      ...{ bytes: Buffer.from([0, 255, 10]), length: 3 },
    },
  ],
  lost: ['n2→n1 #1 vote term=1'],
  clocks: [{ node: 'n1', elapsedMs: 150.5 }],
  timers: [{ node: 'n1', deadlinesMs: [] }],
  states: [{ node: 'n1', state: undefined }],
  outputs: [],
  findings: [{ kind: 'crash', node: 'n1', message: 'ended of itself with code 1' }],
  operations: [
    { process: 'ann', op: 'write', key: 'x', value: 1, outcome: 'unknown', invoked: 0, invokedAt: 1 },
    { process: 'bob', op: 'read', outcome: 'ok', result: null, invoked: 1, invokedAt: 1, returned: 2, returnedAt: 1 },
  ],
  properties: [{ name: 'electionSafety', holds: false }],
  fingerprint: 'f00d',
  offered: [{ kind: 'overlap', node: 'n2', label: 'overlap a & b', joins: ['a', 'b'] }],
  withdrawn: [0],
}

const verdict = { verdict: 'violated', property: 'electionSafety', criticalTransition: null }

const writeTrace = (steps: readonly RecordedStep[], path = freshPath()) => {
  const writer = new TraceWriter(path, header)
  for (const step of steps) writer.step(step)
  writer.end({ verdict })
  writer.close()
  return path
}

const errorOf = (read: () => unknown) => {
  try {
    read()
  } catch (error) {
    if (error instanceof TraceError) return { reason: error.reason, message: error.message }
    throw error
  }
  return 'no error'
}

test('what was written is what is read', () => {
  expect(readTrace(writeTrace([start, vote]))).toEqual({
    header,
    steps: [start, vote],
    end: { verdict },
    torn: undefined,
  })
})

test('any step survives the file', () => {
  const text = fc.string({ unit: 'grapheme' })
  const bytes = fc.uint8Array({ maxLength: 40 }).map(array => Buffer.from(array))
  const step = fc.record({
    index: fc.constant(0),
    choice: fc.option(fc.record({ kind: fc.constantFrom('deliver', 'heal'), node: text, label: text }), {
      nil: undefined,
    }),
    durationUs: fc.nat(),
    messages: fc.array(
      bytes.chain(payload =>
        fc.record({
          from: text,
          to: text,
          ordinal: fc.nat(),
          label: text,
          kind: text,
          bytes: fc.constant(payload),
          length: fc.constant(payload.length),
        }),
      ),
    ),
    lost: fc.array(text),
    clocks: fc.array(fc.record({ node: text, elapsedMs: fc.double({ noNaN: true }) })),
    timers: fc.array(fc.record({ node: text, deadlinesMs: fc.array(fc.double({ noNaN: true })) })),
    states: fc.array(fc.record({ node: text, state: fc.jsonValue() })),
    outputs: fc.array(fc.record({ node: text, stream: fc.constantFrom('stdout', 'stderr'), bytes })),
    findings: fc.array(fc.record({ kind: fc.constantFrom('divergence', 'crash'), node: text, message: text })),
    operations: fc.array(
      fc.record({
        process: text,
        op: text,
        key: fc.option(text, { nil: undefined }),
        value: fc.jsonValue(),
        outcome: fc.constantFrom('ok', 'failed', 'unknown'),
        result: fc.jsonValue(),
        invoked: fc.nat(),
        returned: fc.option(fc.nat(), { nil: undefined }),
        invokedAt: fc.nat(),
        returnedAt: fc.option(fc.nat(), { nil: undefined }),
      }),
    ),
    properties: fc.array(fc.record({ name: text, holds: fc.boolean() })),
    fingerprint: fc.option(text, { nil: undefined }),
    offered: fc.array(
      fc.record({
        kind: fc.constantFrom('deliver', 'overlap'),
        node: text,
        label: text,
        joins: fc.array(text, { minLength: 1 }),
      }),
    ),
    withdrawn: fc.array(fc.nat()),
  })
  fc.assert(
    fc.property(step, step => {
      const written = step as RecordedStep
      const path = writeTrace([written], join(directory, 'any.trace'))
      const read = readTrace(path).steps[0]!
      expect(JSON.parse(JSON.stringify(read))).toEqual(JSON.parse(JSON.stringify(written)))
    }),
    { numRuns: 100 },
  )
})

test('the enabled choices after each step are those that were written', () => {
  const choices = fc
    .uniqueArray(fc.string({ maxLength: 2 }))
    .map(labels => labels.map(label => ({ kind: 'deliver', node: 'n1', label }) as const))
  const sorted = (list: readonly { label: string }[]) => list.map(({ label }) => label).sort()
  fc.assert(
    fc.property(fc.array(choices), moments => {
      let enabled: ReturnType<typeof enabledAfter> = []
      for (const moment of moments) {
        enabled = enabledAfter(enabled, enabledChanges(enabled, moment))
        expect(sorted(enabled)).toEqual(sorted(moment))
      }
    }),
  )
})

test('a step holds the timers of the nodes whose timers changed', () => {
  const timers = new ChangedTimers()
  const of = (n1: readonly number[], n2: readonly number[]) => [
    { node: 'n1', deadlinesMs: n1 },
    { node: 'n2', deadlinesMs: n2 },
  ]
  expect(timers.next(of([1, 2], [3]))).toEqual(of([1, 2], [3]))
  expect(timers.next(of([1, 2], [3]))).toEqual([])
  const copy = timers.copy()
  expect(timers.next(of([1, 2], []))).toEqual([{ node: 'n2', deadlinesMs: [] }])
  expect(copy.next(of([2, 1], [3]))).toEqual([{ node: 'n1', deadlinesMs: [2, 1] }])
  expect(copy.next([{ node: 'n2', deadlinesMs: [3] }])).toEqual([{ node: 'n1', deadlinesMs: [] }])
})

test('an older trace, whose steps hold the timers of all nodes, is read as if they held what changed', () => {
  const path = freshPath()
  // Of field 5, as format 2 wrote it: a timer of 1.5 ms of n1; one of n2 also, and then that alone.
  const timerOf = (node: string) => Buffer.from(`2a0d0a02${Buffer.from(node).toString('hex')}11000000000000f83f`, 'hex')
  const stepOf = (index: number, ...nodes: readonly string[]) => {
    const rest = encodeRecord({ step: { ...start, index, timers: [] } })
    const step = Buffer.concat([rest.subarray(1 + lengthBytes(rest)), ...nodes.map(timerOf)])
    return seal(Buffer.concat([Buffer.from([0x12, (step.length & 0x7f) | 0x80, step.length >> 7]), step]))
  }
  const records = [seal(encodeRecord({ header })), stepOf(0, 'n1'), stepOf(1, 'n1', 'n2'), stepOf(2, 'n2')]
  writeFileSync(path, Buffer.concat([Buffer.from('lastnail trace 2\n'), ...records]))
  expect(readTrace(path, { torn: 'accept' }).steps.map(({ timers }) => timers)).toEqual([
    [{ node: 'n1', deadlinesMs: [1.5] }],
    [{ node: 'n2', deadlinesMs: [1.5] }],
    [{ node: 'n1', deadlinesMs: [] }],
  ])
})

/** Of the number after a field's first byte: seven bits of it in each. */
const lengthBytes = (record: Uint8Array) => record.subarray(1).findIndex(byte => byte < 0x80) + 1

test('the records of a trace can be had one by one', () => {
  const records = [...traceRecords(writeTrace([start, vote]))]
  expect(records).toEqual([{ header }, { step: start }, { step: vote }, { end: { verdict } }])
})

test('its beginning can be read without what its steps held, and whatever comes after it', () => {
  const timed = { ...vote, atMs: 150.5, input: { does: 'leave', node: 'n1', atMs: 150.5 } }
  const path = writeTrace([start, timed, { ...vote, index: 2 }])
  const brief = [
    { index: 0, choice: undefined },
    { index: 1, choice: timed.choice, atMs: 150.5, input: timed.input },
  ]
  expect(readWay(path, 1)).toEqual({ header, steps: brief })
  expect(readWay(path).steps).toHaveLength(3)
  const whole = readFileSync(path)
  writeFileSync(path, whole.subarray(0, whole.length - 1))
  expect(readWay(path).steps).toHaveLength(3)
  writeFileSync(path, whole.subarray(0, 40))
  expect(errorOf(() => readWay(path))).toMatchObject({ reason: 'torn' })
})

test('cut at any byte, the trace is torn after the last step that is whole', () => {
  const whole = readFileSync(writeTrace([start, vote]))
  const path = freshPath()
  new TraceWriter(path, header).close()
  const headerEnd = readFileSync(path).length
  const tears = new Map<number, number>()
  for (let length = 1; length < whole.length; length++) {
    writeFileSync(path, whole.subarray(0, length))
    expect(errorOf(() => readTrace(path))).toMatchObject({ reason: 'torn' })
    if (length < headerEnd) {
      expect(errorOf(() => readTrace(path, { torn: 'accept' }))).toMatchObject({ reason: 'torn' })
      continue
    }
    const { steps, end, torn } = readTrace(path, { torn: 'accept' })
    expect(end).toBe(undefined)
    expect(steps).toEqual([start, vote].slice(0, torn!.afterStep + 1))
    expect(torn!.byte).toBeLessThanOrEqual(length)
    tears.set(torn!.byte, torn!.afterStep)
  }
  expect([...tears.values()]).toEqual([-1, 0, 1])
  expect(tears.get(headerEnd)).toBe(-1)
})

test('any damaged byte is found, and never taken for a torn end', () => {
  const whole = readFileSync(writeTrace([start, vote]))
  const path = freshPath()
  const firstLine = `lastnail trace ${formatVersion}\n`.length
  for (let byte = 0; byte < whole.length; byte++) {
    const damaged = Buffer.from(whole)
    damaged[byte]! ^= 0x10
    writeFileSync(path, damaged)
    expect(errorOf(() => readTrace(path, { torn: 'accept' }))).toMatchObject({
      reason: byte < firstLine ? 'foreign' : 'damaged',
    })
  }
})

test('a missing step is detected', () => {
  const path = writeTrace([start, vote, { ...vote, index: 2 }])
  const records = [...traceRecords(path)].map(record => seal(encodeRecord(record as TraceRecord)))
  const messageWithout = (...missing: readonly number[]) => {
    const other = freshPath()
    const kept = records.filter((_, index) => !missing.includes(index))
    writeFileSync(other, Buffer.concat([Buffer.from(`lastnail trace ${formatVersion}\n`), ...kept]))
    const error = errorOf(() => readTrace(other, { torn: 'accept' }))
    return typeof error === 'string' ? error : error.message.replace(other, 'T')
  }
  expect(messageWithout()).toBe('no error')
  expect(messageWithout(1)).toBe('the trace T lacks the start')
  expect(messageWithout(2)).toBe('the trace T lacks step 1')
  expect(messageWithout(1, 2, 3)).toBe('the trace T lacks the start')
})

test('each error is one line that says what is wrong with which file', () => {
  const path = writeTrace([start, vote])
  const whole = readFileSync(path)

  writeFileSync(path, whole.subarray(0, whole.length - 5))
  const { torn } = readTrace(path, { torn: 'accept' })
  expect(errorOf(() => readTrace(path))).toEqual({
    reason: 'torn',
    message: `the trace ${path} is torn at byte ${torn!.byte}, after step 1: the tool ended while it wrote`,
  })

  writeFileSync(path, whole)
  appendFileSync(path, 'more')
  expect(errorOf(() => readTrace(path))).toEqual({
    reason: 'damaged',
    message: `the trace ${path} is damaged at byte ${whole.length}, after step 1`,
  })

  writeFileSync(path, `lastnail trace ${formatVersion + 1}\n...`)
  expect(errorOf(() => readTrace(path))).toEqual({
    reason: 'newer',
    message: `${path} is a trace of format ${formatVersion + 1}, written by a newer lastnail; this one reads up to format ${formatVersion}`,
  })

  writeFileSync(path, '\u0002ELF and so on')
  expect(errorOf(() => readTrace(path))).toEqual({
    reason: 'foreign',
    message: `${path} is not a trace: expected it to begin with "lastnail trace ", but it begins with "\\u0002ELF and so on"`,
  })

  writeFileSync(path, '')
  expect(errorOf(() => readTrace(path))).toEqual({
    reason: 'foreign',
    message: `${path} is not a trace: expected it to begin with "lastnail trace ", but it is empty`,
  })

  const absent = freshPath()
  expect(errorOf(() => readTrace(absent))).toEqual({
    reason: 'missing',
    message: `cannot read the trace ${absent}: no such file`,
  })
  expect(errorOf(() => readTrace(directory))).toEqual({
    reason: 'missing',
    message: `cannot read the trace ${directory}: it is a directory`,
  })
})

/** Much that nodes print, of which little is new. */
const longRun = (steps: number): RecordedStep[] =>
  Array.from({ length: steps }, (_, index) => ({
    ...start,
    index,
    choice: index === 0 ? undefined : { kind: 'timer', node: 'n1', label: `n1 timer +${index}ms` },
    outputs: [{ node: 'n1', stream: 'stdout', bytes: Buffer.from(`${index} ${'{"role":"follower"} '.repeat(60)}`) }],
  }))

test('a long trace is written compressed, each step before the next, and read as any other', () => {
  const path = freshPath()
  const writer = new TraceWriter(path, header)
  const steps = longRun(700)
  for (const step of steps) {
    writer.step(step)
    if (step.index % 250 === 249) expect(readTrace(path, { torn: 'accept' }).steps).toHaveLength(step.index + 1)
  }
  writer.end({ verdict: 'held' })
  writer.close()
  const plain = steps.reduce((sum, step) => sum + seal(encodeRecord({ step })).length, 0)
  const { size } = statSync(path)
  // The last quarter of a megabyte is as it was written.
  expect(size).toBeLessThan(plain / 2)
  const { steps: read, end } = readTrace(path)
  expect(read.map(step => encodeRecord({ step }))).toEqual(steps.map(step => encodeRecord({ step })))
  expect(end).toEqual({ verdict: 'held' })
})

test('killed between writing a block and cutting off what it holds, the writer leaves a torn trace and loses no step of the block', () => {
  const path = freshPath()
  const writer = new TraceWriter(path, header)
  const steps = longRun(400)
  let before = Buffer.alloc(0)
  for (const step of steps) {
    writer.step(step)
    const now = readFileSync(path)
    if (now.length < before.length) {
      for (const rest of [before.subarray(now.length), seal(encodeRecord({ step }))]) {
        writeFileSync(path, Buffer.concat([now, rest]))
        const { steps: read, torn } = readTrace(path, { torn: 'accept' })
        expect(read).toHaveLength(step.index + 1)
        expect(torn).toEqual({ byte: now.length, afterStep: step.index })
      }
      writeFileSync(path, now)
    }
    before = now
  }
  // Any damaged byte of a block is found.
  const whole = readFileSync(path)
  fc.assert(
    fc.property(fc.integer({ min: 1000, max: whole.length - 1 }), at => {
      const damaged = Buffer.from(whole)
      damaged[at]! ^= 1
      writeFileSync(path, damaged)
      expect(() => readTrace(path)).toThrow(TraceError)
    }),
    { numRuns: 30 },
  )
  writer.close()
})

test('a large payload is cut, and its length kept', () => {
  const path = freshPath()
  const writer = new TraceWriter(path, header, { messageBytesMax: 4 })
  const message = { ...vote.messages[0]!, bytes: Buffer.from('abcdefgh'), length: 8 }
  writer.step({ ...start, messages: [message] })
  writer.close()
  const [read] = readTrace(path, { torn: 'accept' }).steps[0]!.messages
  expect(read).toEqual({ ...message, bytes: Buffer.from('abcd') })
})

test('a step out of order is refused by the writer', () => {
  const writer = new TraceWriter(freshPath(), header)
  expect(() => writer.step(vote)).toThrow('expected step 0 of the trace, found step 1')
  writer.close()
})

test('the hash differs by anything but the duration', () => {
  const hash = traceHash({ steps: [start, vote] })
  expect(hash).toMatch(/^[0-9a-f]{64}$/)
  expect(traceHash(readTrace(writeTrace([start, vote])))).toBe(hash)
  expect(traceHash({ steps: [start, { ...vote, durationUs: 7 }] })).toBe(hash)

  const others: Partial<RecordedStep>[] = [
    { choice: { ...vote.choice!, label: 'n1 timer 150.6 ms' } },
    { messages: [{ ...vote.messages[0]!, bytes: Buffer.from([0, 255, 11]) }] },
    { timers: [{ node: 'n1', deadlinesMs: [1] }] },
    { states: [{ node: 'n1', state: null }] },
    { outputs: [{ node: 'n1', stream: 'stderr', bytes: Buffer.from('x') }] },
    { findings: [] },
    { properties: [] },
    { fingerprint: undefined },
  ]
  const hashes = others.map(other => traceHash({ steps: [start, { ...vote, ...other }] }))
  expect(new Set([hash, ...hashes]).size).toBe(1 + others.length)
})
