import type { Experience } from './experience.ts'
import type { Search } from './search.ts'
import { surpriseWalk, walkSearch } from './walks.ts'

/** Walks towards races: see `choosers/race.ts`. */
export const raceSearch = (experience: Experience, round: () => number): Search =>
  walkSearch('race', experience, round, random => [surpriseWalk(random, 'race')])
