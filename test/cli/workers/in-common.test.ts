import { deserialize, serialize } from 'node:v8'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Task, TaskOutcome } from '../../../checker/cells/task.ts'
import { initial, startAfter, startAsOffered } from '../../../checker/system/start.ts'
import type { Choice } from '../../../checker/system/system.ts'
import { InCommon } from '../../../cli/workers/in-common.ts'

const sent = <Value>(value: Value): Value => deserialize(serialize(value))

const labels = fc.array(fc.constantFrom('a', 'b'), { maxLength: 6 })
const exchanges = fc.array(fc.record({ labels, walked: labels, start: fc.constantFrom('exact', 'lenient', 'initial') }))

const taskOf = (labels: readonly string[], start: string): Task => ({
  start: start === 'initial' ? initial : start === 'exact' ? startAfter(labels) : startAsOffered(labels),
  untilViolation: true,
})

const outcomeOf = (choices: ReadonlyMap<string, Choice>, labels: readonly string[]): TaskOutcome => ({
  schedule: labels.map(label => choices.get(label)!),
  fingerprints: [undefined, ...labels.map((label, index) => (index % 3 === 0 ? undefined : `${label}${index}`))],
  abstraction: 'observed',
  violation: undefined,
  finding: undefined,
  delayMs: 0,
  skewMs: 0,
  lastLive: new Map([['alive', labels.length]]),
  arrival: {
    steps: labels.length,
    offered: labels.map((_, index) => index),
    skipped: [],
    enabled: [],
    since: [],
    history: undefined,
    broken: false,
  },
  toLive: undefined,
  sights: [],
  calls: [],
  surprises: [],
})

it('tasks and outcomes arrive as they were, whatever came before', () => {
  const choices = new Map(
    ['a', 'b'].map(label => [label, { kind: 'timer', node: 'n', label, subject: label, numbers: [] } as Choice]),
  )
  fc.assert(
    fc.property(exchanges, exchanges => {
      const [here, there] = [new InCommon(), new InCommon()]
      for (const { labels, walked, start } of exchanges) {
        const task = taskOf(labels, start)
        expect(there.taskReceived(sent(here.taskToSend(task)))).toEqual(task)
        const outcome = outcomeOf(choices, [...labels, ...walked])
        expect(here.outcomeReceived(sent(there.outcomeToSend(outcome)))).toEqual(outcome)
      }
    }),
  )
})

it('what was sent before is not sent again', () => {
  const [here, there] = [new InCommon(), new InCommon()]
  const choice: Choice = { kind: 'timer', node: 'n', label: 'n timer', subject: 'timer', numbers: [] }
  const long = Array.from({ length: 10_000 }, () => choice.label)
  const outcome = outcomeOf(new Map([[choice.label, choice]]), long)
  here.outcomeReceived(sent(there.outcomeToSend(outcome)))
  expect(serialize(there.outcomeToSend(outcome)).length).toBeLessThan(1_000)
  expect(serialize(here.taskToSend(taskOf([...long, 'more'], 'exact'))).length).toBeLessThan(1_000)
})
