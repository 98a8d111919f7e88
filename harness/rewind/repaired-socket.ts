import {
  AF_INET6,
  errno,
  lastErrno,
  libc,
  recv,
  requireSuccess,
  SystemError,
  send,
  setsockopt,
} from '../../linux/libc.ts'
import { getBytes, getNumber } from '../../linux/socket-option.ts'
import type { Segment } from '../../proxy/packets/packet.ts'
import { lessonsAgain } from '../../proxy/segment-lengths.ts'
import { filler, type Side } from '../../proxy/tcp.ts'
import { ownAddressOf } from './socket-address.ts'
import { setNumber, setWindowLimits, socketOption, type Terms, termsOf, type WindowLimits } from './socket-options.ts'

const bind = libc.func('int bind(int fd, void *address, unsigned int length)')
const connect = libc.func('int connect(int fd, void *address, unsigned int length)')

const fcntl = libc.func('int fcntl(int fd, int command, int argument)')

const [F_GETFL, F_SETFL] = [3, 4]
const O_NONBLOCK = 0o4000
const [IPPROTO_IP, IP_OPTIONS] = [0, 4]
const [IPPROTO_IPV6, IPV6_RTHDR] = [41, 57]
const IPPROTO_TCP = 6
/**
 * Options of IPPROTO_TCP (linux/tcp.h). A socket in repair mode is told what it would otherwise learn from its peer.
 */
const option = { repair: 19, repairQueue: 20, queueSequence: 21, repairOptions: 22, repairWindow: 29 } as const
const queue = { receive: 1, send: 2 } as const
const on = 1
const dontWait = 0x40
/** Off, without asking the peer for its window. */
const offSilently = -1
/** Kinds of options in a SYN. */
const [segmentSize, windowScale, selective] = [2, 3, 4]
const ourScale = 7

type Say = (segment: Segment) => void

/** A connection of a kernel at one instant. */
export interface Connected {
  /** Addresses of the socket and of its peer, as struct sockaddr. */
  readonly own: Buffer
  readonly peer: Buffer
  /** Bytes that arrived and were not read. */
  readonly unread: Buffer
  /** Limits of its window; undefined if they need not be set. */
  readonly limits?: WindowLimits | undefined
}

/**
 * Makes a socket one end of a connection. What its kernel sends to the other end meanwhile says nothing new and is to
 * be thrown away. Both directions are open then; a side that had closed its direction closes again, with the same
 * numbers. SO_REUSEADDR is off afterwards.
 *
 * @param fd of a socket that is not connected
 *
 * @param side the counterpart's
 *
 * @param say tells its kernel what the other end sent; absent if nobody will read from the connection
 *
 * @throws SystemError if the kernel, or our privileges, do not allow it
 */
export const connectSilently = (fd: number, connected: Connected, side: Side, say?: Say): void => {
  const scales = side.isScaled ? { send: ourScale, receive: side.sendScale } : undefined
  connectAgain(fd, connected, {
    sendNext: side.receiveNext - (side.isFinished ? 1 : 0),
    received: receivedBefore(side),
    sendWindow: side.sendWindow,
    terms: { segment: side.segmentLengthMax, scales, isSelective: false },
    windows: (received, window) => windows(side, received, window),
    teaching: say && teachingFor(fd, side, say),
  })
}

/** What a socket is told of a connection that it is to have again. */
interface Told {
  /** Sequence numbers of what it sends next and receives next. */
  readonly sendNext: number
  readonly received: number
  /** How many bytes its peer takes now. */
  readonly sendWindow: number
  readonly terms: Terms
  /** struct tcp_repair_window, before it receives this number */
  readonly windows: (received: number, sendWindow: number) => Buffer
  readonly teaching?: Teaching | undefined
}

/** Data that lets a kernel learn the same about its peer again. */
interface Teaching {
  readonly length: number
  /** @param first the sequence number of this data */
  teach(first: number): void
}

const connectAgain = (fd: number, { own, peer, unread, limits }: Connected, told: Told): void => {
  const { received, terms, teaching } = told
  const offer = (next: number, window: number) => set(fd, option.repairWindow, told.windows(next, window))
  const first = received - unread.length - (teaching?.length ?? 0)
  beginRepair(fd, own, told.sendNext, first)
  // The kernel's idea of the peer's segments is at most half of the window that it has when it connects.
  offer(first, terms.segment)
  requireSuccess('connect', connect(fd, peer, peer.length))
  agree(fd, terms)
  if (teaching) {
    offer(first, teaching.length)
    endRepair(fd)
    teaching.teach(first)
    set(fd, option.repair, int(on))
    set(fd, option.repairQueue, int(queue.receive))
  }
  if (unread.length > 0) requireSuccess('send', send(fd, unread, unread.length, 0))
  if (limits) setWindowLimits(fd, limits, window => offer(received, window))
  offer(received, told.sendWindow)
  endRepair(fd)
  computeSegmentAgain(fd)
}

/** Tells a socket in repair what both ends agreed on. */
const agree = (fd: number, { segment, scales, isSelective }: Terms): void => {
  set(fd, option.repairOptions, Buffer.concat([int(segmentSize), int(segment)]))
  if (scales)
    set(fd, option.repairOptions, Buffer.concat([int(windowScale), int(scales.send | (scales.receive << 16))]))
  if (isSelective) set(fd, option.repairOptions, Buffer.concat([int(selective), int(0)]))
}

