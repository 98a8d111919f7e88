import type { Cells } from '../cells/cells.ts'
import type { Arrival } from '../cells/task.ts'
import type { Violation } from '../cells/violation.ts'
import { Diverged } from '../system/errors.ts'
import { labelsOf } from '../system/labels.ts'
import { startAfter, startAsOffered } from '../system/start.ts'
import type { Choice } from '../system/system.ts'
import { isAlike, patienceFor } from './shrink.ts'
import { slowMs } from './slow-network.ts'

/** An executed schedule, and since when each of its messages was in flight. */
interface Executed {
  readonly schedule: readonly Choice[]
  /** For each step, the one after which it was first enabled, counted from 1; 0 for the start. */
  readonly offered: readonly number[]
  /** The same for the messages that are still in flight at its end. */
  readonly pending: readonly number[]
}

/**
 * The same steps in an order in which messages are sent later, and so are in flight for less time. A step that sends moves
 * behind steps of other nodes that do not depend on it: steps of one node keep their order, and so do timers, calls, and
 * everything around a fault. Where nothing else ties the steps to each other, both orders lead to the same state (they are of
 * one Mazurkiewicz trace), but who executes this one must look whether they do.
 */
export const sentLater = (executed: Executed): Choice[] => {
  const { schedule, pending } = executed
  const before = predecessors(executed)
  const followers = schedule.map(() => 0)
  for (const places of before) for (const place of places) followers[place]! += 1
  const free = new Set([...schedule.keys()].filter(place => followers[place] === 0))
  /** Steps that sent what is in flight where the order now begins. They come first, and else the last of all. */
  const senders = new Set(pending.map(step => step - 1))
  const backwards: Choice[] = []
  while (free.size > 0) {
    const sending = [...free].filter(place => senders.has(place))
    const place = Math.max(...(sending.length > 0 ? sending : free))
    free.delete(place)
    backwards.push(schedule[place]!)
    const sender = senderOf(executed, place)
    if (sender !== undefined) senders.add(sender)
    for (const other of before[place]!) {
      followers[other]! -= 1
      if (followers[other] === 0) free.add(other)
    }
  }
  return backwards.reverse()
}

/** The place of the step that sent the message of a step. */
const senderOf = ({ schedule, offered }: Executed, place: number): number | undefined => {
  const sender = offered[place]! - 1
  return schedule[place]!.from !== undefined && sender >= 0 && sender < place ? sender : undefined
}

/** The kinds of steps that touch no more than their nodes. */
const apart: ReadonlySet<Choice['kind']> = new Set(['deliver', 'divide', 'timer', 'client'])

/** For each step, places of steps that must stay before it. Those that must stay before these are left out. */
const predecessors = (executed: Executed): ReadonlySet<number>[] => {
  const senders = nodesOfSenders(executed)
  /** The last step on each line: of a node, of all timers, of all calls. */
  const last = new Map<string, number>()
  let everything = -1
  return executed.schedule.map((choice, place) => {
    const sender = senderOf(executed, place) ?? -1
    const parts = choice.joins ?? [choice]
    if (!parts.every(({ kind }) => apart.has(kind))) {
      const places = [...last.values(), everything, sender]
      last.clear()
      everything = place
      return new Set(places.filter(each => each >= 0))
    }
    const lines = [...parts.flatMap(({ kind, node }) => [kind, `node ${node}`]), ...senders[place]!]
    const places = lines.filter(line => !isFree.has(line)).map(line => last.get(line) ?? everything)
    for (const line of lines) last.set(line, place)
    return new Set([...places, sender].filter(each => each >= 0))
  })
}

/** Kinds whose steps need not keep their order where they are of several nodes. */
const isFree: ReadonlySet<string> = new Set(['deliver', 'divide'])

/** For each step, the nodes that sent something in it, as lines. A call enters a node that it does not name. */
const nodesOfSenders = (executed: Executed): readonly (readonly string[])[] => {
  const lines: string[][] = executed.schedule.map(() => [])
  for (const [place, { from }] of executed.schedule.entries()) {
    const sender = senderOf(executed, place)
    if (sender !== undefined) lines[sender]!.push(`node ${from}`)
  }
  return lines
}

