import type { Experience } from './experience.ts'
import type { Search } from './search.ts'
import { surpriseWalk, walkSearch } from './walks.ts'

/** Walks that weigh choices by kind. Each walk draws its own weights. */
export const weightedSearch = (experience: Experience, round: () => number): Search =>
  walkSearch('weighted', experience, round, random => [surpriseWalk(random, 'swarm')])
