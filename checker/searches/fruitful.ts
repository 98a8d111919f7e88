import type { TaskOutcome } from '../cells/task.ts'
import type { Diverged } from '../system/errors.ts'
import { labelsOf } from '../system/labels.ts'
import { Random } from '../system/random.ts'
import { type Start, startAfter } from '../system/start.ts'
import type { Experience } from './experience.ts'
import { Counted, type RequestedExecution, type Search } from './search.ts'
import { surpriseWalk, variantIn } from './walks.ts'

/**
 * Only the latest beginnings are kept, because they lead to the newest states. With more, old ones would take turns
 * away from these.
 */
const keptMax = 32

/** Where an execution begins, and the random numbers with which that was reached. */
interface Beginning {
  readonly start: Start
  readonly variant: number
}

/**
 * Walks towards races, half of which begin where something new was met and half at the start. It is coverage-guided
 * fuzzing as known for program inputs (Böhme, Pham, Roychoudhury, "Coverage-Based Greybox Fuzzing as Markov Chain", CCS
 * 2016), with new states in place of new branches.
 */
export const fruitfulSearch = (experience: Experience, round: () => number): Search => {
  const counted = new Counted('fruitful', experience.met)
  const random = new Random(1)
  const kept: Beginning[] = []
  const begun = new Map<RequestedExecution, number>()
  return {
    name: 'fruitful',
    next: () => {
      const isFromStart = kept.length === 0 || random.below(2) === 0
      const own = { start: experience.begin, variant: experience.hasBegin ? 0 : variantIn(round()) }
      const { start, variant } = isFromStart ? own : random.pick(kept)
      const walks = (random: Random) => [surpriseWalk(random, 'race')]
      const execution = experience.executionOf({ search: 'fruitful', variant, start, walks })
      begun.set(execution, variant)
      return execution
    },
    learn: (execution: RequestedExecution, came: TaskOutcome | Diverged) => {
      const variant = begun.get(execution)!
      begun.delete(execution)
      if (!('schedule' in came)) return
      // Steps after the walk with surprises only look for a live state, so they are not counted.
      const end = came.toLive?.begin ?? came.schedule.length
      const isNew = (state: string | undefined) => state !== undefined && !experience.met.has(state)
      const last = came.fingerprints.slice(0, end + 1).findLastIndex(isNew)
      counted.count(came)
      if (last <= came.arrival.steps || came.violation) return
      kept.push({ start: startAfter(labelsOf(came.schedule.slice(0, last))), variant })
      if (kept.length > keptMax) kept.shift()
    },
    coverage: () => counted.coverage,
  }
}
