import type { Choice } from '../../../checker/system/system.ts'
import { millisecond, type Nanoseconds } from '../../hold/clock/virtual-clock.ts'
import type { Node } from '../../node/node.ts'
import { type InputOption, inputOption } from './deliveries.ts'
import type { Moment } from './moment.ts'

/** When a node's earliest timer is due, by its own clock; undefined if none can fire. */
export const deadlineOf = ({ isAlive, isPaused, held }: Node): Nanoseconds | undefined =>
  isAlive && !isPaused ? held!.earliestDeadline() : undefined

/**
 * A node's timer may fire if no other clock would be left further behind than the allowed skew, and no message would be
 * in flight for longer than allowed.
 */
export const timers = (moment: Moment): InputOption[] => {
  const { system, nodes, areInputsLocal, delayMsMax, skewMsMax, cutAt } = moment
  const isCutLong = cutAt !== undefined && system.cutMsMin > 0
  const isBounded = Math.min(skewMsMax, delayMsMax) < Number.POSITIVE_INFINITY || isCutLong
  const latest = latestIn(moment)
  const options: InputOption[] = []
  for (const [index, node] of nodes.entries()) {
    const deadline = deadlineOf(node)
    if (deadline === undefined || deadline > latest) continue
    if (isBounded && isTooLate(moment, index, deadline)) continue
    options.push(timer(node, deadline, areInputsLocal && !isBounded))
  }
  return options
}

/** The latest deadline that the allowed skew lets fire. */
const latestIn = ({ nodes, skewMsMax }: Moment): Nanoseconds =>
  skewMsMax === Number.POSITIVE_INFINITY ? skewMsMax : earliestOf(nodes) + skewMsMax * millisecond

/** Whether a message would be in flight for longer than allowed when the `index`-th node's clock shows `deadline`. */
const isTooLate = ({ delays, delayMsMax }: Moment, index: number, deadline: Nanoseconds): boolean =>
  delays.at(index, deadline) > delayMsMax * millisecond

/** A timer that may not fire yet, because of a bound of the configuration. */
export interface HeldBack {
  readonly node: string
  readonly by: 'delay' | 'clocks'
  /** In how many milliseconds of its clock it is due. */
  readonly afterMs: number
}

/** The timers that a bound holds back in this moment. */
export const heldBackIn = (moment: Moment): HeldBack[] => {
  const latest = latestIn(moment)
  return moment.nodes.flatMap((node, index): HeldBack[] => {
    const deadline = deadlineOf(node)
    if (deadline === undefined) return []
    const by = deadline > latest ? 'clocks' : isTooLate(moment, index, deadline) ? 'delay' : undefined
    return by === undefined ? [] : [{ node: node.name, by, afterMs: shownMs(node, deadline) }]
  })
}

/** The earliest deadline of all nodes' timers, each by its own clock; Infinity if there is none. */
export const earliestOf = (nodes: readonly Node[]): Nanoseconds => {
  let earliest = Number.POSITIVE_INFINITY
  for (const node of nodes) earliest = Math.min(earliest, deadlineOf(node) ?? Number.POSITIVE_INFINITY)
  return earliest
}

interface TimerOption {
  readonly deadline: Nanoseconds
  /** Due time on its clock. */
  readonly elapsed: Nanoseconds
  readonly made: InputOption
}

const timerOptions = new WeakMap<Node, TimerOption>()

export const timer = (node: Node, deadline: Nanoseconds, isLocal: boolean): InputOption => {
  const { elapsed } = node.clock
  const before = timerOptions.get(node)
  if (before?.deadline === deadline && before.elapsed === elapsed && before.made.choice.isLocal === isLocal)
    return before.made
  const choice: Choice = {
    kind: 'timer',
    node: node.name,
    label: timerLabel(node, deadline),
    subject: 'timer',
    numbers: [shownMs(node, deadline)],
    isLocal,
    afterMs: afterMs(node, deadline),
  }
  const made = inputOption(choice, { timer: node })
  timerOptions.set(node, { deadline, elapsed, made })
  return made
}

const afterMs = (node: Node, deadline: Nanoseconds): number => Math.max(0, deadline - node.clock.elapsed) / millisecond

const shownMs = (node: Node, deadline: Nanoseconds): number => Number(afterMs(node, deadline).toFixed(3))

/** The label of the choice that fires a node's earliest timer. */
export const timerLabel = (node: Node, deadline: Nanoseconds) => `${node.name} timer +${shownMs(node, deadline)}ms`
