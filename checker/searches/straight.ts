import type { Experience } from './experience.ts'
import { Counted, type Search } from './search.ts'

/** A straight way that fails so often is what disturbs, as by ending the program that executes it: others go on without. */
const triesMax = 3

/**
 * The way that systems are built for: calls begin, messages arrive in the order of their sending, timers fire once nothing
 * is in flight. Once is enough; it shows how far away a live state is.
 */
export const straightSearch = (experience: Experience): Search => {
  const counted = new Counted('straight', experience.met)
  let isAsked = false
  let triesLeft = triesMax
  return {
    name: 'straight',
    next: () => {
      if (isAsked || triesLeft === 0) return undefined
      isAsked = true
      triesLeft -= 1
      const walkLength = experience.firstLength
      return experience.executionOf({
        search: 'straight',
        walks: random =>
          experience.liveness.length > 0
            ? []
            : [{ chooser: 'straight', seed: random.seed(), length: experience.walkLength }],
        towardsLife: 'straight',
        walkLength,
      })
    },
    learn: (_, came) => {
      // One that does not count is done again, for all later lengths depend on it.
      if ('schedule' in came) counted.count(came)
      else isAsked = false
    },
    coverage: () => counted.coverage,
  }
}
