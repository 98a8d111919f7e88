import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readTrace } from '../../checker/trace/read.ts'
import type { RecordedChoice, RecordedMessage, RecordedStep, Trace } from '../../checker/trace/trace.ts'
import { replayCommand, testOf } from '../../report/model/again.ts'
import { barsOf } from '../../report/model/bars.ts'
import { callsOf, describeCall } from '../../report/model/calls.ts'
import { changedFields, diffOf } from '../../report/model/changes.ts'
import { ShownExecution } from '../../report/model/execution.ts'
import { matcher, noFilter } from '../../report/model/filter.ts'
import { outagesOf, partitionsOf } from '../../report/model/outages.ts'
import { pastOf } from '../../report/model/past.ts'
import { hexOf, printableText } from '../../report/model/payload.ts'
import { badgesOf, liveBadgesOf, storyOf } from '../../report/model/story.ts'

import { historyTrace } from './history-trace.ts'

const fixture = (name: string) => readTrace(join(import.meta.dirname, 'fixtures', name))

const message = (from: string, to: string, ordinal: number): RecordedMessage => ({
  ...{
    from,
    to,
    ordinal,
    label: `${from}→${to} #${ordinal}`,
    kind: 'datagram',
    bytes: Buffer.from('hello'),
    length: 5,
  },
})

const nothing = {
  ...{ durationUs: 1, messages: [], lost: [], clocks: [], timers: [], states: [], outputs: [], findings: [] },
  ...{ operations: [], properties: [], fingerprint: undefined, offered: [], withdrawn: [] },
}

type Told = Partial<RecordedStep> & { choice: RecordedChoice }

const traceOf = (steps: readonly Told[], start: Partial<RecordedStep> = {}): Trace => ({
  header: {
    ...{
      system: 's',
      versions: {},
      config: { path: '', sha256: '' },
      seed: 1,
      clocksStart: '2026-01-01T00:00:00Z',
      options: null,
      properties: [],
      faults: {},
    },
    nodes: ['n1', 'n2', 'n3'].map(name => ({ name, command: ['node'], env: {}, image: '', address: '', program: '' })),
  },
  steps: [
    { ...nothing, index: 0, choice: undefined, ...start },
    ...steps.map((step, index) => ({ ...nothing, ...step, index: index + 1 })),
  ],
  end: undefined,
  torn: undefined,
})

const choice = (kind: RecordedChoice['kind'], node: string, label: string, joins?: string[]): RecordedChoice => ({
  ...{ kind, node, label },
  ...(joins && { joins }),
})

const deliver = ({ to, label }: RecordedMessage) => choice('deliver', to, label)

test('each message is told from where it was sent to what became of it', () => {
  const all = [1, 2, 3, 4, 5, 6].map(ordinal => message('n1', 'n2', ordinal))
  const [first, second, third, fourth, fifth, sixth] = all as [RecordedMessage, ...RecordedMessage[]] &
    RecordedMessage[]
  const copy = message('n1', 'n2', 7)
  const { journeys } = new ShownExecution(
    traceOf(
      [
        { choice: deliver(first!) },
        { choice: choice('drop', 'n2', `drop ${second!.label}`) },
        {
          choice: choice('overlap', 'n2', `overlap ${third!.label} & ${fourth!.label}`, [third!.label, fourth!.label]),
        },
        { choice: choice('reset', 'n1', 'reset n1'), lost: [fifth!.label] },
        { choice: choice('duplicate', 'n2', `duplicate ${sixth!.label}`), messages: [copy] },
      ],
      { messages: all },
    ),
  )
  expect(
    journeys.map(({ message, sentAt, isCopy, fate, endedAt }) => [message.ordinal, sentAt, isCopy, fate, endedAt]),
  ).toEqual([
    [1, 0, false, 'delivered', 1],
    [2, 0, false, 'dropped', 2],
    [3, 0, false, 'delivered', 3],
    [4, 0, false, 'delivered', 3],
    [5, 0, false, 'lost', 4],
    [6, 0, false, 'held', undefined],
    [7, 5, true, 'held', undefined],
  ])
})

