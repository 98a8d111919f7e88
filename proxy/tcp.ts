/**
 * TCP (RFC 9293) to one node: a `Side` is the peer's kernel as the node's kernel sees it. It acknowledges at once
 * whatever comes, so that no timer of the node ever has a reason to fire, and respects the node's window. It needs no
 * timer either, because a TUN device neither loses nor reorders packets.
 *
 * A side is plain data, so that a checkpoint can copy it. Sequence numbers are unsigned and wrap at 2^32.
 */
import { isIpv6 } from '../linux/address.ts'
import { flag, type Segment } from './packets/packet.ts'
import { type Lessons, learn, nothingLearned } from './segment-lengths.ts'

export interface Side {
  /** Addresses and ports of the node, and of the peer that this side plays. */
  readonly node: number
  readonly nodePort: number
  readonly peer: number
  readonly peerPort: number
  /**
   * `asked`: the node's SYN is not answered yet. `answering`: our SYN-ACK was sent. `asking`: our SYN was sent. `open`:
   * the handshake is done. `over`: the node's kernel keeps nothing of the connection that could still matter.
   */
  state: 'asked' | 'answering' | 'asking' | 'open' | 'over'

  /** Bytes for the node, from the first unacknowledged one. */
  outgoing: Buffer[]
  outgoingLength: number
  /** Sequence number of the first of them. */
  sendUnacknowledged: number
  /** Sequence number of the next byte to send. */
  sendNext: number
  /** Sequence number after the last byte ever sent. Beyond `sendNext` while bytes are being sent again. */
  sendMax: number
  /** How many bytes beyond `sendUnacknowledged` the node accepts. */
  sendWindow: number
  sendScale: number
  segmentLengthMax: number
  /** What the node's kernel has learned from the segments that it was sent. */
  lessons: Lessons
  /** State of our FIN, which follows the last byte of `outgoing`. */
  finish: 'not asked' | 'queued' | 'sent' | 'acknowledged'

  /** Sequence number of the next byte from the node. */
  receiveNext: number
  /** Bytes received from the node and not released. They shrink the window offered to it. */
  held: number
  /** How many there may be: the largest window offered. */
  room: number
  /** The window that was last offered. */
  offered: number
  isScaled: boolean
  /** Whether the node's FIN came. */
  isFinished: boolean
}

/**
 * What went wrong between the router and the nodes' kernels. An execution with gaps or corrupt packets does not count.
 * Bytes that were sent again did arrive.
 */
export interface Anomalies {
  /** Segments that came too early, because something before them was lost. */
  gaps: number
  /** Bytes that a node sent again because its acknowledgement was late. */
  retransmissions: number
  /** Segments that had to be sent again because a node's kernel dropped them. */
  resent: number
  /** Packets with a wrong length or checksum. */
  corrupt: number
}

/** The wire to one node. */
export interface Wire {
  send(segment: Segment): void
  readonly anomalies: Anomalies
}

/** The meaning of a segment from the node. */
export interface SegmentArrival {
  /** The node's answer to our SYN. */
  readonly answer?: 'accept' | 'refuse'
  /** The next bytes, as a view of the segment: copy it to keep it. */
  readonly data?: Buffer
  /** `close`: the node will send no more. `abort`: it reset the connection. */
  readonly end?: 'close' | 'abort'
  /** How many bytes for the node entered it now because it made room. */
  readonly entered: number
}

/** Largest window offered to a node, unless time decides; a multiple of 2^scale. */
export const windowMax = 4 * 1024 * 1024
const windowScale = 7
const unscaledWindowMax = 0xffff
/** For an MTU of 65,535. */
const segmentLengthMaxOf = (address: number): number => (isIpv6(address) ? 65_475 : 65_495)
const nothing = Buffer.alloc(0)
const noArrival: SegmentArrival = { entered: 0 }

/** A copy with the same numbers. Buffers are shared, because they are never changed. */
export const copySide = (side: Side): Side => ({ ...side, outgoing: [...side.outgoing] })

