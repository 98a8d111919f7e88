import { getsockopt, libc, requireSuccess, setsockopt, untilDone } from '../../linux/libc.ts'
import { getBytes, getNumber, SOL_SOCKET, type SocketOption, socketType } from '../../linux/socket-option.ts'
import { CannotRewind } from './calls/error.ts'
import { unreadIn } from './queued-bytes.ts'

const IPPROTO_TCP = 6
const IPPROTO_IP = 0

const option = (level: number, name: number): SocketOption => ({ level, name })

const IPPROTO_IPV6 = 41

export const socketOption = {
  reuseAddress: option(SOL_SOCKET, 2),
  type: socketType,
  error: option(SOL_SOCKET, 4),
  keepAlive: option(SOL_SOCKET, 9),
  accepts: option(SOL_SOCKET, 30),
  protocol: option(SOL_SOCKET, 38),
  domain: option(SOL_SOCKET, 39),
  onlyIpv6: option(IPPROTO_IPV6, 26),
  noDelay: option(IPPROTO_TCP, 1),
  keepIdle: option(IPPROTO_TCP, 4),
  keepInterval: option(IPPROTO_TCP, 5),
  keepCount: option(IPPROTO_TCP, 6),
  /** The ports that the kernel may choose from. Older kernels lack it. */
  portRange: option(IPPROTO_IP, 51),
} as const

const linger = 13

/** Makes closing the socket drop its connection at once, without waiting for the peer. */
export const closeAtOnce = (fd: number): void => {
  setsockopt(fd, SOL_SOCKET, linger, Buffer.from(Int32Array.of(1, 0).buffer), 8)
}

/**
 * Makes closing the socket end its connection in the background, as at the end of a process, so closing never waits.
 */
export const closeWithoutWaiting = (fd: number): void => {
  const value = getBytes(fd, SOL_SOCKET, linger, 8)
  const [isOn, seconds] = [value.readInt32LE(0), value.readInt32LE(4)]
  if (isOn !== 0 && seconds > 0) setsockopt(fd, SOL_SOCKET, linger, Buffer.alloc(8), 8)
}

/** struct tcp_info. For a listener, these fields are the number of waiting connections, and its maximum. */
const TCP_INFO = 11
const [waitingOffset, backlogOffset] = [24, 28]

export const backlogOf = (fd: number): number => tcpInfo(fd, backlogOffset)

/** How many connections wait at a listener. */
export const waitingOf = (fd: number): number => tcpInfo(fd, waitingOffset)

const tcpInfo = (fd: number, offset: number): number =>
  getBytes(fd, IPPROTO_TCP, TCP_INFO, offset + 4).readUInt32LE(offset)

/** Integer options that programs set, by level. They are compared and not restored. */
const compared: Readonly<Record<number, Readonly<Record<number, string>>>> = {
  [SOL_SOCKET]: {
    ...{ 2: 'SO_REUSEADDR', 5: 'SO_DONTROUTE', 6: 'SO_BROADCAST', 7: 'SO_SNDBUF', 8: 'SO_RCVBUF', 9: 'SO_KEEPALIVE' },
    ...{ 12: 'SO_PRIORITY', 15: 'SO_REUSEPORT', 16: 'SO_PASSCRED', 18: 'SO_RCVLOWAT', 29: 'SO_TIMESTAMP' },
    ...{ 35: 'SO_TIMESTAMPNS', 46: 'SO_BUSY_POLL' },
  },
  [IPPROTO_IP]: {
    ...{ 1: 'IP_TOS', 2: 'IP_TTL', 8: 'IP_PKTINFO', 10: 'IP_MTU_DISCOVER', 32: 'IP_MULTICAST_IF' },
    ...{ 33: 'IP_MULTICAST_TTL', 34: 'IP_MULTICAST_LOOP', 49: 'IP_MULTICAST_ALL' },
  },
  [IPPROTO_TCP]: {
    ...{ 1: 'TCP_NODELAY', 2: 'TCP_MAXSEG', 4: 'TCP_KEEPIDLE', 5: 'TCP_KEEPINTVL', 6: 'TCP_KEEPCNT' },
    ...{ 9: 'TCP_DEFER_ACCEPT', 12: 'TCP_QUICKACK', 13: 'TCP_CONGESTION', 18: 'TCP_USER_TIMEOUT', 23: 'TCP_FASTOPEN' },
  },
  [IPPROTO_IPV6]: { 16: 'IPV6_UNICAST_HOPS', 18: 'IPV6_MULTICAST_HOPS', 26: 'IPV6_V6ONLY', 67: 'IPV6_TCLASS' },
}

