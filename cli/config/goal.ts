import type { Properties } from '../../checker/cells/executor.ts'
import { select } from '../../checker/cells/select.ts'
import { readsOf } from '../../checker/system/nearness.ts'
import { always, history, type Property } from '../../checker/system/property.ts'
import type { GlobalState, Goal, ResolvedSystem } from '../../harness/config/config.ts'

/** What a search looks for: violations of all properties or of one, or a goal. */
export interface Sought {
  readonly property?: string | undefined
  /** Index of the goal, which counts only after those before it. */
  readonly goal?: number | undefined
}

export const goalName = 'goal'

/** The violation of the property that a goal is never reached. */
export const reachesGoal = { kind: 'safety', property: goalName } as const

/** Whether crashes and divergences only end an execution, because something else is looked for. */
export const allowsFindings = ({ property, goal }: Sought): boolean => property !== undefined || goal !== undefined

/** The properties to evaluate. A goal becomes the property that it is never reached. */
export const propertiesFor = (
  { properties, goals }: Pick<ResolvedSystem, 'properties' | 'goals'>,
  { property, goal }: Sought,
): Properties<GlobalState> =>
  goal === undefined ? select(properties, property) : { [goalName]: neverReached(goals.slice(0, goal + 1)) }

/** That these goals are never reached one after the other. */
const neverReached = (goals: readonly Goal[]): Property<GlobalState> => {
  const last = goals.at(-1)!
  if (goals.length === 1)
    return { ...always<GlobalState>(state => !last.holds(state)), nearness: state => readsOf(last.holds, state) }
  const reached = (before: number | undefined, state: GlobalState): number => {
    let count = before ?? 0
    while (count < goals.length && goals[count]!.holds(state)) count += 1
    return count
  }
  return {
    ...always(history<GlobalState, number>(reached, (_, count) => count < goals.length)),
    nearness: (state, count) => (count === goals.length - 1 ? readsOf(last.holds, state) : 0),
  }
}
