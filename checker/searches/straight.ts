import type { Experience } from './experience.ts'
import { Counted, type Search } from './search.ts'

/**
 * The way that systems are built for: calls begin, messages arrive in the order of their sending, timers fire once nothing
 * is in flight. Once is enough; it shows how far away a live state is.
 */
export const straightSearch = (experience: Experience): Search => {
  const counted = new Counted('straight', experience.met)
  let isAsked = false
  return {
    name: 'straight',
    next: () => {
      if (isAsked) return undefined
      isAsked = true
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
      // One that does not count is done again: all later lengths depend on it.
      if ('schedule' in came) counted.count(came)
      else isAsked = false
    },
    coverage: () => counted.coverage,
  }
}
