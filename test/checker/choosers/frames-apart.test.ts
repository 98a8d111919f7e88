import { expect, test } from 'vitest'
import { maybeApart } from '../../../checker/choosers/frames-apart.ts'
import { Random } from '../../../checker/system/random.ts'
import type { Choice } from '../../../checker/system/system.ts'

const choice = (kind: Choice['kind'], label: string, whole?: Choice): Choice => ({
  kind,
  node: 'b',
  label,
  subject: label,
  numbers: [],
  ...(whole && { whole }),
})

const one = choice('deliver', 'a→b #1 one | two | three')
const other = choice('deliver', 'c→b #1 one')
const first = choice('divide', 'divide a→b #1 one', one)
const second = choice('divide', 'divide a→b #1 one | two', one)

const chosen = (seed: number, enabled: readonly Choice[], label: string) => {
  const deliver = maybeApart(new Random(seed), deliveries => deliveries.find(each => each.label === label))
  return deliver([one, other], enabled)?.label
}
const seeds = Array.from({ length: 100 }, (_, seed) => seed)

test('in about half of the walks, the first frame of what was written together arrives alone', () => {
  const apart = seeds.filter(seed => chosen(seed, [one, other, first, second], one.label) === first.label)
  expect(apart.length).toBeGreaterThan(30)
  expect(apart.length).toBeLessThan(70)
})

test('what is one frame, or may be divided no more, arrives whole', () => {
  for (const seed of seeds) {
    expect(chosen(seed, [one, other, first, second], other.label)).toBe(other.label)
    expect(chosen(seed, [one, other], one.label)).toBe(one.label)
    expect(chosen(seed, [one, other], 'none')).toBeUndefined()
  }
})
