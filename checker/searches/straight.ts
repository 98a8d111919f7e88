import type { Experience } from './experience.ts'
import { Counted, type Search } from './search.ts'

/**
 * After this many failures the straight way is given up: it may itself cause the disturbance, for instance by ending
 * the program that executes it.
 */
const triesMax = 3

/**
 * The way that systems are built for: calls begin, messages arrive in the order in which they were sent, and timers
 * fire once nothing is in flight. One execution is enough. It shows how far away a live state is.
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
      // Repeat it until one execution counts: all later lengths depend on it.
      if ('schedule' in came) counted.count(came)
      else isAsked = false
    },
    coverage: () => counted.coverage,
  }
}