/** The side that meets a node's SYN. */
export const meet = (syn: Segment, number: number): Side => ({
  ...fresh(syn.source, syn.sourcePort, syn.destination, syn.destinationPort, number),
  state: 'asked',
  ...terms(syn),
})

/** The side that requests a connection from a listening node: sends SYN. */
export const ask = (
  { node, nodePort, peer, peerPort }: Pick<Side, 'node' | 'nodePort' | 'peer' | 'peerPort'>,
  number: number,
  wire: Wire,
): Side => {
  const side = fresh(node, nodePort, peer, peerPort, number)
  transmit(side, wire, flag.SYN, side.sendNext - 1, nothing)
  return side
}

/** Accepts the node's SYN. */
export const accept = (side: Side, wire: Wire): void => {
  side.state = 'answering'
  transmit(side, wire, flag.SYN | flag.ACK, side.sendNext - 1, nothing)
}

/** Refuses the node's SYN: ECONNREFUSED. */
export const refuse = (side: Side, wire: Wire): void => {
  side.state = 'over'
  transmit(side, wire, flag.RST | flag.ACK, 0, nothing)
}

/** Queues bytes for the node and returns how many entered it at once. The rest follows as it makes room. */
export const sendBytes = (side: Side, bytes: Buffer, wire: Wire): number => {
  side.outgoing.push(bytes)
  side.outgoingLength += bytes.length
  return flush(side, wire)
}

/** Ends our direction after everything that is queued. */
export const finish = (side: Side, wire: Wire): void => {
  if (side.finish === 'not asked') side.finish = 'queued'
  flush(side, wire)
}

/** Resets the connection: the node sees ECONNRESET. Queued bytes are discarded. */
export const abort = (side: Side, wire: Wire): void => {
  // A RST is accepted only with exactly the expected sequence number (RFC 5961).
  transmit(side, wire, flag.RST | flag.ACK, side.sendNext, nothing)
  side.state = 'over'
}

/** Releases bytes that the node sent, and offers it a larger window if it had little. */
export const release = (side: Side, bytes: number, wire: Wire): void => {
  side.held -= bytes
  // Repeated acknowledgements with nothing new would mean a loss to the node (RFC 5681, 3.2).
  const half = (side.isScaled ? side.room : Math.min(side.room, unscaledWindowMax)) / 2
  if (side.state === 'open' && side.offered < half && side.room - side.held >= half) acknowledge(side, wire)
}

/**
 * For a kernel whose connection was restored after our FIN: CRIU replayed that FIN without a window, so the window is
 * offered again.
 */
export const offerAgain = (side: Side, wire: Wire): void => {
  if (side.state === 'open' && side.finish === 'acknowledged') acknowledge(side, wire)
}

/** Our FIN once more, which the node has already. */
export const finishAgain = (side: Side): Segment => ({
  ...again(side, side.sendNext - 1),
  flags: flag.FIN | flag.ACK,
})

/** Our acknowledgement of the node's FIN once more. */
export const acknowledgeAgain = (side: Side): Segment => again(side, side.sendMax)

/** Zeros that fill a segment of this length. */
export const filler = (side: Side, sequence: number, length: number, isPushed: boolean): Segment => ({
  ...again(side, sequence),
  acknowledgement: (side.receiveNext - (side.isFinished ? 1 : 0)) >>> 0,
  flags: isPushed ? flag.ACK | flag.PSH : flag.ACK,
  payload: Buffer.alloc(length),
})

/** An acknowledgement with this number, of which the side keeps no record. */
const again = (side: Side, sequence: number): Segment =>
  segmentOf(side, {
    sequence,
    acknowledgement: side.receiveNext,
    flags: flag.ACK,
    window: side.isScaled ? side.offered >> windowScale : side.offered,
    mss: 0,
    scale: -1,
    payload: nothing,
  })

/** How many bytes for the node have not entered it yet. */
export const waiting = (side: Side): number => Math.max(0, side.outgoingLength - outstanding(side))

