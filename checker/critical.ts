import type { Executor } from './executor.ts'
import type { Random } from './random.ts'
import { follow } from './schedule.ts'
import { walk } from './walk.ts'
import { type Policy, straight, swarm, type Weights, weighted, withoutFaults } from './weights.ts'

export interface CriticalOptions {
  /** The liveness property. */
  readonly property: string
  /** How many walks must fail to recover before a state is called dead. */
  readonly walks: number
  /** Steps of a walk at first, and at most: it doubles where walks turn out to be too short to tell. */
  readonly walkLength: number
  readonly walkLengthMax: number
  readonly weights: Weights
  readonly random: Random
}

/**
 * `transient`: the execution can recover from its end, and violates nothing. `C1`: it is dead from the critical
 * transition on. `C2`: the walks are too short to tell, even at their greatest length.
 */
export type Critical =
  | { readonly case: 'transient'; readonly schedule: readonly string[] }
  | {
      readonly case: 'C1' | 'C2'
      /** The first dead state is the one after this step; 0 is the initial state. */
      readonly step: number
      /** Walks that started there, of which none recovered. */
      readonly walks: number
      /** Steps of each, at most. */
      readonly walkLength: number
      /** The execution examined; longer than it was where it had to be continued. */
      readonly schedule: readonly string[]
      /** A live execution with the longest prefix in common: it leaves the other at the critical transition. */
      readonly closestLive: readonly string[] | undefined
    }

/**
 * Finds the step after which recovery is impossible (MaceMC, algorithm 3), in an execution that is not live at its end.
 *
 * Positions after the last live one are tried at doubling distance until `walks` random walks all fail to recover, then
 * by halving. A position that recovered is proven, and with it all before it; one that did not is believed dead with
 * few walks at first, and the answer is tested again with the full number of fresh ones before it is given.
 *
 * Walks take no faults: what a fault would do to the system must not be what keeps it from living.
 */
export const findCriticalTransition = async <State>(
  executor: Executor<State>,
  suspect: readonly string[],
  options: CriticalOptions,
): Promise<Critical> => {
  const { property, walks, walkLengthMax } = options
  const scouts = Math.ceil(walks / 3)
  let schedule = suspect
  let walkLength = Math.min(options.walkLength, walkLengthMax)
  const end = await examineEnd(executor, schedule, options)

  const recover = async (step: number, count: number) => {
    const found = await recovers(executor, schedule.slice(0, step), { ...options, walks: count, walkLength })
    if (found.live) closestLive = found.live
    return found
  }

  // The last state known to recover, and the first believed dead.
  let recoverable = end.lastLive
  let dead: number | undefined
  let closestLive: readonly string[] | undefined = recoverable === undefined ? undefined : schedule.slice(0, recoverable)
  const answer = (kind: 'C1' | 'C2', step: number, count: number): Critical => {
    return { case: kind, step, walks: count, walkLength, schedule, closestLive }
  }

  const atEnd = await recover(schedule.length, scouts)
  if (atEnd.live) return { case: 'transient', schedule: atEnd.live }

  while (recoverable === undefined) {
    const found = await recover(0, walks)
    if (found.live) recoverable = 0
    else if (found.terminal === walks) return answer('C1', 0, walks)
    else if (walkLength * 2 > walkLengthMax) return answer('C2', 0, walks)
    else walkLength *= 2
  }

  for (;;) {
    for (let distance = 1; dead === undefined; distance *= 2) {
      const step: number = Math.min(recoverable + distance, schedule.length)
      const tooLate = !end.terminal && step > schedule.length / 2
      if (tooLate) {
        if (walkLength * 2 > walkLengthMax) return answer('C2', step, 0)
        walkLength *= 2
        const longer = await prolong(executor, schedule, options)
        if (longer.live) return { case: 'transient', schedule: longer.schedule }
        schedule = longer.schedule
        end.terminal = longer.terminal
      }
      if ((await recover(step, scouts)).live) recoverable = step
      else dead = step
    }
    while (dead - recoverable > 1) {
      const middle: number = Math.floor((dead + recoverable) / 2)
      if ((await recover(middle, scouts)).live) recoverable = middle
      else dead = middle
    }
    const last = await recover(dead, walks)
    if (!last.live) return answer('C1', dead, walks)
    recoverable = dead
    dead = undefined
  }
}
