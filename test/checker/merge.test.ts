import { expect, test } from 'vitest'
import { mergeVerdicts } from '../../checker/merge.ts'
import type { Verdict } from '../../checker/verdict.ts'

const verdict = (changes: Partial<Verdict>): Verdict => ({
  verdict: 'held',
  property: null,
  kind: null,
  executions: 10,
  steps: 100,
  states: 50,
  seconds: 2,
  stepsPerSecond: 50,
  depth: 0,
  seed: 1,
  variant: 0,
  schedule: [],
  criticalTransition: null,
  repeated: false,
  message: 'of one',
  closestLive: null,
  discovery: null,
  coverage: {
    levels: [],
    pruned: 0,
    exhausted: false,
    completed: 10,
    walks: 5,
    stepsToLive: 7,
    walksToLive: [1, 0, 4],
    transient: 1,
    unfaithful: 0,
  },
  notRepeated: [],
  ...changes,
})

const searched = verdict({
  depth: 3,
  seconds: 4,
  coverage: {
    levels: [{ depth: 3, states: 4, executions: 5, pruned: 6, complete: true }],
    pruned: 6,
    exhausted: false,
    completed: 9,
    walks: 1,
    stepsToLive: 9,
    walksToLive: [2, 1],
    transient: 0,
    unfaithful: 0,
  },
})

test('what was done is counted together, over the longest time', () => {
  expect(mergeVerdicts([verdict({}), searched])).toEqual({
    ...searched,
    executions: 20,
    steps: 200,
    states: 100,
    stepsPerSecond: 50,
    message: 'no violation in 20 executions with 200 steps and 100 states; among them every schedule of up to 3 steps',
    coverage: { ...searched.coverage, completed: 19, walks: 6, transient: 1, walksToLive: [3, 1, 4] },
  })
})

test('a violation comes before a doubt, a doubt before nothing', () => {
  const violated = verdict({ verdict: 'violated', property: 'p', schedule: ['a'], repeated: true, message: 'it is so' })
  const doubtful = verdict({ verdict: 'undetermined', message: 'who knows', notRepeated: ['once'] })
  expect(mergeVerdicts([verdict({}), doubtful, violated])).toMatchObject({
    verdict: 'violated',
    property: 'p',
    schedule: ['a'],
    repeated: true,
    message: 'it is so',
    executions: 30,
    notRepeated: ['once'],
  })
  expect(mergeVerdicts([verdict({}), doubtful])).toMatchObject({ verdict: 'undetermined', message: 'who knows' })
})

test('one that had no time for an execution changes nothing', () => {
  const idle = verdict({
    verdict: 'undetermined',
    message: 'no time',
    coverage: { ...searched.coverage, completed: 0 },
  })
  expect(mergeVerdicts([idle, verdict({})]).verdict).toBe('held')
  expect(mergeVerdicts([idle, idle])).toMatchObject({ verdict: 'undetermined', message: 'no time' })
})