/** What matters about a side for its future, in a few words and without sequence numbers. */
export const describeSide = (side: Side): string => {
  const { state, finish, isFinished, held, room } = side
  const ends = `${finish === 'not asked' ? '' : ` finish ${finish}`}${isFinished ? ' finished' : ''}`
  const window = held >= room ? ' shut' : ''
  const left = waiting(side)
  const rest = left === 0 ? '' : ` waits ${slice(side, outstanding(side), left).toString('base64')}`
  return `${state}${ends}${window}${rest}`
}

/** Guards against a kernel that dropped what it had room for: sends again what it should have by now. */
export const resendLost = (side: Side, wire: Wire): void => {
  if (side.state !== 'open' || outstanding(side) === 0) return
  wire.anomalies.resent += 1
  side.sendNext = side.sendUnacknowledged
  if (side.finish === 'sent') side.finish = 'queued'
  flush(side, wire)
}

/** Answers a segment that belongs to no connection, as a kernel does. */
export const reject = (segment: Segment, wire: Wire): void => {
  if (segment.flags & flag.RST) return
  const hasAcknowledgement = (segment.flags & flag.ACK) !== 0
  const length = segment.payload.length + (segment.flags & flag.SYN ? 1 : 0) + (segment.flags & flag.FIN ? 1 : 0)
  wire.send({
    kind: 'tcp',
    source: segment.destination,
    destination: segment.source,
    sourcePort: segment.destinationPort,
    destinationPort: segment.sourcePort,
    sequence: hasAcknowledgement ? segment.acknowledgement : 0,
    acknowledgement: hasAcknowledgement ? 0 : (segment.sequence + length) >>> 0,
    flags: hasAcknowledgement ? flag.RST : flag.RST | flag.ACK,
    window: 0,
    mss: 0,
    scale: -1,
    payload: nothing,
  })
}

/** Whether a segment from the node is of the connection that this side is of. */
export const isOf = ({ node, nodePort, peer, peerPort }: Side, segment: Segment): boolean =>
  segment.source === node &&
  segment.sourcePort === nodePort &&
  segment.destination === peer &&
  segment.destinationPort === peerPort

/** Whether `syn` is not the one that this side met but a new request from the same port. */
export const isAnother = (side: Side, syn: Segment): boolean => ((syn.sequence + 1) | 0) !== (side.receiveNext | 0)

/** The node's kernel has forgotten the connection silently. */
export const forgotten = (side: Side): SegmentArrival => {
  side.state = 'over'
  return { end: 'abort', entered: 0 }
}

/** Receives a segment from the node. */
export const receive = (side: Side, segment: Segment, wire: Wire): SegmentArrival => {
  if (segment.flags & flag.RST) return reset(side)
  if (segment.flags & flag.SYN) return synchronize(side, segment, wire)
  if (side.state === 'asked' || side.state === 'asking') return noArrival
  const isFirst = side.state === 'answering'
  side.state = 'open'
  const entered = takeAcknowledgement(side, segment, wire)
  const { data, end, isDue } = takePayload(side, segment, wire)
  // The window in our SYN-ACK could not be scaled, so the whole one is offered before the first write is cut short.
  if (isDue || isFirst) acknowledge(side, wire)
  if (side.isFinished && side.finish === 'acknowledged') side.state = 'over'
  if (data === undefined && end === undefined) return entered === 0 ? noArrival : { entered }
  return { entered, ...(data && { data }), ...(end && { end }) }
}

const fresh = (node: number, nodePort: number, peer: number, peerPort: number, number: number): Side => {
  // Later connections have higher initial numbers, so that a node in TIME_WAIT accepts the port for a new one (RFC
  // 9293, 3.4.3).
  const first = ((number << 16) + 1) >>> 0
  return {
    node,
    nodePort,
    peer,
    peerPort,
    state: 'asking',
    outgoing: [],
    outgoingLength: 0,
    sendUnacknowledged: first,
    sendNext: first,
    sendMax: first,
    sendWindow: 0,
    sendScale: 0,
    segmentLengthMax: segmentLengthMaxOf(node),
    lessons: nothingLearned,
    finish: 'not asked',
    receiveNext: 0,
    held: 0,
    room: windowMax,
    offered: windowMax,
    isScaled: true,
    isFinished: false,
  }
}

