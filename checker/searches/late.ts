import type { Experience } from './experience.ts'
import type { Search } from './search.ts'
import { surpriseWalk, walkSearch } from './walks.ts'

/** How long a system has been running where the walk towards races begins: some surprises do harm only then. */
const warmUpLengths = [0, 0, 16, 32, 64, 128] as const

/** Walks towards races where ways are slow, after a straight beginning. */
export const lateSearch = (experience: Experience, round: () => number): Search =>
  walkSearch('late', experience, round, random => {
    const length = random.pick(warmUpLengths)
    const warmUp = { chooser: 'straight', seed: random.seed(), length } as const
    return [warmUp, surpriseWalk(random, 'late race')]
  })