const comparedOptions: readonly SocketOption[] = [SOL_SOCKET, IPPROTO_IP, IPPROTO_TCP, IPPROTO_IPV6].flatMap(level =>
  Object.keys(compared[level]!).map(name => option(level, Number(name))),
)

/** Options that are structures: SO_LINGER, SO_RCVTIMEO and SO_SNDTIMEO. */
const blocks = [
  { name: linger, length: 8 },
  { name: 20, length: 16 },
  { name: 21, length: 16 },
] as const

/** Options such as IP_MULTICAST_TTL, which the kernel sets on accepted connections, where they have no effect. */
const isOfMulticast = ({ level, name }: SocketOption) =>
  (level === IPPROTO_IP && [32, 33, 34, 49].includes(name)) || (level === IPPROTO_IPV6 && name === 18)

/** Settings of a TCP socket. */
export interface SocketSettings {
  readonly numbers: readonly (readonly [SocketOption, number])[]
  readonly blocks: readonly Buffer[]
}

export const readSettings = (fd: number): SocketSettings => ({
  numbers: numbersOf(fd).filter(([each]) => !isOfMulticast(each)),
  blocks: blocks.map(({ name, length }) => getBytes(fd, SOL_SOCKET, name, length)),
})

/**
 * SO_SNDBUF and SO_RCVBUF. SO_SNDBUFFORCE and SO_RCVBUFFORCE can exceed the limit for programs; the kernel doubles the
 * value that they set, so half of it is passed.
 */
const forced: ReadonlyMap<number, number> = new Map([
  [7, 32],
  [8, 33],
])
/** SO_BUF_LOCK: which of the two sizes the kernel may no longer change. Setting a size locks it. */
const bufferLock = option(SOL_SOCKET, 72)
const isMaximumSegment = ({ level, name }: SocketOption) => level === IPPROTO_TCP && name === 2

/** Changes settings of a socket that differ. @throws CannotRewind, SystemError if that is not possible */
export const applySettings = (fd: number, { numbers, blocks: values }: SocketSettings): void => {
  const now = readSettings(fd)
  for (const [each, value] of numbers) {
    const is = now.numbers.find(([{ level, name }]) => level === each.level && name === each.name)?.[1]
    if (is === value) continue
    if (isMaximumSegment(each)) throw new CannotRewind(`a segment of a socket had ${value} bytes, and has ${is}`)
    const force = each.level === SOL_SOCKET ? forced.get(each.name) : undefined
    if (force === undefined) setNumber(fd, each, value)
    else setBuffer(fd, option(SOL_SOCKET, force), value)
  }
  for (const [index, { name, length }] of blocks.entries())
    if (!now.blocks[index]!.equals(values[index]!))
      requireSuccess('setsockopt', setsockopt(fd, SOL_SOCKET, name, values[index]!, length))
}

const setBuffer = (fd: number, force: SocketOption, value: number): void => {
  const lock = getNumber(fd, bufferLock)
  setNumber(fd, force, value / 2)
  setNumber(fd, bufferLock, lock)
}

export const setNumber = (fd: number, { level, name }: SocketOption, value: number): void => {
  requireSuccess(
    `setsockopt ${level} ${name}`,
    setsockopt(fd, level, name, Buffer.from(Int32Array.of(value).buffer), 4),
  )
}

/** Discards a pending error. The kernel reports an error once. */
export const takeError = (fd: number): void => {
  getNumber(fd, socketOption.error)
}

const [optionsOffset, scalesOffset, receivedSegmentOffset, growingWindowOffset, ownSegmentOffset] = [5, 6, 20, 64, 84]

/** Fields of struct tcp_info, by name, that decide what a connection does next, except sequence numbers. */
const decisive = [
  ['options', optionsOffset, 1],
  ['scales', scalesOffset, 1],
  ['send segment', 16, 4],
  ['received segment', receivedSegmentOffset, 4],
  ['path', 60, 4],
  ['window that grows', growingWindowOffset, 4],
  ['own segment', ownSegmentOffset, 4],
] as const

export const tcpStateOf = (fd: number): string => {
  const info = getBytes(fd, IPPROTO_TCP, TCP_INFO, 104)
  const fields = decisive.map(([name, at, length]) => `${name} ${info.readUIntLE(at, length)}`)
  return [...fields, `largest window ${getNumber(fd, windowClamp)}`].join(', ')
}

