import type { Experience } from './experience.ts'
import type { Search } from './search.ts'
import { surpriseWalk, walkSearch } from './walks.ts'

/** Walks by random priorities: probabilistic concurrency testing. */
export const prioritySearch = (experience: Experience, round: () => number): Search =>
  walkSearch('priority', experience, round, random => [surpriseWalk(random, 'priorities')])