test('an overlap of an older trace without its parts delivers both messages', () => {
  const [one, other] = [message('n1', 'n2', 1), message('n3', 'n2', 1)]
  const overlap = choice('overlap', 'n2', `overlap ${one.label} & ${other.label}`)
  const { journeys } = new ShownExecution(traceOf([{ choice: overlap }], { messages: [one, other] }))
  expect(journeys.map(({ fate }) => fate)).toEqual(['delivered', 'delivered'])
})

test('a node is down from its crash to its restart, ways are cut until all are healed', () => {
  const { steps } = traceOf([
    { choice: choice('crash', 'n1', 'crash n1') },
    { choice: choice('partition', 'n1', 'cut n1→n2') },
    { choice: choice('restart', 'n1', 'restart n1') },
    { choice: choice('heal', '', 'heal') },
    { choice: choice('timer', 'n2', 'n2 timer'), findings: [{ kind: 'crash', node: 'n2', message: 'ended' }] },
    { choice: choice('partition', 'n3', 'partition n3 | n1 n2') },
  ])
  expect(outagesOf(steps)).toEqual([
    { node: 'n1', from: 1, to: 3 },
    { node: 'n2', from: 5, to: undefined },
  ])
  expect(partitionsOf(steps)).toEqual([
    { label: 'cut n1→n2', from: 2, to: 4 },
    { label: 'partition n3 | n1 n2', from: 6, to: undefined },
  ])
})

test('if a trace says which nodes are up, a removed link does not end a node, and a node that joins later was down before', () => {
  const { steps } = traceOf([
    { choice: choice('restart', 'n2', 'join n2'), lives: [{ node: 'n2', isAlive: true, keepsOutput: false }] },
    { choice: choice('crash', 'n1', 'leave n1 cut') },
    { choice: choice('timer', 'n3', 'n3 timer'), lives: [{ node: 'n3', isAlive: false, keepsOutput: true }] },
  ])
  const lives = ['n1', 'n2', 'n3'].map(node => ({ node, isAlive: node !== 'n2', keepsOutput: false }))
  expect(outagesOf([{ ...steps[0]!, lives }, ...steps.slice(1)])).toEqual([
    { node: 'n2', from: 0, to: 1 },
    { node: 'n3', from: 3, to: undefined },
  ])
})

test('a timed run shows its partitions, and links that are down, but not a change of delay', () => {
  const { steps } = traceOf([
    { choice: choice('partition', '', 'part a b') },
    { choice: choice('link', '', 'link a delayMs 200') },
    { choice: choice('partition', '', 'link b down') },
    { choice: choice('heal', '', 'heal all') },
  ])
  expect(partitionsOf(steps)).toEqual([
    { label: 'part a b', from: 1, to: 4 },
    { label: 'link b down', from: 3, to: undefined },
  ])
})

test('in a native run a way that loses or delays is not cut; healing one way leaves the others cut', () => {
  const { steps } = traceOf([
    { choice: choice('partition', '', 'n1→n2 loss 0.1; n2→n1 loss 0.1') },
    { choice: choice('partition', '', 'n1→n2 cut') },
    { choice: choice('partition', '', 'n2→n3 cut') },
    { choice: choice('heal', '', 'n1→n2 joined') },
    { choice: choice('heal', '', 'n1→n2 as it was') },
    { choice: choice('heal', '', 'heal') },
  ])
  expect(partitionsOf(steps)).toEqual([
    { label: 'n1→n2 cut', from: 2, to: 4 },
    { label: 'n2→n3 cut', from: 3, to: 6 },
  ])
})

test('what clients saw: from the step in which they asked to the one in which they had their answer', () => {
  const began = { hasEnded: false, ordinal: 1 }
  const { steps } = traceOf([
    { choice: choice('client', 'client ann', 'client ann'), calls: [{ ...began, client: 'ann' }] },
    { choice: choice('client', 'client bob', 'client bob'), calls: [{ ...began, client: 'bob' }] },
    {
      choice: choice('timer', 'n1', 'n1 timer'),
      calls: [{ client: 'ann', ordinal: 1, hasEnded: true, result: '"mine"' }],
    },
  ])
  expect(callsOf(steps)).toEqual([
    { client: 'ann', ordinal: 1, from: 1, to: 3, result: '"mine"', error: undefined },
    { client: 'bob', ordinal: 1, from: 2, to: undefined, result: undefined, error: undefined },
  ])
  expect(callsOf(steps).map(describeCall)).toEqual(['ann returned "mine"', 'bob returned'])
})

