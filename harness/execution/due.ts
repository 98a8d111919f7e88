import { numbersApart } from '../../checker/labels.ts'
import type { Choice } from '../../checker/system.ts'
import type { Message } from '../../proxy/message.ts'
import { labelOf, nodeOf } from '../timed/action.ts'
import type { Time } from '../timed/time.ts'
import type { TimedAction } from '../timed/timing.ts'
import { aboutMessage } from './about-message.ts'
import { type Moment, type Option, optionsOf } from './choices.ts'

/** All choices of a moment, with the times at which they are due where time runs through the system. */
export const enabledOptions = (moment: Moment): Option[] => {
  const options = optionsOf(moment)
  return moment.time ? withTimes(options, moment, moment.time) : options
}

/**
 * The choices of a moment in a system that time runs through: the same, with the time at which each is due, and what is to
 * happen besides: by the plan, and to messages that do not arrive. A client that waits for an answer does not call.
 */
const withTimes = (options: readonly Option[], moment: Moment, time: Time): Option[] => [
  ...options.flatMap(option => withTime(option, moment, time)),
  ...time.coming().map(comes),
  ...notArriving(moment, time),
]

const withTime = (option: Option, moment: Moment, time: Time): Option[] => {
  const { action } = option
  if (action.do === 'client') {
    return moment.callers.has(action.client) ? [] : [at(option, time.callDueMs(action.client))]
  }
  if (action.do === 'drop' && time.sentOf(action.message)?.isLost) return []
  const [input] = action.do === 'inputs' && action.inputs.length === 1 ? action.inputs : []
  if (input === undefined) return [option]
  if ('timer' in input) return [at(option, time.whenShown(input.timer.name, input.timer.held!.earliestDeadline()!))]
  const sent = time.sentOf(input.deliver)
  return [sent === undefined || sent.isLost ? option : at(option, sent.dueMs)]
}

const at = (option: Option, due: number): Option => ({ ...option, choice: { ...option.choice, due } })

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
    case 'partition':
    case 'set':
      return 'partition'
  }
}

/** Datagrams that a pipe loses, or that find nobody, and connections that are asked of one that is down. */
const notArriving = ({ network, nodes, deliverable }: Moment, time: Time): Option[] => {
  const down = new Set(nodes.filter(({ held }) => held === undefined).map(({ name }) => name))
  const lost = deliverable.filter(message => time.sentOf(message)?.isLost)
  const unheard = network.waitingFor(down).filter(({ kind, transport }) => kind === 'open' || transport === 'udp')
  return [...lost, ...unheard].map(message => {
    const sent = time.sentOf(message)
    const option = notArrivingAs(message)
    return sent === undefined ? option : at(option, sent.dueMs)
  })
}

const notArrivingAs = (message: Message): Option => {
  const about = { node: message.to, ...aboutMessage(message) }
  return message.transport === 'udp'
    ? { choice: { kind: 'drop', label: `drop ${message.label}`, ...about }, action: { do: 'drop', message } }
    : { choice: { kind: 'deliver', label: `refuse ${message.label}`, ...about }, action: { do: 'refuse', message } }
}
