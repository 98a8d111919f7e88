import { expect, test } from 'vitest'
import { longPauses } from '../../../checker/choosers/long-pauses.ts'
import { Random } from '../../../checker/system/random.ts'
import type { Choice } from '../../../checker/system/system.ts'

const choice = (kind: Choice['kind'], node: string): Choice => ({
  kind,
  node,
  label: `${kind} ${node}`,
  subject: '',
  numbers: [],
})
const [timer, pause, resume] = [choice('timer', 'b'), choice('pause', 'a'), choice('resume', 'a')]

/** How many timers fire while a node is paused, for a chooser that would let it go on at once. */
const timersInPause = (seed: number): number => {
  const choose = longPauses(
    new Random(seed),
    enabled => enabled.find(({ kind }) => kind === 'resume') ?? enabled.find(({ kind }) => kind === 'timer'),
  )
  expect(choose([timer, pause])).toBe(timer)
  for (let count = 0; ; count++) if (choose([timer, resume]) === resume) return count
}

test('of every other pause, the end is put off until others have gone on', () => {
  const counts = Array.from({ length: 600 }, (_, seed) => timersInPause(seed))
  for (const length of [0, 3, 6, 12]) {
    const share = counts.filter(count => count === length).length / counts.length
    expect(Math.abs(share - (length === 0 ? 1 / 2 : 1 / 6))).toBeLessThan(0.06)
  }
  expect(new Set(counts)).toEqual(new Set([0, 3, 6, 12]))
})

test('where nothing else can happen, the paused node goes on', () => {
  for (let seed = 0; seed < 20; seed++) {
    const choose = longPauses(new Random(seed), enabled => enabled[0])
    expect(choose([resume])).toBe(resume)
  }
})

test('without a paused node it draws nothing', () => {
  const [random, other] = [new Random(1), new Random(1)]
  expect(longPauses(random, enabled => enabled[0])([timer, pause])).toBe(timer)
  expect(random.next()).toBe(other.next())
})
