import { eventually } from '../../../checker/property.ts'
import { Model, type ModelOptions, type Transition } from './model.ts'

/**
 * The reliable transport of MaceMC, section 5, with its bug: no handshake, only a SYN flag on a connection's first message.
 * A late SYN of an older connection makes the receiver forget the newer one; once the sender has taken the
 * acknowledgement of its own SYN it never sends one again, and both sides ignore each other for ever.
 */
export interface Transport {
  /** Connections opened so far; the last is the one in use. */
  readonly opened: number
  /** What the sender waits for: the acknowledgement of its SYN, or of the message after it. */
  readonly waits: 'nothing' | 'syn' | 'data'
  readonly called: boolean
  /** The connection that the receiver knows, 0 for none. */
  readonly known: number
  readonly flight: readonly Packet[]
}

interface Packet {
  readonly type: 'syn' | 'data' | 'ack syn' | 'ack data'
  readonly connection: number
}

export interface TransportOptions extends ModelOptions {
  /** The sender opens a new connection whenever it is not answered. */
  readonly correct?: boolean
  readonly drops?: number
}

export const transport = ({ correct = false, drops = 0, ...options }: TransportOptions = {}) => {
  const initial = { opened: 0, waits: 'nothing', called: false, known: 0, flight: [], drops } as const
  return new Model<Transport & { drops: number }>(initial, state => transitions(state, correct), options)
}

const send = <S extends Transport>(state: S, type: Packet['type'], connection: number): S => {
  const isInFlight = state.flight.some(packet => packet.type === type && packet.connection === connection)
  return isInFlight ? state : { ...state, flight: [...state.flight, { type, connection }] }
}

const open = <S extends Transport>(state: S): S =>
  send({ ...state, opened: state.opened + 1, waits: 'syn' }, 'syn', state.opened + 1)

const receive = <S extends Transport>(state: S, { type, connection }: Packet): S => {
  const isCurrent = connection === state.opened
  if (type === 'syn') return send({ ...state, known: connection }, 'ack syn', connection)
  if (type === 'data') return connection === state.known ? send(state, 'ack data', connection) : state
  if (type === 'ack syn' && isCurrent && state.waits === 'syn')
    return send({ ...state, waits: 'data' }, 'data', connection)
  if (type === 'ack data' && isCurrent && state.waits === 'data') return { ...state, waits: 'nothing' }
  return state
}

const transitions = <S extends Transport & { drops: number }>(state: S, correct: boolean): Transition<S>[] => {
  const { called, waits, flight, opened } = state
  const timeout = () => (correct || waits === 'syn' ? open(state) : send(state, 'data', opened))
  const packets = flight.flatMap((packet, i): Transition<S>[] => {
    const rest = { ...state, flight: flight.toSpliced(i, 1) }
    const [from, to] = packet.type.startsWith('ack') ? ['r', 's'] : ['s', 'r']
    const label = `${from}→${to} ${packet.type} ${packet.connection}`
    const deliver = { kind: 'deliver', node: to!, label, next: () => receive(rest, packet) } as const
    const drop = {
      kind: 'drop',
      node: to!,
      label: `drop ${label}`,
      next: () => ({ ...rest, drops: state.drops - 1 }),
    } as const
    return state.drops > 0 ? [deliver, drop] : [deliver]
  })
  return [
    ...(called
      ? []
      : [{ kind: 'client', node: 's', label: 'send', next: () => open({ ...state, called: true }) } as const]),
    ...packets,
    ...(waits === 'nothing' ? [] : [{ kind: 'timer', node: 's', label: 's timeout', next: timeout } as const]),
  ]
}

export const allAcked = eventually<Transport>(({ waits }) => waits === 'nothing')
