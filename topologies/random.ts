import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64'
import { mersenne } from 'pure-rand/generator/mersenne'

/** Uniform in [0, 1); the interface of `Math.random`. */
export type UniformRandom = () => number

export interface SeededRandom extends UniformRandom {
  /** Another one that goes on with the same numbers. */
  copy(): SeededRandom
}

/** The same seed gives the same numbers. Only its lowest 32 bits count. */
export const seededRandom = (seed: number): SeededRandom => {
  // Mersenne Twister mixes its seed. With small seeds, the first numbers of xoroshiro128+ are all near 0 or 1.
  return drawnFrom(mersenne(seed))
}

const drawnFrom = (generator: ReturnType<typeof mersenne>): SeededRandom =>
  Object.assign(() => uniformFloat64(generator), { copy: () => drawnFrom(generator.clone()) })

/** A uniform integer in [0, limit). */
export const below = (random: UniformRandom, limit: number): number => Math.floor(random() * limit)

/** `count` different elements in uniformly random order, or all of them if there are fewer. */
export const sample = <T>(random: UniformRandom, list: readonly T[], count = list.length): T[] => {
  const drawn = [...list]
  const length = Math.min(count, drawn.length)
  for (let i = 0; i < length; i++) {
    const j = i + below(random, drawn.length - i)
    ;[drawn[i], drawn[j]] = [drawn[j]!, drawn[i]!]
  }
  return drawn.slice(0, length)
}

/** An index in [first, end) with a probability proportional to its weight; `undefined` if no weight is above zero. */
export const weightedIndex = (
  random: UniformRandom,
  first: number,
  end: number,
  weight: (index: number) => number,
): number | undefined => {
  let total = 0
  for (let index = first; index < end; index++) total += weight(index)
  let point = random() * total
  let last: number | undefined
  for (let index = first; index < end; index++) {
    const each = weight(index)
    if (each === 0) continue
    last = index
    point -= each
    if (point < 0) break
  }
  return last
}