/** A conversation is sent so many timers before its last delivery at most, if not where it was. */
const timersMax = 8

/**
 * A schedule with the same violation in which messages are in flight for less time, because they are sent later: first all
 * of them, as far as steps do not depend on each other; then one conversation after the other, as close to its delivery as
 * violates. Only messages count that are in flight for longer than in a usual network.
 */
export const sendLater = async (
  cells: Cells,
  schedule: readonly Choice[],
  violation: Violation,
): Promise<readonly Choice[]> => {
  const { arrival, schedule: begun } = await cells.run({ start: startAfter(labelsOf(schedule)) })
  let best = executedAs(begun, arrival)
  const tried = new Set<string>()
  const improve = async (candidates: readonly (readonly Choice[])[]): Promise<boolean> => {
    const untried = candidates.map(labelsOf).filter(labels => !tried.has(labels.join('\n')))
    for (const labels of untried) tried.add(labels.join('\n'))
    const next = untried.values()
    const outcomes = cells.inOrder(
      () => next.next().value,
      (labels, cells) => cells.tryRun({ start: startAsOffered(labels), patience: patienceFor(violation) }),
    )
    for await (const [, came] of outcomes) {
      if (came instanceof Diverged || !came.violation || !isAlike(came.violation, violation)) continue
      const other = executedAs(came.schedule, came.arrival)
      if (came.schedule.length > best.schedule.length || flightMs(other) >= flightMs(best)) continue
      best = other
      return true
    }
    return false
  }
  if (flightMs(best) === 0) return schedule
  await improve([sentLater(best)])
  while (await improve(longFlights(best).flatMap(flight => headLater(best, flight))));
  return best.schedule
}

export const executedAs = (schedule: readonly Choice[], { offered, enabled, since }: Arrival): Executed => ({
  schedule,
  offered,
  pending: enabled.flatMap(({ kind }, index) => (kind === 'deliver' ? [since[index]!] : [])),
})

/** A message in flight: after which step, before which place of the schedule, and how long by the clock that went farthest. */
interface Flight {
  readonly sent: number
  readonly until: number
  readonly ms: number
}

/** Messages that are in flight for longer than in a usual network, the longest first. */
const longFlights = ({ schedule, offered, pending }: Executed): Flight[] => {
  const delivered = schedule.flatMap(({ from }, until) =>
    from === undefined ? [] : [{ sent: offered[until]!, until }],
  )
  const all = [...delivered, ...pending.map(sent => ({ sent, until: schedule.length }))]
  return all
    .map(flight => ({ ...flight, ms: passedMs(schedule.slice(flight.sent, flight.until)) }))
    .filter(({ ms }) => ms > slowMs)
    .sort((one, other) => other.ms - one.ms)
}

const flightMs = (executed: Executed): number => longFlights(executed).reduce((sum, { ms }) => sum + ms, 0)

/** How far the clock goes that goes farthest in these steps. */
const passedMs = (steps: readonly Choice[]): number => {
  const clocks = new Map<string, number>()
  for (const step of steps)
    for (const { kind, node, afterMs = 0 } of step.joins ?? [step])
      if (kind === 'timer') clocks.set(node, (clocks.get(node) ?? 0) + afterMs)
  return Math.max(0, ...clocks.values())
}

/** The schedule with the steps that led to a message moved behind all timers of its flight, or all but the last ones. */
const headLater = (executed: Executed, { sent, until }: Flight): (readonly Choice[])[] => {
  const { schedule } = executed
  const head = new Set<number>()
  for (let place: number | undefined = sent - 1; place !== undefined && place >= 0; place = senderOf(executed, place))
    head.add(place)
  if (head.size === 0) return []
  const timers = schedule.flatMap(({ kind }, place) =>
    kind === 'timer' && place >= sent && place < until ? [place] : [],
  )
  const rest = (from: number, to: number) => schedule.slice(from, to).filter((_, index) => !head.has(from + index))
  return [until, ...timers.reverse()]
    .slice(0, timersMax + 1)
    .map(place => [
      ...rest(0, place),
      ...[...head].sort((one, other) => one - other).map(each => schedule[each]!),
      ...rest(place, schedule.length),
    ])
}
