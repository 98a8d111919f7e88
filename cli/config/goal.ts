import { counted } from '../../checker/brief.ts'
import type { Properties } from '../../checker/cells/executor.ts'
import { select } from '../../checker/check.ts'
import { always } from '../../checker/property.ts'
import type { Verdict } from '../../checker/verdict/verdict.ts'
import type { GlobalState, Goal, ResolvedSystem } from '../../harness/config.ts'

import { type CheckOptions, timeOf } from '../options.ts'

/** What a search looks for: violations of all properties or of one, or the goal. */
export interface Sought {
  readonly property?: string | undefined
  readonly isGoal?: boolean | undefined
}

const goalName = 'goal'

/** Whether crashes and divergences only end an execution, because something else is looked for. */
export const allowsFindings = ({ property, isGoal }: Sought): boolean => property !== undefined || isGoal === true

/** The properties to evaluate. A goal becomes the property that it is never reached. */
export const propertiesFor = (
  { properties, goal }: ResolvedSystem,
  { property, isGoal }: Sought,
): Properties<GlobalState> =>
  isGoal && goal ? { [goalName]: always(state => !goal.holds(state)) } : select(properties, property)

/** Share of the budget for reaching the goal. A larger one leaves little for the search that begins there. */
const share = 0.5

/** The options of the search for the goal. */
export const towardsGoal = (options: CheckOptions): CheckOptions & Sought => {
  const { executions } = options
  const time = timeOf(options)
  return {
    ...options,
    isGoal: true,
    ...(time !== undefined && { milliseconds: time * share }),
    ...(executions !== undefined && { executions: Math.max(1, Math.floor(executions * share)) }),
  }
}

/** The options of a search that begins at the goal, or at the start if the goal was not reached. */
export const fromGoal = (options: CheckOptions, found: Verdict): CheckOptions => {
  const { executions, seed = 1 } = options
  const time = timeOf(options)
  return {
    ...options,
    ...(time !== undefined && { milliseconds: Math.max(time * share, time - 1000 * found.seconds) }),
    ...(executions !== undefined && { executions: Math.max(1, executions - found.executions) }),
    // Nodes must draw the same numbers as on the way to the goal. A variant is an offset of the seed.
    ...(isReached(found) && { from: found.schedule, seed: seed + found.variant }),
  }
}

const isReached = ({ verdict, property }: Verdict) => verdict === 'violated' && property === goalName

/** A note on the search for the goal. */
export const describeGoal = ({ name }: Goal, found: Verdict): string =>
  isReached(found)
    ? `executions began where "${name}" holds, after ${counted(found.schedule.length, 'step')}: found in ${counted(found.executions, 'execution')}`
    : `"${name}" was not reached in ${counted(found.executions, 'execution')}${found.verdict === 'held' ? '' : ` (${found.message})`}: executions began at the start`