/**
 * The segment size depends on the other end's, which was set just now, but is recomputed only when IP options are set.
 */
const computeSegmentAgain = (fd: number): void => {
  requireSuccess('setsockopt', setsockopt(fd, IPPROTO_IP, IP_OPTIONS, nobody, 0))
  if (ownAddressOf(fd).readUInt16LE() === AF_INET6)
    requireSuccess('setsockopt', setsockopt(fd, IPPROTO_IPV6, IPV6_RTHDR, nobody, 0))
}

/** What one end of a connection within a kernel has been told. */
export interface OwnTerms extends Terms {
  /** struct tcp_repair_window */
  readonly windows: Buffer
}

/** Nobody sees the sequence numbers of a connection within a kernel, so each end of one begins with this one. */
const ownNumber = 1 << 20
/** Offsets in struct tcp_repair_window. */
const [lastAcknowledged, receiveWindow, receivedUpTo] = [0, 12, 16]

/** Of a socket whose connection is established. */
export const ownTermsOf = (fd: number): OwnTerms => {
  const reused = getNumber(fd, socketOption.reuseAddress)
  set(fd, option.repair, int(on))
  const windows = getBytes(fd, IPPROTO_TCP, option.repairWindow, 20)
  endRepair(fd)
  // Repair has switched it off.
  setNumber(fd, socketOption.reuseAddress, reused)
  return { ...termsOf(fd), windows }
}

/** Makes a socket that is not connected one end of a connection within its kernel. The other end is made alike. */
export const connectToItself = (fd: number, connected: Connected, terms: OwnTerms): void =>
  connectAgain(fd, connected, {
    sendNext: ownNumber,
    received: ownNumber,
    sendWindow: terms.windows.readUInt32LE(receiveWindow),
    terms,
    windows: (received, window) => ownWindows(terms, received, window),
  })

const ownWindows = ({ windows }: OwnTerms, next: number, window: number): Buffer => {
  const now = Buffer.from(windows)
  now.writeUInt32LE(next, lastAcknowledged)
  now.writeUInt32LE(window, receiveWindow)
  now.writeUInt32LE(next, receivedUpTo)
  return now
}

/** Segments like those that the kernel had received, which nobody else reads; undefined if it learned nothing. */
const teachingFor = (fd: number, side: Side, say: Say): Teaching | undefined => {
  const segments = lessonsAgain(side.lessons)
  if (segments.length === 0) return undefined
  return {
    length: segments.reduce((sum, { length }) => sum + length, 0),
    teach(first) {
      let next = first
      for (const { length, isPushed } of segments) {
        say(filler(side, next, length, isPushed))
        requireSuccess('recv', recv(fd, Buffer.alloc(length), length, dontWait))
        next += length
      }
    },
  }
}

/**
 * Repeats a request for a connection with the same numbers. The other end takes it for a retransmission. Does not wait
 * for the answer.
 *
 * @param fd of a socket that is not connected
 */
export const askAgain = (fd: number, { own, peer }: Connected, side: Side): void => {
  beginRepair(fd, own, side.receiveNext - 1, 0)
  endRepair(fd)
  const flags = requireSuccess('fcntl', fcntl(fd, F_GETFL, 0))
  requireSuccess('fcntl', fcntl(fd, F_SETFL, flags | O_NONBLOCK))
  const asked = connect(fd, peer, peer.length)
  const failed = asked === -1 ? lastErrno() : 0
  requireSuccess('fcntl', fcntl(fd, F_SETFL, flags))
  if (failed !== errno.EINPROGRESS) throw new SystemError('connect', failed)
}

/** The sequence number up to which it has received everything except the other side's end, which is sent again. */
const receivedBefore = ({ sendUnacknowledged, finish }: Side): number =>
  sendUnacknowledged - (finish === 'acknowledged' ? 1 : 0)

const beginRepair = (fd: number, own: Buffer, sendNext: number, receiveNext: number): void => {
  set(fd, option.repair, int(on))
  // If its program chose the port, the socket is still bound and this fails.
  if (bind(fd, own, own.length) === -1 && lastErrno() !== errno.EINVAL) throw new SystemError('bind', lastErrno())
  for (const [which, next] of [
    [queue.send, sendNext],
    [queue.receive, receiveNext],
  ] as const) {
    set(fd, option.repairQueue, int(which))
    set(fd, option.queueSequence, int(next | 0))
  }
}

const endRepair = (fd: number): void => set(fd, option.repair, int(offSilently))

const set = (fd: number, name: number, value: Buffer): void => {
  requireSuccess(`setsockopt ${name}`, setsockopt(fd, IPPROTO_TCP, name, value, value.length))
}

/** AF_UNSPEC */
const nobody = Buffer.alloc(16)

/** Takes a socket out of its connection without sending anything, as if it had never been connected. */
export const disconnectSilently = (fd: number): void => {
  requireSuccess('setsockopt', setsockopt(fd, IPPROTO_TCP, option.repair, int(on), 4))
  requireSuccess('connect', connect(fd, nobody, nobody.length))
}

const int = (value: number) => Buffer.from(Int32Array.of(value).buffer)

/** struct tcp_repair_window: how much the socket may send, and may be sent. */
const windows = ({ offered }: Side, received: number, sendWindow: number): Buffer =>
  Buffer.concat([received, offered, offered, sendWindow, received].map(value => int(value | 0)))
