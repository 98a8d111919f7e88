import { describe, expect, it } from 'vitest'
import { prioritised } from '../../../checker/choosers/priorities.ts'
import { Random } from '../../../checker/system/random.ts'
import type { Choice } from '../../../checker/system/system.ts'
import { choiceOf } from '../systems/model.ts'

const deliver = (label: string): Choice => choiceOf({ kind: 'deliver', node: 'n', label })
const timer = (node: string): Choice => choiceOf({ kind: 'timer', node, label: `${node} timer` })

/** How a walk of some steps goes on where each thing that is taken is gone, and `then` comes of it. */
const orders = (
  initial: readonly Choice[],
  then: (label: string) => readonly Choice[],
  seeds: number,
): Map<string, number> => {
  const counts = new Map<string, number>()
  for (let seed = 1; seed <= seeds; seed++) {
    const policy = prioritised(new Random(seed), 8)
    let enabled = [...initial]
    const taken: string[] = []
    for (let choice = policy(enabled); choice; choice = policy(enabled)) {
      const { label } = choice
      taken.push(label)
      enabled = [...enabled.filter(other => other.label !== label), ...then(label)]
    }
    const order = taken.join(' ')
    counts.set(order, (counts.get(order) ?? 0) + 1)
  }
  return counts
}

describe('priorities', () => {
  it('take every order of two activities, mostly one before the other as a whole', () => {
    // Two timers; each starts a chain of two messages.
    const then = (label: string) => {
      if (label.endsWith('timer')) return [deliver(`${label[0]}1`)]
      return label.endsWith('1') ? [deliver(`${label[0]}2`)] : []
    }
    const counts = orders([timer('a'), timer('b')], then, 4000)
    // All interleavings of three and three: 6! / (3! 3!) = 20.
    expect(counts.size).toBe(20)
    const whole = (counts.get('a timer a1 a2 b timer b1 b2') ?? 0) + (counts.get('b timer b1 b2 a timer a1 a2') ?? 0)
    expect(whole).toBeGreaterThan(4000 / 5)
  })

  it('leave faults and overlaps to others', () => {
    const policy = prioritised(new Random(1), 8)
    const fault = choiceOf({ kind: 'drop', node: 'n', label: 'drop m' })
    expect(policy([fault])).toBeUndefined()
    expect(policy([fault, deliver('m')])).toEqual(deliver('m'))
  })
})
