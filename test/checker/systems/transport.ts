import { eventually } from '../../../checker/system/property.ts'
import { Model, type ModelOptions, type Transition } from './model.ts'

/**
 * The reliable transport of MaceMC, section 5, as `examples/transport` does it, choice for choice. With its bug, a late SYN
 * of an older connection makes the receiver forget the newer one; once the sender has taken the acknowledgement of its
 * own SYN it never sends one again, and both sides ignore each other for ever.
 */
export interface Transport {
  /** Messages of the sender that are not acknowledged. */
  readonly unacknowledged: number
  /** Connections opened so far; the last is the one in use. */
  readonly opened: number
  /** Of the packet in flight. */
  readonly seq: number
  readonly established: boolean
  /** SYNs sent on this connection. */
  readonly syns: number
  /** The connection that the receiver knows, 0 for none, and how far it is. */
  readonly known: number
  readonly received: number
  readonly flight: readonly Packet[]
  /** Packets sent so far, of each end. */
  readonly sent: Readonly<Record<End, number>>
  readonly drops: number
}

type End = 'sender' | 'receiver'

interface Packet {
  readonly type: 'SYN' | 'DATA' | 'ACK'
  readonly seq: number
  readonly from: End
  readonly ordinal: number
}

export interface TransportOptions extends ModelOptions {
  /** Only a SYN of a later connection than the one known opens a new one. */
  readonly correct?: boolean
  readonly drops?: number
  /** Messages to send. */
  readonly messages?: number
}

/** Connection 1 begins with packet 1001, connection 2 with 2001. */
const firstSeq = (connection: number) => 1000 * connection + 1
const connectionOf = (seq: number) => Math.floor(seq / 1000)

const synsMax = 2

export const transport = ({ correct = false, drops = 0, messages = 2, ...options }: TransportOptions = {}) => {
  const nothing: Transport = {
    unacknowledged: messages,
    opened: 0,
    seq: 0,
    established: false,
    syns: 0,
    known: 0,
    received: 0,
    flight: [],
    sent: { sender: 0, receiver: 0 },
    drops,
  }
  return new Model<Transport>(open(nothing), state => transitions(state, correct), options)
}

const send = (state: Transport, from: End, type: Packet['type'], seq: number): Transport => {
  const ordinal = state.sent[from] + 1
  const sent = { ...state.sent, [from]: ordinal }
  return { ...state, sent, flight: [...state.flight, { type, seq, from, ordinal }] }
}

const open = (state: Transport): Transport => {
  const opened = state.opened + 1
  const seq = firstSeq(opened)
  return send({ ...state, opened, seq, established: false, syns: 1 }, 'sender', 'SYN', seq)
}

const timeout = (state: Transport): Transport => {
  if (state.established) return send(state, 'sender', 'DATA', state.seq)
  if (state.syns === synsMax) return open(state)
  return send({ ...state, syns: state.syns + 1 }, 'sender', 'SYN', state.seq)
}

const receiveAck = (state: Transport, seq: number): Transport => {
  if (state.unacknowledged === 0 || seq !== state.seq) return state
  const next = { ...state, unacknowledged: state.unacknowledged - 1, seq: seq + 1, established: true }
  return next.unacknowledged > 0 ? send(next, 'sender', 'DATA', next.seq) : next
}

const receive = (state: Transport, { type, seq }: Packet, correct: boolean): Transport => {
  const connection = connectionOf(seq)
  const opens = correct ? connection > state.known : connection !== state.known
  const isNext = connection === state.known && seq === state.received + 1
  const accepted = type === 'SYN' ? opens : isNext
  const next = accepted ? { ...state, known: connection, received: seq } : state
  return next.known === 0 ? next : send(next, 'receiver', 'ACK', next.received)
}

const transitions = (state: Transport, correct: boolean): Transition<Transport>[] => {
  const packets = state.flight.flatMap((packet, i): Transition<Transport>[] => {
    const { type, seq, from, ordinal } = packet
    const rest = { ...state, flight: state.flight.toSpliced(i, 1) }
    const to = from === 'sender' ? 'receiver' : 'sender'
    const label = `${from}→${to} #${ordinal} ${type} ${seq}`
    const arrive = () => (type === 'ACK' ? receiveAck(rest, seq) : receive(rest, packet, correct))
    const drop = () => ({ ...rest, drops: state.drops - 1 })
    return [
      { kind: 'deliver', node: to, label, next: arrive },
      ...(state.drops > 0 ? [{ kind: 'drop', node: to, label: `drop ${label}`, next: drop } as const] : []),
    ]
  })
  const timer = { kind: 'timer', node: 'sender', label: 'sender timer +100ms', next: () => timeout(state) } as const
  return state.unacknowledged > 0 ? [...packets, timer] : packets
}

export const allAcknowledged = eventually<Transport>(({ unacknowledged }) => unacknowledged === 0)
