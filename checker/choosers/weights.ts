import { isRepair, repairKinds } from '../happening/kinds.ts'
import { withoutFarTimers } from '../system/far-timers.ts'
import type { Random } from '../system/random.ts'
import type { Choice, ChoiceKind } from '../system/system.ts'
import type { Chooser } from './chooser.ts'

/** How likely a walk takes a choice of each kind. Only the ratios matter. */
export interface Weights {
  readonly client: number
  readonly deliver: number
  readonly timer: number
  readonly overlap: number
  readonly divide: number
  /** All faults together. */
  readonly fault: number
  /** Restarting a node and healing a partition, which end faults. */
  readonly repair: number
}

export const defaultWeights: Weights = {
  client: 8,
  deliver: 4,
  timer: 1,
  overlap: 0.5,
  divide: 0.2,
  fault: 0.2,
  repair: 1,
}

type Group = keyof Weights

const groups: Partial<Record<ChoiceKind, Group>> = {
  client: 'client',
  deliver: 'deliver',
  timer: 'timer',
  overlap: 'overlap',
  divide: 'divide',
}

const groupOf = ({ kind }: Choice): Group => groups[kind] ?? (isRepair(kind) ? 'repair' : 'fault')

/**
 * Weighs choices by kind (MaceMC, section 4.3).
 *
 * Each delivery has its full weight, so that a network with many messages in flight drains; if all deliveries shared
 * one weight, a system that sends five messages for each timer would drown in them. Choices of any other kind share one
 * weight: otherwise thirty timers would drown one delivery.
 *
 * In each step, every enabled choice with a weight above zero has a chance. So an endless walk is fair with probability
 * 1.
 */
export const weighted =
  (random: Random, weights: Weights): Chooser =>
  enabled => {
    const sizes = new Map<Group, number>()
    for (const choice of enabled) sizes.set(groupOf(choice), (sizes.get(groupOf(choice)) ?? 0) + 1)
    return random.weighted(enabled, choice => {
      const group = groupOf(choice)
      return group === 'deliver' ? weights.deliver : weights[group] / sizes.get(group)!
    })
  }

/** These weights, by which no fault is drawn. Restarts and heals stay possible. */
export const withoutFaults = (weights: Weights): Weights => ({ ...weights, fault: 0 })

/**
 * The straight way, for which systems are built: calls begin, messages arrive in the order in which they were sent, and
 * timers fire once nothing is in flight, far ones last. In most systems it is the shortest path to a live state. One step in sixteen
 * is weighted instead, so that two nodes which send to each other for ever do not starve the timers.
 */
export const straight = (random: Random, weights: Weights): Chooser => {
  const fair = weighted(random, withoutFaults(weights))
  const first = [...repairKinds, 'client', 'deliver'] as const
  return enabled => {
    if (random.below(16) === 0) return fair(enabled)
    for (const kind of first) {
      const choice = enabled.find(each => each.kind === kind)
      if (choice) return choice
    }
    return fair(withoutFarTimers(enabled))
  }
}

/**
 * The straight way, but messages that are in flight at its beginning are delayed until nothing else can happen. By the
 * time old messages arrive, the system may have recovered from what they would break.
 */
export const fresh = (random: Random, weights: Weights): Chooser => {
  const go = straight(random, weights)
  let old: ReadonlySet<string> | undefined
  return enabled => {
    old ??= new Set(enabled.filter(({ kind }) => kind === 'deliver').map(({ label }) => label))
    const isOld = ({ label }: Choice) => old!.has(label)
    const others = enabled.filter(choice => !(choice.joins ?? [choice.whole ?? choice]).some(isOld))
    return go(others) ?? go(enabled)
  }
}

/**
 * Draws other weights for each walk, up to eight times heavier or lighter for each kind. Bugs that need many timers,
 * late messages or an early overlap are hidden from the average walk, but not from all of these. Source: Groce, Zhang,
 * Eide, Chen, Regehr, "Swarm Testing", ISSTA 2012.
 */
export const swarm = (random: Random, weights: Weights): Weights => {
  const { divide, ...others } = weights
  const factor = () => 8 ** (2 * random.next() - 1)
  // Both deviations have the same factor.
  let ofOverlap = 1
  const drawn = Object.entries(others).map(([kind, weight]) => {
    const drawn = factor()
    if (kind === 'overlap') ofOverlap = drawn
    return [kind, weight * drawn]
  })
  return { ...(Object.fromEntries(drawn) as Omit<Weights, 'divide'>), divide: divide * ofOverlap }
}