test('states, clocks, timers and properties are what they were made last', () => {
  const state = (round: number) => [{ node: 'n1', state: { round } }]
  const execution = new ShownExecution(
    traceOf(
      [
        {
          choice: choice('timer', 'n1', 'a'),
          clocks: [{ node: 'n1', elapsedMs: 5 }],
          timers: [{ node: 'n1', deadlinesMs: [10, 20] }],
        },
        { choice: choice('timer', 'n1', 'b'), states: state(2), properties: [{ name: 'p', holds: false }] },
        { choice: choice('timer', 'n1', 'c'), timers: [{ node: 'n1', deadlinesMs: [] }] },
      ],
      { states: state(0), properties: [{ name: 'p', holds: true }] },
    ),
  )
  const each = <Value>(value: (step: number) => Value) => [0, 1, 2, 3].map(value)
  expect(each(step => execution.stateAfter('n1', step))).toEqual([
    { round: 0 },
    { round: 0 },
    { round: 2 },
    { round: 2 },
  ])
  expect(each(step => execution.clockAfter('n1', step))).toEqual([undefined, 5, 5, 5])
  expect(each(step => execution.timersAfter('n1', step))).toEqual([[], [10, 20], [10, 20], []])
  expect(each(step => execution.holdsAfter('p', step))).toEqual([true, true, false, false])
  expect(execution.stateAfter('n2', 3)).toBe(undefined)
  expect(execution.changesIn(2)).toEqual([{ node: 'n1', name: 'round', before: 0, after: 2 }])
})

test('of a recorded check: every choice that was made had been enabled', () => {
  for (const name of ['transport.trace', 'transport.live.trace']) {
    const execution = new ShownExecution(fixture(name))
    for (const { index, choice } of execution.steps.slice(1))
      expect(execution.enabledBefore(index)).toContainEqual(choice)
    expect(execution.tellsEnabled).toBe(true)
  }
  expect(new ShownExecution(fixture('before-enabled.trace')).tellsEnabled).toBe(false)
})

test('the past of a step is what it may depend on, and no more', () => {
  const [toTwo, toThree] = [message('n1', 'n2', 1), message('n2', 'n3', 1)]
  const execution = new ShownExecution(
    traceOf([
      { choice: choice('timer', 'n1', 'n1 timer +1ms'), messages: [toTwo] },
      { choice: choice('timer', 'n3', 'n3 timer +1ms') },
      { choice: choice('timer', 'n1', 'n1 timer +2ms') },
      { choice: deliver(toTwo), messages: [toThree] },
      { choice: choice('timer', 'n2', 'n2 timer +1ms') },
      { choice: deliver(toThree) },
    ]),
  )
  expect([...pastOf(execution, 6)].sort()).toEqual([1, 2, 4, 6])
  expect([...pastOf(execution, 5)].sort()).toEqual([1, 4, 5])
})

test('steps are found by node, by kind, and by text as an expression or as it stands', () => {
  const execution = new ShownExecution(fixture('transport.trace'))
  const found = (filter: Partial<typeof noFilter>) => {
    const matches = matcher({ ...noFilter, ...filter })
    return execution.steps.map(({ index }) => index).filter(index => matches(execution, index))
  }
  expect(found({})).toEqual([0, 1, 2, 3, 4, 5])
  expect(found({ kind: 'timer' })).toEqual([1, 2])
  expect(found({ kind: 'deliver', node: 'receiver' })).toEqual([3, 4, 5])
  expect(found({ text: 'syn \\d+' })).toEqual([0, 1, 2, 3, 4])
  expect(found({ text: 'established":true' })).toEqual([5])
  expect(found({ text: '(' })).toEqual([])
})

test('what changed is shown by its innermost fields, lists as wholes', () => {
  const before = { role: 'follower', votes: ['a', 'b'], log: { length: 1, last: { term: 1 } } }
  const after = { role: 'leader', votes: ['b'], log: { length: 1, last: { term: 2 } } }
  expect(changedFields(before, after)).toEqual([
    { name: 'role', before: 'follower', after: 'leader' },
    { name: 'votes', before: ['a', 'b'], after: ['b'] },
    { name: 'log.last.term', before: 1, after: 2 },
  ])
  expect(changedFields(undefined, 1)).toEqual([{ name: '', before: undefined, after: 1 }])
  expect(changedFields(before, structuredClone(before))).toEqual([])
  expect(
    diffOf({ term: 1, votes: ['a', 'b'] }, { term: 1, votes: ['b'], long: 'x'.repeat(80) })
      .map(({ sign }) => sign)
      .join(''),
  ).toBe('-+++++')
})

