import type { Cells } from '../cells/cells.ts'
import type { TaskOutcome } from '../cells/task.ts'
import { isFault } from '../happening/kinds.ts'
import { BudgetSpent, type SearchLimits } from '../system/budget.ts'
import { Diverged } from '../system/errors.ts'
import { startAfter } from '../system/start.ts'
import type { Choice } from '../system/system.ts'
import type { Overtaking } from './verdict.ts'

/** Whether a schedule, executed as far as it is enabled, still comes to what was found. */
type IsMet = (labels: readonly string[], cells: Cells) => Promise<boolean>

/**
 * The overtakings that a finding depends on, in the order of their steps; `undefined` if the limits end the search before
 * one is found. Each is the result of an experiment: the schedule is executed with the message delivered just before the
 * step. Of each message, the last step that it has to come before is named: until there, its delivery would have changed
 * the end.
 *
 * The schedule should be minimal: an order that does not matter is then rare.
 */
export const overtakingsIn = async (
  cells: Cells,
  schedule: readonly string[],
  isMet: IsMet,
  limits: SearchLimits,
): Promise<readonly Overtaking[] | undefined> => {
  const found: Overtaking[] = []
  const inOrder = () => found.sort((one, other) => one.step - other.step)
  try {
    const within = cells.within(limits)
    const executed = await within.run({ start: startAfter(schedule) })
    for (const candidates of candidatesIn(executed)) {
      const decisive = await firstDecisive(within, schedule, candidates, isMet)
      if (decisive) found.push(decisive)
    }
    return inOrder()
  } catch (error) {
    if (!(error instanceof BudgetSpent || error instanceof Diverged)) throw error
    return found.length > 0 ? inOrder() : undefined
  }
}

/** Messages that are tried at most. More would be a list that nobody reads. */
const messagesMax = 24

/** For each message that was overtaken, by which steps, the last one first. The message overtaken last comes first. */
const candidatesIn = (executed: TaskOutcome): (readonly Overtaking[])[] =>
  waitingIn(executed)
    .map(message => overtakenBy(executed, message))
    .filter(by => by.length > 0)
    .sort((one, other) => other[0]!.step - one[0]!.step)
    .slice(0, messagesMax)

/** A message, with when it could first be delivered and when it was. */
interface Waiting extends Pick<Overtaking, 'since' | 'delivered'> {
  readonly choice: Choice
}

const waitingIn = ({ schedule, arrival }: TaskOutcome): Waiting[] => {
  const delivered = schedule.map((choice, place) => ({
    choice,
    since: arrival.offered[place]!,
    delivered: place + 1,
  }))
  const inFlight = arrival.enabled.map((choice, index) => ({ choice, since: arrival.since[index]!, delivered: null }))
  return [...delivered, ...inFlight].filter(({ choice }) => choice.kind === 'deliver')
}

const overtakenBy = ({ schedule, arrival }: TaskOutcome, { choice, since, delivered }: Waiting): Overtaking[] =>
  schedule
    .slice(0, (delivered ?? Number.POSITIVE_INFINITY) - 1)
    .flatMap((first, place) =>
      isOvertaking(first, choice) && place >= since && (first.kind === 'timer' || arrival.offered[place]! > since)
        ? [{ step: place + 1, label: first.label, overtaken: choice.label, since, delivered }]
        : [],
    )
    .reverse()

/** A connection keeps its order, so nothing overtakes within it. */
const isOvertaking = (first: Choice, { node, from, to, connection }: Choice): boolean =>
  first.node === node &&
  !isFault(first.kind) &&
  !(connection !== undefined && first.connection === connection && first.from === from && first.to === to)

const firstDecisive = async (
  cells: Cells,
  schedule: readonly string[],
  candidates: readonly Overtaking[],
  isMet: IsMet,
): Promise<Overtaking | undefined> => {
  const untried = candidates.values()
  const tried = cells.inOrder(
    () => untried.next().value,
    (candidate, cells) => isMet(inOrderSent(schedule, candidate), cells),
  )
  for await (const [candidate, isStillMet] of tried) if (!isStillMet) return candidate
  return undefined
}

/** The schedule with the message delivered just before the step that overtook it. */
const inOrderSent = (schedule: readonly string[], { step, overtaken, delivered }: Overtaking): string[] => {
  const rest = delivered === null ? schedule : schedule.toSpliced(delivered - 1, 1)
  return rest.toSpliced(step - 1, 0, overtaken)
}