/** Fields of struct tcp_info that count what a connection has carried: bytes and segments in both directions. */
const carried = [
  [120, 144],
  [152, 160],
] as const
const poll = libc.func('int poll(void *asked, unsigned long count, int timeout)')
const POLLRDHUP = 0x2000

/** Equal for two instants between which a connection has carried nothing, and no direction of it was closed. */
export const useOf = (fd: number): string => {
  const info = getBytes(fd, IPPROTO_TCP, TCP_INFO, 160)
  /** struct pollfd */
  const asked = Buffer.alloc(8)
  asked.writeInt32LE(fd)
  asked.writeInt16LE(POLLRDHUP, 4)
  requireSuccess(
    'poll',
    untilDone(() => poll(asked, 1, 0)),
  )
  const counts = carried.map(([from, to]) => info.toString('hex', from, to))
  return [info[0], unreadIn(fd), asked.readInt16LE(6), ...counts].join(' ')
}

/** What both ends of a connection agreed on when it was made. */
export interface Terms {
  /** Longest segment. */
  readonly segment: number
  /** Shifts of the windows that it sends into and offers; undefined if neither is scaled. */
  readonly scales?: { readonly send: number; readonly receive: number } | undefined
  /** Whether it acknowledges selectively. */
  readonly isSelective: boolean
}

/** Bit of tcpi_options. */
const selective = 2

export const termsOf = (fd: number): Terms => {
  const info = getBytes(fd, IPPROTO_TCP, TCP_INFO, 104)
  const shifts = info.readUInt8(scalesOffset)
  return {
    segment: info.readUInt32LE(ownSegmentOffset),
    scales: { send: shifts & 15, receive: shifts >> 4 },
    isSelective: (info.readUInt8(optionsOffset) & selective) !== 0,
  }
}

/** How long the kernel supposes the peer's segments to be. */
export const receivedSegmentOf = (fd: number): number => tcpInfo(fd, receivedSegmentOffset)

/** TCP_WINDOW_CLAMP: the largest window that a connection may ever offer. */
const windowClamp = option(IPPROTO_TCP, 10)

/** How large a window a connection may offer: at present, which grows with what arrives, and ever. */
export interface WindowLimits {
  readonly present: number
  readonly ever: number
}

export const windowLimitsOf = (fd: number): WindowLimits => ({
  present: tcpInfo(fd, growingWindowOffset),
  ever: getNumber(fd, windowClamp),
})

/**
 * Sets the limits of a connection's window.
 *
 * @param offer makes this the window that it offers now, and is overwritten afterwards
 */
export const setWindowLimits = (fd: number, { present, ever }: WindowLimits, offer: (window: number) => void): void => {
  // A lower limit lowers the present one too. A higher one raises it to the window that is offered.
  setNumber(fd, windowClamp, 1)
  offer(present)
  setNumber(fd, windowClamp, ever)
}

/** How many segments it may have in flight. */
export const congestionWindowOf = (fd: number): number => tcpInfo(fd, 80)

/** TCP_ESTABLISHED and others. */
export const connectionStateOf = (fd: number): number => getBytes(fd, IPPROTO_TCP, TCP_INFO, 1)[0]!

/** Settings of a socket, one line per option. */
export const settingsOf = (fd: number): string[] =>
  numbersOf(fd)
    .filter(([each]) => !isSendBuffer(each) || !growsByListening(fd))
    .map(([{ level, name }, value]) => `${compared[level]![name]}: ${value}`)

const isSendBuffer = ({ level, name }: SocketOption) => level === SOL_SOCKET && name === 7
const multipath = 262
const sendBufferLocked = 1

/**
 * Where a listener of multipath TCP, Go's default, listens again, the kernel adds to the size of this buffer.
 * Connections take theirs from the ordinary listener beneath it, whose size stays the same.
 */
const growsByListening = (fd: number): boolean =>
  getNumber(fd, socketOption.protocol) === multipath && (getNumber(fd, bufferLock) & sendBufferLocked) === 0

const numbersOf = (fd: number): (readonly [SocketOption, number])[] => {
  const value = Buffer.alloc(4)
  const length = Buffer.alloc(4)
  return comparedOptions.flatMap(each => {
    length.writeUInt32LE(4)
    const isThere = getsockopt(fd, each.level, each.name, value, length) === 0
    return isThere ? [[each, value.readInt32LE()] as const] : []
  })
}