test('bytes are text only where all of them are', () => {
  expect(printableText(Buffer.from('grüße\n'))).toBe('grüße\n')
  expect(printableText(Buffer.from([0xff, 0x41]))).toBe(undefined)
  expect(printableText(Buffer.from([0, 0x41]))).toBe(undefined)
  expect(hexOf(Buffer.from('0123456789abcdef!\n'))).toBe(
    '000000  30 31 32 33 34 35 36 37 38 39 61 62 63 64 65 66  0123456789abcdef\n' +
      '000010  21 0a                                            !.',
  )
})

test('a story says where an execution dies, and where the live one leaves it', () => {
  const story = storyOf(
    new ShownExecution(fixture('transport.trace')),
    new ShownExecution(fixture('transport.live.trace')),
  )
  expect(story.decisive).toBe(5)
  expect(story.comparison).toEqual({ common: 4, firstDifference: 5 })
  const texts = (step: number) => badgesOf(story, step).map(({ text }) => text)
  expect([0, 1, 2, 3, 4, 5].map(texts)).toEqual([
    ['allAcknowledged does not hold'],
    ...[[], [], []],
    ['last state that can recover'],
    ['critical transition: dead from here'],
  ])
  expect(liveBadgesOf(story, 5).map(({ text }) => text)).toEqual(['first difference'])
  expect(liveBadgesOf(story, story.live!.end).map(({ text }) => text)).toEqual(['allAcknowledged holds'])
})

test('bars are operations as they came out, or calls where the trace tells of none', () => {
  const { end, ...rest } = historyTrace()
  const { message } = end!.verdict as { message: string }
  const rows = barsOf(new ShownExecution({ ...rest, end }), message)
  expect([...rows.keys()]).toEqual(['ann', 'bob', 'cid'])
  expect(rows.get('bob')!.map(({ from, to, contradicts }) => ({ from, to, contradicts }))).toEqual([
    { from: 3, to: 6, contradicts: true },
    { from: 10, to: 14, contradicts: true },
  ])
  expect(rows.get('ann')).toEqual([{ who: 'ann', from: 2, to: 9, text: 'write 1', outcome: 'ok', contradicts: false }])
  const steps = rest.steps.map(step => ({ ...step, operations: [] }))
  const call = { client: 'ann', ordinal: 1, hasEnded: false }
  const calling = steps.map(step =>
    step.index === 2
      ? { ...step, calls: [call] }
      : step.index === 5
        ? { ...step, calls: [{ ...call, hasEnded: true, error: 'no leader' }] }
        : step,
  )
  expect(barsOf(new ShownExecution({ ...rest, steps: calling, end })).get('ann')).toEqual([
    { who: 'ann', from: 2, to: 5, text: 'threw no leader', outcome: 'failed', contradicts: false },
  ])
})

test('a test to copy has the whole schedule; a trace without a violation has no test', () => {
  const trace = historyTrace()
  const text = testOf(trace)!
  for (const { choice } of trace.steps.slice(1)) expect(text).toContain(`      '${choice!.label}',`)
  expect(testOf({ ...trace, end: { verdict: null } })).toBeUndefined()
})

test('a command to replay is one that a shell reads', () => {
  expect(replayCommand('.lastnail/shop/a.trace')).toBe('npx lastnail replay .lastnail/shop/a.trace')
  expect(replayCommand("ann's shop.trace")).toBe(`npx lastnail replay 'ann'\\''s shop.trace'`)
})

test('a test to copy of a trace with long turns says so; an emulated run, whose times no test repeats, has none', () => {
  const trace = historyTrace()
  const recordedWith = (options: object) => ({ ...trace, header: { ...trace.header, options } })
  expect(testOf(trace)).not.toContain('longTurns')
  expect(testOf(recordedWith({ longTurns: true }))).toContain('\n    longTurns: true,\n    schedule: [\n')
  expect(testOf(recordedWith({ timing: { pace: 'virtual' } }))).toBeUndefined()
})
