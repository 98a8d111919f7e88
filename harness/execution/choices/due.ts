import { kindOf, labelOf, nodeOf } from '../../../checker/happening/happenings.ts'
import { numbersApart } from '../../../checker/system/labels.ts'
import type { Message } from '../../../proxy/message.ts'
import type { Time } from '../../timed/time.ts'
import type { TimedHappening } from '../../timed/timing.ts'
import { aboutMessage } from './about-message.ts'
import type { Option } from './action.ts'
import { optionsOf } from './choices.ts'
import type { Moment } from './moment.ts'

/** All present choices. With a common time, each has its due time. */
export const enabledOptions = (moment: Moment): Option[] => {
  const options = optionsOf(moment)
  return moment.time ? withTimes(options, moment, moment.time) : options
}

/**
 * The choices of a system with a common time: each with its due time, plus planned events, nodes that are started after
 * others, and the ends of messages that do not arrive. A client that waits for an answer does not call. Called in each step for all options, so it has loops.
 */
const withTimes = (options: readonly Option[], moment: Moment, time: Time): Option[] => {
  const timed: Option[] = []
  for (const option of options) {
    const made = withTime(option, moment, time)
    if (made) timed.push(made)
  }
  for (const happening of moment.start?.due ?? []) timed.push(comes(happening))
  for (const happening of time.coming()) if (isPossible(happening, moment)) timed.push(comes(happening))
  let firstMs = Number.POSITIVE_INFINITY
  for (const { choice } of timed) if (choice.due !== undefined && choice.due < firstMs) firstMs = choice.due
  const unheard = unheardIn(moment)
  time.foresee(firstMs, [...moment.deliverable, ...unheard])
  const all: Option[] = []
  for (const option of timed) {
    const made = arriving(option, time)
    if (made) all.push(made)
  }
  const lost = moment.deliverable.filter(message => time.sentOf(message)?.isLost)
  for (const message of [...lost, ...unheard]) all.push(at(notArrivingAs(message), time.sentOf(message)?.dueMs))
  return all
}

/** A call or timer with its due time. A message has one only once its delay is known. */
const withTime = (option: Option, moment: Moment, time: Time): Option | undefined => {
  const { action } = option
  if (action.do === 'client') {
    if (moment.callers.has(action.client)) return undefined
    return at(option, Math.max(time.callDueMs(action.client), moment.start?.clientsFromMs ?? 0))
  }
  const input = onlyInput(option)
  if (input === undefined || 'deliver' in input) return option
  return at(option, time.whenShown(input.timer.name, input.timer.held!.earliestDeadline()!))
}

/** A message with its due time. A lost one is dropped by time alone. */
const arriving = (option: Option, time: Time): Option | undefined => {
  const { action } = option
  if (action.do === 'drop' && time.sentOf(action.message)?.isLost) return undefined
  const input = onlyInput(option)
  if (input === undefined || 'timer' in input) return option
  return time.sentOf(input.deliver)?.isLost ? option : at(option, time.reachesMs(input.deliver))
}

const onlyInput = ({ action }: Option) =>
  action.do === 'inputs' && action.inputs.length === 1 ? action.inputs[0] : undefined

const at = (option: Option, due: number | undefined): Option => {
  if (due === undefined) return option
  if (option.dated?.choice.due === due) return option.dated
  const { choice, action } = option
  option.dated = { choice: { due, ...choice }, action }
  return option.dated
}

/** Steering concerns a message that can arrive now; anything else that was planned can always happen. */
const isPossible = (happening: TimedHappening, { deliverable, network }: Moment): boolean => {
  if (happening.does !== 'steer' || !('message' in happening)) return true
  const message = deliverable.find(({ label }) => label === happening.message)
  if (message === undefined) return false
  return happening.how === 'break'
    ? network.faults.isBreakable(message)
    : message.transport === 'udp' || message.kind === 'abort'
}

const comes = (happening: TimedHappening): Option => {
  const before = coming.get(happening)
  if (before) return before
  const label = labelOf(happening)
  const choice = {
    kind: kindOf(happening),
    node: nodeOf(happening) ?? '',
    label,
    due: happening.atMs,
    ...numbersApart(label),
  }
  const made: Option = { choice, action: { do: 'happen', happening } }
  coming.set(happening, made)
  return made
}

/** Cached options of planned actions, because each is enabled until it happens. */
const coming = new WeakMap<TimedHappening, Option>()

/** Datagrams without a receiver, and requests for connections to a node that is down. */
const unheardIn = ({ network, nodes }: Moment): readonly Message[] => {
  const down = new Set(nodes.filter(({ held }) => held === undefined).map(({ name }) => name))
  return network.messages.waitingFor(down).filter(({ kind, transport }) => kind === 'open' || transport === 'udp')
}

/** The choice by which a lost datagram, or a request to a node that is down, leaves the network. */
const notArrivingAs = (message: Message): Option => {
  const about = { node: message.to, ...aboutMessage(message) }
  return message.transport === 'udp'
    ? { choice: { kind: 'drop', label: `drop ${message.label}`, ...about }, action: { do: 'drop', message } }
    : { choice: { kind: 'deliver', label: `refuse ${message.label}`, ...about }, action: { do: 'refuse', message } }
}
