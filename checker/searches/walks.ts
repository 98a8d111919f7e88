import type { ChooserName, Walk } from '../choosers/chooser.ts'
import type { Random } from '../random.ts'
import type { Experience } from './experience.ts'
import { Counted, type Search, type SearchName } from './search.ts'

// A reset of real processes costs some hundred steps, so short walks save little; but short schedules shrink fast.
const lengths = [32, 64, 128, 256] as const

/** Walks take turns with what the nodes draw by chance: some violations need other numbers. */
export const variants = 4

/** A walk with faults and overlaps, of a length that is drawn. */
export const surpriseWalk = (random: Random, chooser: ChooserName): Walk => {
  const length = random.pick(lengths)
  return { chooser, seed: random.seed(), length }
}

/** A search that does one walk after the other, each from the initial state and on its own. */
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
      // A schedule that each execution begins with was recorded with the first random numbers.
      const variant = experience.hasBegin ? 0 : round() % variants
      return experience.executionOf({ search: name, variant, walks })
    },
    learn: (_, came) => {
      if ('schedule' in came) counted.count(came)
    },
    coverage: () => counted.coverage,
  }
}
