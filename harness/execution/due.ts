import { numbersApart } from '../../checker/labels.ts'
import type { Choice } from '../../checker/system.ts'
import type { Message } from '../../proxy/message.ts'
import { labelOf, nodeOf } from '../timed/action.ts'
import type { Time } from '../timed/time.ts'
import type { TimedAction } from '../timed/timing.ts'
import { aboutMessage } from './about-message.ts'
import { type Moment, type Option, optionsOf } from './choices.ts'

/** All present choices. With a common time, each has its due time. */
export const enabledOptions = (moment: Moment): Option[] => {
  const options = optionsOf(moment)
  return moment.time ? withTimes(options, moment, moment.time) : options
}

/**
 * The choices of a system with a common time: each with its due time, plus planned events and the ends of messages that
 * do not arrive. A client that waits for an answer does not call.
 */
const withTimes = (options: readonly Option[], moment: Moment, time: Time): Option[] => {
  const calls = options.map(option => withTime(option, moment, time)).filter(option => option !== undefined)
  const timed = [...calls, ...time.coming().map(comes)]
  const firstMs = timed.reduce((least, { choice: { due = least } }) => Math.min(least, due), Number.POSITIVE_INFINITY)
  const unheard = unheardIn(moment)
  time.foresee(firstMs, [...moment.deliverable, ...unheard])
  const lost = moment.deliverable.filter(message => time.sentOf(message)?.isLost)
  return [
    ...timed.map(option => arriving(option, time)).filter(option => option !== undefined),
    ...[...lost, ...unheard].map(message => at(notArrivingAs(message), time.sentOf(message)?.dueMs)),
  ]
}

/** A call or timer with its due time. A message has one only once its delay is known. */
const withTime = (option: Option, moment: Moment, time: Time): Option | undefined => {
  const { action } = option
  if (action.do === 'client') {
    return moment.callers.has(action.client) ? undefined : at(option, time.callDueMs(action.client))
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
  const sent = time.sentOf(input.deliver)
  return sent?.isLost ? option : at(option, sent?.dueMs)
}

const onlyInput = ({ action }: Option) =>
  action.do === 'inputs' && action.inputs.length === 1 ? action.inputs[0] : undefined

const at = (option: Option, due: number | undefined): Option => {
  if (due === undefined) return option
  const before = dated.get(option)
  if (before?.choice.due === due) return before
  const made = { ...option, choice: { ...option.choice, due } }
  dated.set(option, made)
  return made
}

/** Cached options with due times, because most are the same as before the last step. */
const dated = new WeakMap<Option, Option>()

const comes = (action: TimedAction): Option => ({
  choice: {
    kind: kindOf(action),
    node: nodeOf(action) ?? '',
    label: labelOf(action),
    due: action.atMs,
    ...numbersApart(labelOf(action)),
  },
  action: { do: 'happen', action },
})

const kindOf = (action: TimedAction): Choice['kind'] => {
  switch (action.does) {
    case 'join':
      return 'restart'
    case 'leave':
      return 'crash'
    case 'restart':
    case 'reset':
      return 'reset'
    case 'heal':
      return 'heal'
    case 'exec':
      return 'client'
    case 'partition':
    case 'link':
    case 'set':
      return 'partition'
    case 'connect':
    case 'send':
    case 'end':
      return 'client'
  }
}

/** Datagrams without a receiver, and requests for connections to a node that is down. */
const unheardIn = ({ network, nodes }: Moment): readonly Message[] => {
  const down = new Set(nodes.filter(({ held }) => held === undefined).map(({ name }) => name))
  return network.waitingFor(down).filter(({ kind, transport }) => kind === 'open' || transport === 'udp')
}

/** What happens to a datagram that a pipe loses, and to a message without a receiver. */
const notArrivingAs = (message: Message): Option => {
  const about = { node: message.to, ...aboutMessage(message) }
  return message.transport === 'udp'
    ? { choice: { kind: 'drop', label: `drop ${message.label}`, ...about }, action: { do: 'drop', message } }
    : { choice: { kind: 'deliver', label: `refuse ${message.label}`, ...about }, action: { do: 'refuse', message } }
}