/** The terms set by a SYN. */
const terms = (syn: Segment) => ({
  receiveNext: (syn.sequence + 1) >>> 0,
  sendWindow: syn.window,
  sendScale: Math.max(0, syn.scale),
  isScaled: syn.scale !== -1,
  segmentLengthMax: Math.min(segmentLengthMaxOf(syn.source), syn.mss || 536),
})

const reset = (side: Side): SegmentArrival => {
  if (side.state !== 'asking') return forgotten(side)
  side.state = 'over'
  return { answer: 'refuse', entered: 0 }
}

const synchronize = (side: Side, segment: Segment, wire: Wire): SegmentArrival => {
  if (side.state === 'asking' && segment.flags & flag.ACK) {
    Object.assign(side, terms(segment))
    side.state = 'open'
    acknowledge(side, wire)
    return { answer: 'accept', entered: flush(side, wire) }
  }
  if (side.state === 'open') {
    // The node's accept queue was full, so our first acknowledgement and what followed it were dropped.
    acknowledge(side, wire)
    resendLost(side, wire)
  }
  return noArrival
}

const takeAcknowledgement = (side: Side, segment: Segment, wire: Wire): number => {
  const acknowledged = (segment.acknowledgement - side.sendUnacknowledged) >>> 0
  // While bytes are sent again, the node may acknowledge that it had them all along.
  if (acknowledged > distance(side.sendUnacknowledged, side.sendMax)) return 0
  const expected = outstanding(side)
  const wasShut = side.sendWindow === 0
  side.sendWindow = segment.window << side.sendScale
  if (acknowledged > expected) side.sendNext = (side.sendUnacknowledged + acknowledged) >>> 0
  if (acknowledged > 0) forget(side, acknowledged)
  // The window opened over bytes that were sent into it before, for which the kernel had no memory.
  else if (wasShut && side.sendWindow > 0 && expected > 0) resendLost(side, wire)
  return flush(side, wire)
}

/** Drops what the node acknowledged. */
const forget = (side: Side, acknowledged: number): void => {
  side.sendUnacknowledged = (side.sendUnacknowledged + acknowledged) >>> 0
  if (acknowledged > side.outgoingLength) side.finish = 'acknowledged'
  let bytes = Math.min(acknowledged, side.outgoingLength)
  side.outgoingLength -= bytes
  while (bytes > 0) {
    const first = side.outgoing[0]!
    if (first.length > bytes) side.outgoing[0] = first.subarray(bytes)
    else side.outgoing.shift()
    bytes -= Math.min(bytes, first.length)
  }
}

const takePayload = (side: Side, segment: Segment, wire: Wire) => {
  const { payload } = segment
  const hasFin = (segment.flags & flag.FIN) !== 0
  // How many of its bytes we have already. A keep-alive or window probe has one byte that it does not carry.
  const old = (side.receiveNext - segment.sequence) | 0
  if (old < 0) {
    wire.anomalies.gaps += 1
    return { isDue: true }
  }
  if (old > 0 && payload.length > 1) wire.anomalies.retransmissions += Math.min(old, payload.length)
  const data = old < payload.length ? payload.subarray(old) : undefined
  const isEnd = hasFin && !side.isFinished && old <= payload.length
  side.receiveNext = (side.receiveNext + (data?.length ?? 0) + (isEnd ? 1 : 0)) >>> 0
  side.held += data?.length ?? 0
  if (isEnd) side.isFinished = true
  return { data, end: isEnd ? ('close' as const) : undefined, isDue: old > 0 || payload.length > 0 || hasFin }
}

const distance = (from: number, to: number): number => (to - from) >>> 0

