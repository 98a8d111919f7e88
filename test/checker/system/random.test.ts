import { describe, expect, it } from 'vitest'
import { Random } from '../../../checker/system/random.ts'

const words = (random: Random, count: number) => Array.from({ length: count }, () => random.next() * 2 ** 32)

describe('Random', () => {
  it('is sfc32, seeded in one word and mixed by twelve outputs', () => {
    // Computed by an implementation of its own, in another language.
    expect(words(new Random(1), 4)).toEqual([1299785925, 4001059704, 2906380172, 1047107358])
    expect(words(new Random(42), 4)).toEqual([3578742640, 3751902994, 1877406420, 2686069954])
  })

  it('gives forks that do not depend on what is drawn from one another', () => {
    const one = new Random(7)
    const other = new Random(7)
    words(one.fork(), 5)
    other.fork()
    expect(words(one.fork(), 3)).toEqual(words(other.fork(), 3))
  })

  it('draws integers over the whole range and never the limit', () => {
    const random = new Random(3)
    expect(new Set(Array.from({ length: 200 }, () => random.below(4)))).toEqual(new Set([0, 1, 2, 3]))
  })

  it('chooses by weight, and never what has none', () => {
    const random = new Random(5)
    const counts = { a: 0, b: 0, c: 0 }
    for (let i = 0; i < 4000; i++) {
      const drawn = random.weighted(['a', 'b', 'c'] as const, name => ({ a: 3, b: 0, c: 1 })[name])
      counts[drawn!] += 1
    }
    expect(counts.b).toBe(0)
    // 3000 expected; four standard deviations are 110.
    expect(Math.abs(counts.a - 3000)).toBeLessThan(110)
  })

  it('chooses nothing where nothing has a weight', () => {
    expect(new Random(1).weighted(['a', 'b'], () => 0)).toBeUndefined()
    expect(new Random(1).weighted([], () => 1)).toBeUndefined()
  })

  it('refuses to pick from nothing', () => {
    expect(() => new Random(1).pick([])).toThrow('cannot pick from an empty list')
  })
})
