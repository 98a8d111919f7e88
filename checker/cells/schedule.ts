import { Diverged, Unfaithful } from '../system/errors.ts'
import { type Described, labelsOf, readLabel } from '../system/labels.ts'
import { distanceTo, isAlikeInOutline, isLike } from '../system/likeness.ts'
import { narrowed } from '../system/narrowed.ts'
import type { Choice, ChoiceKind } from '../system/system.ts'
import type { Executor } from './executor.ts'
import { goOnHealthy, isHealthy } from './healthy.ts'

/** Executes exactly these labels. @throws Diverged at the first one that is not enabled */
export const follow = async <State>(executor: Executor<State>, labels: readonly string[]): Promise<void> => {
  for (const label of labels) {
    const offered = executor.offered()
    const choice = offered.find(each => each.label === label) ?? narrowed(offered, label)
    if (!choice) throw divergence(executor, label, offered)
    await executor.execute(choice)
  }
}

const divergence = <State>({ system, schedule }: Executor<State>, label: string, offered: readonly Choice[]) => {
  const step = schedule.length + 1
  const disturbance = system.processes?.disturbance()
  return disturbance === undefined
    ? new Diverged(step, label, labelsOf(offered))
    : new Unfaithful(step, label, disturbance, true)
}

/**
 * Executes these labels up to the first violation, skipping those that are not enabled in their turn. A network that
 * became healthy goes on by itself where they end, or are not enabled.
 *
 * @param onStep called after each step before the first skipped label
 *
 * @returns the places of the skipped labels, in their order
 */
export const attempt = async <State>(
  executor: Executor<State>,
  labels: readonly string[],
  onStep?: () => Promise<void>,
): Promise<number[]> => {
  const skipped: number[] = []
  for (const [place, label] of labels.entries()) {
    if (executor.violation) break
    const choice = findSimilar(executor.offered(), label)
    if (!choice && isHealthy(executor)) break
    if (choice) await executor.execute(choice)
    else skipped.push(place)
    if (skipped.length === 0) await onStep?.()
  }
  await goOnHealthy(executor)
  return skipped
}

/** The enabled choice that comes before a step that is not enabled yet. It may take steps out of what is left of the schedule. */
type First = (
  offered: readonly Choice[],
  wanted: Described,
  left: (Described & { readonly label: string })[],
) => Choice | undefined

/**
 * The same. Before a step that is not enabled yet, others come first. What is skipped is not returned, because it may
 * change what follows.
 *
 * @param firstMax a step waits for at most this many others
 */
const attemptAfter = async <State>(
  executor: Executor<State>,
  labels: readonly string[],
  firstMax: number,
  first: First,
): Promise<void> => {
  const left = labels.map(label => ({ label, ...readLabel(label) }))
  for (let wanted = left.shift(); wanted !== undefined; wanted = left.shift()) {
    for (let waited = 0; waited <= firstMax && !executor.violation; waited++) {
      const offered = executor.offered()
      const similar = findSimilar(offered, wanted.label, wanted)
      if (!similar && isHealthy(executor)) return goOnHealthy(executor)
      const choice = similar ?? first(offered, wanted, left)
      if (choice) await executor.execute(choice)
      if (similar || !choice) break
    }
  }
  await goOnHealthy(executor)
}

/**
 * A timer waits for at most this many steps. A node whose timer is gone would wait without end; with fewer, none could
 * wait for a node that ticks often.
 */
const soonerMax = 1000
/**
 * No timer waits where so much may happen: messages pile up that nobody delivers, and each step takes longer by the square of
 * their number.
 */
const offeredMax = 1000

/**
 * The same. If a timer must wait for messages to be delivered or for other timers, they come first, in the order in which
 * they are enabled.
 */
export const attemptPromptly = <State>(
  executor: Executor<State>,
  labels: readonly string[],
  sooner: readonly ChoiceKind[],
): Promise<void> =>
  attemptAfter(executor, labels, soonerMax, (offered, wanted) => {
    if (wanted.kind !== 'timer' || offered.length > offeredMax) return undefined
    return sooner.flatMap(kind => offered.filter(each => each.kind === kind))[0]
  })

/** At most this many timers are fired additionally before one step of a schedule. */
const moreTimersMax = 10

/**
 * Executes a schedule whose nodes draw other random numbers, so that timers are due at other times: a timer that is due
 * before a step fires before it. If the schedule has a timer of the same node later, that one is moved here.
 */
export const attemptShifted = <State>(executor: Executor<State>, labels: readonly string[]): Promise<void> =>
  attemptAfter(executor, labels, moreTimersMax, (offered, wanted, left) => {
    const timer = timerBefore(offered, wanted)
    const later = timer ? left.findIndex(each => isLike(timer, each)) : -1
    if (later >= 0) left.splice(later, 1)
    return timer
  })

/** For a message, the timer of its sender; for a timer that a bound holds back, that which is due first. */
const timerBefore = (offered: readonly Choice[], { kind, from }: Described): Choice | undefined => {
  const timers = offered.filter(choice => choice.kind === 'timer')
  if (from !== undefined) return timers.find(({ node }) => node === from)
  return kind === 'timer' ? timers.sort((one, other) => (one.afterMs ?? 0) - (other.afterMs ?? 0))[0] : undefined
}

/**
 * The enabled choice that is most similar to a recorded one. After earlier steps were skipped, later messages, terms
 * and connections have lower numbers, so the choice with nearly the same content is meant, and among these the one with
 * the nearest ordinal. If even the words differ, as with random identifiers, it is a message between the same nodes
 * with the same outline.
 */
const findSimilar = (
  enabled: readonly Choice[],
  label: string,
  wanted: Described = readLabel(label),
): Choice | undefined => {
  const one = narrowed(enabled, label)
  if (one) return one
  const same = enabled.filter(choice => isLike(choice, wanted))
  const similar = same.length > 0 ? same : enabled.filter(choice => isAlikeInOutline(choice, wanted))
  const distances = similar.map(choice => ({ choice, distance: distanceTo(choice, wanted) }))
  return distances.sort((one, other) => one.distance[0] - other.distance[0] || one.distance[1] - other.distance[1])[0]
    ?.choice
}
