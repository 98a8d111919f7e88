import type { Experience } from './experience.ts'
import { Counted, type Search } from './search.ts'

/**
 * After this many failures the straight way is given up: it may itself cause the disturbance, for instance by ending
 * the program that executes it.
 */
const triesMax = 3

/**
 * A call that never ends would otherwise make the first execution longer than all others: at the first of these it goes on
 * only if new states still appear.
 */
const [settlesFrom, stepsMax] = [256, 2_000]

/** Where even one execution takes longer than the check, as much of it is shown and judged as can be executed again. */
const timeShareMax = 1 / 3

/**
 * The way that systems are built for, in the order of a real network, to the end of all calls of clients at least. One
 * execution is enough. It shows how far away a live state is.
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
        walks: random => [
          {
            chooser: 'prompt',
            seed: random.seed(),
            length: experience.walkLength,
            // In a run that is searched beside it, clients call without end.
            ...(experience.begin.at === 'initial' && { callsMax: stepsMax }),
            settlesFrom,
          },
        ],
        towardsLife: 'straight',
        walkLength,
        timeShareMax,
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
