import { labelsOf } from '../../../checker/system/labels.ts'
import { bordersIn, places } from '../../../proxy/borders.ts'
import type { Message } from '../../../proxy/message.ts'
import type { Network } from '../../../proxy/network.ts'
import { aboutMessage } from './about-message.ts'
import { type Action, type Option, option } from './action.ts'
import { delivery, type InputOption } from './deliveries.ts'
import { befalls, left, type Moment } from './moment.ts'

/** What comes to a paused node meets in its kernel anyway. */
export const mayOverlap = ({ nodes }: Moment, { action }: InputOption): boolean =>
  !nodes.some(({ name, isPaused }) => isPaused && name === action.node)

/** Every ordered pair of inputs of one node. */
export const overlapOptions = (inputs: readonly InputOption[]): Option[] =>
  inputs.flatMap(first =>
    inputs
      .filter(second => second !== first && second.action.node === first.action.node)
      .map(second => overlap(first, second)),
  )

const overlap = (first: InputOption, second: InputOption): Option => {
  const joins = [first.choice, second.choice]
  const { node } = first.action
  const label = `overlap ${labelsOf(joins).join(' & ')}`
  return {
    choice: { kind: 'overlap', node, label, subject: '', numbers: [], joins },
    action: { do: 'inputs', node, inputs: [...first.action.inputs, ...second.action.inputs] },
  }
}

export type ClientOption = Option & { readonly action: Extract<Action, { do: 'client' }> }

/** Calls of two clients that begin at once: where threads may give way, one may be answered in the middle of the other. */
export const clientsAtOnce = ({ system, time }: Moment, options: readonly ClientOption[]): Option[] => {
  if (time || !(system.faults.preempt > 0)) return []
  return options.flatMap((first, index) => options.slice(index + 1).map(second => bothBegin(first, second)))
}

const bothBegin = (first: ClientOption, second: ClientOption): Option => {
  const joins = [first.choice, second.choice]
  const label = `overlap ${labelsOf(joins).join(' & ')}`
  return {
    choice: { kind: 'overlap', node: first.choice.node, label, subject: '', numbers: [], joins },
    action: { ...first.action, other: second.action.client },
  }
}

/**
 * A message is divided before at most this many of its frames: with more, one long write would be most of what is
 * enabled.
 */
const divisionsMax = 16

/** A message that was written together may arrive in two steps: up to each of its frames, and the rest. */
export const divisions = (network: Network, message: Message): Option[] => {
  const { frames = [], to: node } = message
  if (frames.length < 2) return []
  const whole = delivery(message, false).choice
  return frames.slice(1, 1 + divisionsMax).map((_, index) => {
    const count = index + 1
    const part = beginningOf(network, message, count)
    return {
      choice: { kind: 'divide', node, label: `divide ${part.label}`, ...aboutMessage(part), whole },
      action: { do: 'divide', node, message, at: { after: count, of: 'frames' } },
    }
  })
}

const beginnings = new WeakMap<Message, Map<number, Message>>()

/** The part of a message that would arrive first. */
const beginningOf = (network: Network, message: Message, count: number): Message => {
  const known = beginnings.get(message) ?? new Map<number, Message>()
  beginnings.set(message, known)
  const made = known.get(count) ?? network.messages.beginningOf(message, count)
  known.set(count, made)
  return made
}

/** What is sent on a connection may arrive in two parts, at any byte: those of a node, and those of a client's call. */
export const splits = (moment: Moment): Option[] => {
  if (!left(moment, 'split') || moment.time) return []
  const { system, deliverable, calls } = moment
  const ofNodes = deliverable
    .filter(({ kind, from, to }) => kind === 'data' && befalls(moment, 'split', from, to))
    .flatMap(splitsOf)
  const ofClients = system.clients
    .filter(({ name }) => (calls.get(name) ?? 0) > 0)
    .flatMap(({ name: client }) =>
      places.map(splitsAt =>
        option('split', `client ${client}`, `split client ${client} at ${splitsAt}`, {
          do: 'client',
          client,
          splitsAt,
        }),
      ),
    )
  return [...ofNodes, ...ofClients]
}

const knownSplits = new WeakMap<Message, readonly Option[]>()

const splitsOf = (message: Message): readonly Option[] => {
  const before = knownSplits.get(message)
  if (before) return before
  const { to: node, label } = message
  const whole = delivery(message, false).choice
  const made = bordersIn(message.bytes).map(
    (at): Option => ({
      choice: { kind: 'split', node, label: `split ${label} at ${at}`, ...aboutMessage(message), whole },
      action: { do: 'divide', node, message, at: { after: at, of: 'bytes' } },
    }),
  )
  knownSplits.set(message, made)
  return made
}
