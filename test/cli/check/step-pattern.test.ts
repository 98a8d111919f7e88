import { expect, test } from 'vitest'
import { stepsOf } from '../../../cli/check/step-pattern.ts'
import { choiceOf, Model } from '../../checker/systems/model.ts'

/** What is in flight, and timers by their node. */
interface Flight {
  readonly held: readonly string[]
  readonly timers: Readonly<Record<string, number>>
}

/** Messages in the order of sending; those of n1 are answered once. */
const network = () =>
  new Model<Flight>(
    { held: ['n1→n2 #1 vote', 'n1→n2 #2 vote', 'n1→n3 #1 vote'], timers: { n1: 50, n2: 20 } },
    ({ held, timers }) => [
      ...held.map(label => ({
        kind: 'deliver' as const,
        node: label.slice(3, 5),
        label,
        next: () => ({ timers, held: [...held.filter(each => each !== label), ...answerTo(label)] }),
      })),
      ...Object.entries(timers).map(([node, afterMs]) => ({
        kind: 'timer' as const,
        node,
        label: `${node} timer +${afterMs}ms`,
        afterMs,
        next: () => ({ held, timers: { ...timers, [node]: afterMs + 50 } }),
      })),
    ],
  )

const answerTo = (label: string): string[] =>
  label.startsWith('n1→n3') ? ['n3→n1 #1 granted'] : label.startsWith('n1→n2 #2') ? ['n2→n1 #1 granted'] : []

const executed = async (...patterns: readonly string[]): Promise<string[]> => {
  const system = network()
  await system.reset()
  const labels: string[] = []
  for (const pattern of patterns)
    for (const choice of stepsOf(
      pattern,
      () => system.enabled(),
      () => labels.length + 1,
    )) {
      labels.push(choice.label)
      await system.execute(choice)
    }
  return labels
}

test('a pattern stands for one step or several', async () => {
  expect(await executed('n1→n2 … ×2')).toEqual(['n1→n2 #1 vote', 'n1→n2 #2 vote'])
  expect(await executed('n1→n2 vote x2', 'n1 timer')).toEqual(['n1→n2 #1 vote', 'n1→n2 #2 vote', 'n1 timer +50ms'])
  expect(await executed('all')).toEqual([
    'n1→n2 #1 vote',
    'n1→n2 #2 vote',
    'n1→n3 #1 vote',
    'n2→n1 #1 granted',
    'n3→n1 #1 granted',
  ])
  expect(await executed('all vote')).toEqual(['n1→n2 #1 vote', 'n1→n2 #2 vote', 'n1→n3 #1 vote'])
  expect(await executed('deliver all until n2→n1 granted', 'n2→n1')).toEqual([
    'n1→n2 #1 vote',
    'n1→n2 #2 vote',
    'n2→n1 #1 granted',
  ])
  expect(await executed('all n1→n3 until n3→n1 granted')).toEqual(['n1→n3 #1 vote'])
  expect(await executed('the earliest timer', 'earliest timer', 'earliest timer of n2')).toEqual([
    'n2 timer +20ms',
    'n1 timer +50ms',
    'n2 timer +70ms',
  ])
})

test('a pattern that cannot be is refused, with the step', async () => {
  await expect(executed('n1→n2 ×3')).rejects.toThrow('step 3: "n1→n2" is not enabled')
  await expect(executed('all until n9→n1')).rejects.toThrow('"all until n9→n1" ended without "n9→n1"')
  await expect(executed('earliest timer of n7')).rejects.toThrow('step 1: "earliest timer of n7" is not enabled')
  const held = choiceOf({ kind: 'deliver', node: 'n2', label: 'n1→n2 #1 all ×2' })
  expect([
    ...stepsOf(
      'n1→n2 #1 all ×2',
      () => [held],
      () => 1,
    ),
  ]).toEqual([held])
})
