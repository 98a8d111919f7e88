import { expect, test } from 'vitest'
import type { RecordedStep } from '../../checker/trace/trace.ts'
import type { RecordedVerdict } from '../../checker/verdict/verdict.ts'
import { ShownExecution } from '../../report/model/execution.ts'
import { issueOf, lastSeen } from '../../report/model/issue.ts'
import { syntheticTrace } from './synthetic.ts'

/** An execution in which nothing changes but what is given of some steps. */
const execution = (length: number, changed: Readonly<Record<number, Partial<RecordedStep>>>) => {
  const { steps, ...trace } = syntheticTrace(length)
  const still = { states: [], outputs: [], calls: [], messages: [] }
  return new ShownExecution({ ...trace, steps: steps.map(step => ({ ...step, ...still, ...changed[step.index] })) })
}

const call = { client: 'ann', ordinal: 1 }
const begun = { calls: [{ ...call, hasEnded: false }] }
const again = 'npx lastnail replay x.trace'

test('a text for an issue has some ten lines', () => {
  const verdict = {
    property: 'linearizable',
    kind: 'safety',
    message: 'linearizable does not hold after step 4 (n2→n3 #1 ask): no register has these operations',
    schedule: ['client ann', 'n1→n2 #1 ask', 'n2→n1 #1 tell 0', 'n2→n3 #1 ask'],
    overtakings: [{ step: 4, label: 'n2→n3 #1 ask', overtaken: 'n1→n3 #2 store 1', since: 3, delivered: null }],
  } as unknown as RecordedVerdict
  const shown = execution(4, {
    0: { states: [{ node: 'n3', state: { value: 0 } }] },
    1: begun,
    3: { calls: [{ ...call, hasEnded: true, result: '0' }] },
    4: { states: [{ node: 'n3', state: { value: 1 } }] },
  })
  expect(issueOf(shown, verdict, again)).toEqual([
    '### linearizable does not hold in synthetic',
    '',
    'What happened: n2’s "ask" overtakes n1’s "store 1" on the way to n3 (step 4): sent in step 3, it has not arrived at the end.',
    '',
    '- step 1: ann begins a call; in step 3 ann returned 0',
    '- step 2: n1’s "ask" reaches n2',
    '- step 3: n2’s "tell 0" reaches n1',
    '- step 4: n2’s "ask" reaches n3; then n3 value: 0 → 1',
    '',
    'linearizable does not hold after step 4 (n2→n3 #1 ask): no register has these operations',
    `Found by lastnail in an execution of 4 steps: the real programs, with the order of messages and timers chosen. It repeats: \`${again}\``,
  ])
})

test('the same step many times in a row is one line', () => {
  const verdict = {
    property: 'inOrder',
    kind: 'safety',
    message: 'inOrder does not hold after step 5 (n1 timer +100ms)',
    schedule: ['client ann', ...Array(4).fill('n1 timer +100ms')],
    overtakings: [],
  } as unknown as RecordedVerdict
  const shown = execution(5, { 1: begun, 5: { calls: [{ ...call, hasEnded: true, result: '[2,1]' }] } })
  expect(issueOf(shown, verdict, again).filter(line => line.startsWith('- '))).toEqual([
    '- step 1: ann begins a call',
    '- steps 2 to 5: n1’s timer of 100ms fires, 4 times; then ann returned [2,1]',
  ])
})

test('a fault comes before calls that have no room', () => {
  const calls = ['ann', 'bob', 'cid', 'dan', 'eve', 'fay', 'gus'].map(name => `client ${name}`)
  const verdict = {
    property: 'kept',
    kind: 'safety',
    message: 'kept does not hold after step 9 (restart n1)',
    schedule: [...calls, 'crash n1', 'restart n1'],
    overtakings: [],
  } as unknown as RecordedVerdict
  const lines = issueOf(execution(9, {}), verdict, again).filter(line => line.startsWith('- '))
  expect(lines.map(line => line.slice(2, 8))).toEqual(['step 1', 'step 2', 'step 3', 'step 4', 'step 8', 'step 9'])
})

test('of many fields that the last step changed the first ones are said', () => {
  const state = (value: number) => ({ states: [{ node: 'n1', state: { a: value, b: value, c: value, d: value } }] })
  expect(lastSeen(execution(1, { 0: state(0), 1: state(1) }))).toBe(
    'n1 a: 0 → 1; n1 b: 0 → 1; n1 c: 0 → 1; and 1 more field',
  )
  expect(lastSeen(execution(1, {}))).toBeUndefined()
})
