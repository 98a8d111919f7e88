import type { Experience } from './experience.ts'
import type { Search } from './search.ts'
import { walkSearch } from './walks.ts'

/** A pause may take dozens of timers, so shorter walks would end in their first one. */
const lengths = [128, 256] as const

/** Walks in which nodes wait for long between conversations. */
export const patientSearch = (experience: Experience, round: () => number): Search =>
  walkSearch('patient', experience, round, random => {
    const length = random.pick(lengths)
    return [{ chooser: 'long waits', seed: random.seed(), length }]
  })
