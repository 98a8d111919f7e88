import type { Executor } from './executor.ts'
import type { Random } from './random.ts'
import { follow } from './schedule.ts'
import { walk } from './walk.ts'
import { straight, type Weights, weighted, withoutFaults } from './weights.ts'

/** The step after which recovery is impossible. */
export interface CriticalTransition {
  /** Counted from 1; 0: the initial state is dead already. */
  readonly step: number
  readonly label: string
  /** `C1`: the execution enters a dead state there. `C2`: its walks were too short to tell. */
  readonly case: 'C1' | 'C2'
  /** Walks from the state after it, none of which recovered. */
  readonly walks: number
}

export interface CriticalSearch {
  readonly critical: CriticalTransition
  /** The live execution found with the longest common prefix. */
  readonly closestLive: readonly string[] | undefined
}

export interface CriticalOptions {
  /** The liveness property. */
  readonly property: string
  /** The violating execution, and the last step of it after which it was live (0: never). */
  readonly schedule: readonly string[]
  readonly lastLive: number
  readonly walkLength: number
  /** Walks behind the answer; MaceMC's k. */
  readonly walks: number
  readonly random: Random
  readonly weights: Weights
}

/** Walks of one position while the search is still narrowing; the answer is tested with all of them. */
const walksWhileNarrowing = 8

/**
 * Finds the critical transition of an execution (MaceMC, algorithm 3): doubles the distance from the last live state
 * until no walk recovers, then searches between the last position that recovered and the first that did not. The
 * answer is tested again with fresh walks, and moved on while one of them recovers.
 *
 * A state that recovers with probability p is called dead with probability (1-p)^k.
 *
 * @returns undefined where the end of the execution itself recovers: it was only slow
 */
export const findCriticalTransition = async <State>(
  executor: Executor<State>,
  options: CriticalOptions,
): Promise<CriticalSearch | undefined> => {
  const { schedule, lastLive } = options
  const recovery = new Recovery(executor, options)
  const upper = await firstDead(recovery, lastLive, schedule.length)
  if (upper === undefined) return undefined
  let position = await narrow(recovery, upper.recovered, upper.dead)
  while (position < schedule.length && (await recovery.recovers(position, options.walks))) position += 1
  if (await recovery.recovers(position, options.walks)) return undefined
  // Dead only in its second half: it had no time to recover (case C2 of the paper), unless nothing can happen any more.
  const isLate = position - lastLive > (schedule.length - lastLive) / 2 && !recovery.isTerminal
  const isDeadFromStart = position === 0
  return {
    critical: {
      step: position,
      label: schedule[position - 1] ?? '',
      case: isLate || isDeadFromStart ? 'C2' : 'C1',
      walks: options.walks,
    },
    closestLive: recovery.closestLive,
  }
}

const firstDead = async <State>(recovery: Recovery<State>, lastLive: number, end: number) => {
  let recovered = lastLive
  if (lastLive === 0 && !(await recovery.recovers(0, walksWhileNarrowing))) return { recovered: 0, dead: 0 }
  for (let distance = 1; ; distance *= 2) {
    const position = Math.min(lastLive + distance, end)
    if (!(await recovery.recovers(position, walksWhileNarrowing))) return { recovered, dead: position }
    if (position === end) return undefined
    recovered = position
  }
}

/** The first dead position after `recovered`, up to `dead`. */
const narrow = async <State>(recovery: Recovery<State>, recovered: number, dead: number): Promise<number> => {
  let [low, high] = [recovered, dead]
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (await recovery.recovers(middle, walksWhileNarrowing)) low = middle
    else high = middle
  }
  return high
}

/** Walks from positions of an execution. */
class Recovery<State> {
  readonly #executor: Executor<State>
  readonly #options: CriticalOptions
  /** The walk that recovered with the longest common prefix. */
  closestLive: readonly string[] | undefined
  #closest = -1
  /** Whether every walk of the last position tested ended because nothing was enabled. */
  isTerminal = false

  constructor(executor: Executor<State>, options: CriticalOptions) {
    this.#executor = executor
    this.#options = options
  }

  /** Whether one of `walks` walks from the state after `position` steps comes to a live state. */
  async recovers(position: number, walks: number): Promise<boolean> {
    this.isTerminal = true
    for (let index = 0; index < walks; index++) {
      const end = await this.#walk(position, index)
      if (end === 'goal') {
        this.#remember(position)
        return true
      }
      if (end !== 'terminal') this.isTerminal = false
      // The same few steps to the end of everything, whichever way: one look is enough.
      else if (this.#executor.schedule.length === position) return false
    }
    return false
  }

  async #walk(position: number, index: number) {
    const { property, schedule, walkLength, random, weights } = this.#options
    const executor = this.#executor
    await executor.reset()
    await follow(executor, schedule.slice(0, position))
    const fair = withoutFaults(weights)
    // The kind that recovers soonest comes first.
    const policy = index === 0 ? straight(random, fair) : weighted(random, fair)
    return walk(executor, policy, walkLength, () => executor.schedule.length > position && executor.isLive(property))
  }

  #remember(position: number): void {
    if (position <= this.#closest) return
    this.#closest = position
    this.closestLive = this.#executor.labels()
  }
}