/** Bytes sent and not acknowledged. Our FIN counts as one. */
const outstanding = (side: Side): number => distance(side.sendUnacknowledged, side.sendNext)

/** Counts bytes as sent, or our FIN as one byte. Returns how many were never sent before. */
const advance = (side: Side, bytes: number): number => {
  side.sendNext = (side.sendNext + bytes) >>> 0
  const unsent = Math.max(0, (side.sendNext - side.sendMax) | 0)
  if (unsent > 0) side.sendMax = side.sendNext
  return unsent
}

/** Sends what the node has room for, and returns how many bytes that was. */
const flush = (side: Side, wire: Wire): number => {
  if (side.state !== 'open' && side.state !== 'answering') return 0
  if (side.finish === 'sent' || side.finish === 'acknowledged') return 0
  let entered = 0
  while (true) {
    const sent = outstanding(side)
    const left = side.outgoingLength - sent
    const room = side.sendWindow - sent
    const length = Math.min(left, room, side.segmentLengthMax)
    // A segment cut short by the window waits until all before it are acknowledged, or windows would stay small (RFC
    // 9293, 3.8.6.2).
    const isCut = length < Math.min(left, side.segmentLengthMax)
    if (length <= 0 || (isCut && sent > 0)) {
      if (left === 0 && side.finish === 'queued' && room > 0) sendFinish(side, wire)
      return entered
    }
    transmit(side, wire, length === left ? flag.ACK | flag.PSH : flag.ACK, side.sendNext, slice(side, sent, length))
    entered += advance(side, length)
  }
}

const sendFinish = (side: Side, wire: Wire): void => {
  transmit(side, wire, flag.FIN | flag.ACK, side.sendNext, nothing)
  advance(side, 1)
  side.finish = 'sent'
}

/** `length` bytes of `outgoing` from `start`. */
const slice = (side: Side, start: number, length: number): Buffer => {
  const parts: Buffer[] = []
  let skip = start
  let need = length
  for (const chunk of side.outgoing) {
    if (need === 0) break
    const part = chunk.subarray(skip, skip + need)
    skip = Math.max(0, skip - chunk.length)
    need -= part.length
    if (part.length > 0) parts.push(part)
  }
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts)
}

/** Numbered after everything ever sent, because a kernel drops an acknowledgement with an older number. */
const acknowledge = (side: Side, wire: Wire): void => transmit(side, wire, flag.ACK, side.sendMax, nothing)

type Fields = Omit<Segment, 'kind' | 'source' | 'destination' | 'sourcePort' | 'destinationPort'>

/** A segment for the side's node. Of a spread and further fields V8 would make a slow object. */
const segmentOf = ({ node, nodePort, peer, peerPort }: Side, fields: Fields): Segment => ({
  kind: 'tcp',
  source: peer,
  destination: node,
  sourcePort: peerPort,
  destinationPort: nodePort,
  sequence: fields.sequence >>> 0,
  acknowledgement: fields.acknowledgement,
  flags: fields.flags,
  window: fields.window,
  mss: fields.mss,
  scale: fields.scale,
  payload: fields.payload,
})

const transmit = (side: Side, wire: Wire, flags: number, sequence: number, payload: Buffer): void => {
  const isSyn = (flags & flag.SYN) !== 0
  const window = Math.max(0, side.room - side.held)
  side.offered = isSyn || !side.isScaled ? Math.min(window, unscaledWindowMax) : window
  if (payload.length > 0) side.lessons = learn(side.lessons, payload.length, (flags & flag.PSH) !== 0)
  wire.send(
    segmentOf(side, {
      sequence,
      acknowledgement: flags & flag.ACK ? side.receiveNext : 0,
      flags,
      window: isSyn || !side.isScaled ? side.offered : side.offered >> windowScale,
      mss: isSyn ? segmentLengthMaxOf(side.node) : 0,
      scale: isSyn && side.isScaled ? windowScale : -1,
      payload,
    }),
  )
}
