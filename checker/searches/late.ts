import type { Experience } from './experience.ts'
import type { Search } from './search.ts'
import { surpriseWalk, walkSearch } from './walks.ts'

/**
 * Number of straight steps before the walk towards races begins. Some surprises do harm only after a system has run for
 * a while.
 */
const warmUpLengths = [0, 0, 16, 32, 64, 128] as const

/** Walks towards races on slow links, after a straight beginning. */
export const lateSearch = (experience: Experience, round: () => number): Search =>
  walkSearch('late', experience, round, random => {
    const length = random.pick(warmUpLengths)
    const warmUp = { chooser: 'straight', seed: random.seed(), length } as const
    return [warmUp, surpriseWalk(random, 'late race')]
  })
