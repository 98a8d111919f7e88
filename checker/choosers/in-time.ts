import { isRepair } from '../happening/kinds.ts'
import type { Random } from '../system/random.ts'
import type { Choice } from '../system/system.ts'
import { type Chooser, firstBy } from './chooser.ts'
import { CommonClock } from './common-clock.ts'
import { Delays } from './delays.ts'
import { FaultTimes } from './fault-times.ts'

/**
 * A walk that keeps time, as the system would by itself. Timers fire in the order of one clock; each message takes the
 * delay of its way, on a network that is drawn for the walk (`Delays`). A fault happens in the first seconds, and
 * mostly a second one soon after (`FaultTimes`); some connections of its node hold back for seconds what they carry. So
 * peers learn of it at different times, and what a node says in its next life overtakes what they know of the one
 * before. Other walks take such an order only once in thousands, because they draw each timer by itself.
 */
export const inTimeChooser = (random: Random): Chooser => {
  const clock = new CommonClock(random, random.pick(settingShares))
  const delays = new Delays(random)
  const faults = new FaultTimes(random)
  /** By label, when a choice that is no timer happens. */
  const dues = new Map<string, number>()
  const dueMs = (choice: Choice): number => {
    if (choice.kind === 'timer') return clock.dueMs(choice)
    let due = dues.get(choice.label)
    if (due === undefined) {
      due = clock.nowMs + (choice.kind === 'deliver' ? delays.ofMs(choice, clock.nowMs) : waitMs(random))
      dues.set(choice.label, due)
    }
    return due
  }
  return enabled => {
    clock.see(enabled)
    const messages = enabled.filter(isMessage)
    const next = firstBy(messages.length > inFlightMax ? messages : enabled.filter(isOrdinary), dueMs)
    const nextMs = next ? dueMs(next) : Number.POSITIVE_INFINITY
    const fault = faults.take(enabled, nextMs)
    const choice = fault ?? next
    if (!choice) return undefined
    clock.reach(fault ? faults.lastMs : nextMs)
    if (fault) delays.holdBack(fault.node)
    clock.leave(choice)
    dues.delete(choice.label)
    return choice
  }
}

/** Share of the nodes that set their timers anew with each input: see `CommonClock`. */
const settingShares = [0, 0.5, 1] as const

/**
 * With more messages in flight, the first of them arrives before its time. What is sent every millisecond and takes a second would fill
 * the network; each pair of inputs may enter at once, so steps would become slow.
 */
const inFlightMax = 64

const isMessage = ({ kind, whole }: Choice): boolean => kind === 'deliver' && whole === undefined

const isOrdinary = (choice: Choice): boolean =>
  isMessage(choice) || choice.kind === 'timer' || choice.kind === 'client' || isRepair(choice.kind)

/** How long until a call is made or a fault is over. */
const waitMs = (random: Random): number => random.between(10, 4_000)
