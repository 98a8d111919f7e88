import type { ChooserName, Walk } from '../choosers/chooser.ts'
import type { Random } from '../system/random.ts'
import type { Experience } from './experience.ts'
import { Counted, type Search, type SearchName } from './search.ts'

// Resetting real processes costs about a hundred steps, so shorter walks save little; but violations in short walks
// shrink faster.
const lengths = [32, 64, 128, 256] as const

/**
 * Number of variants of random numbers that walks alternate between. Some violations need other numbers. With more
 * variants, each would get fewer walks.
 */
const variants = 4
/** In so many rounds, walks have the first: each other one costs new starts, which a short check would not get back. */
const roundsOfFirst = 10

export const variantIn = (round: number): number => Math.max(0, round + 1 - roundsOfFirst) % variants

/** A walk of random length, with faults and overlaps. */
export const surpriseWalk = (random: Random, chooser: ChooserName): Walk => {
  const length = random.pick(lengths)
  return { chooser, seed: random.seed(), length }
}

/** A search of independent walks, each from the initial state. */
export const walkSearch = (
  name: SearchName,
  experience: Experience,
  round: () => number,
  walks: (random: Random) => readonly Walk[],
): Search => {
  const counted = new Counted(name, experience.met)
  return {
    name,
    next: () => {
      // A given schedule was recorded with variant 0.
      const variant = experience.hasBegin ? 0 : variantIn(round())
      return experience.executionOf({ search: name, variant, walks })
    },
    learn: (_, came) => {
      if ('schedule' in came) counted.count(came)
    },
    coverage: () => counted.coverage,
  }
}
