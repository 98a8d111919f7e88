import { check, errno, lastErrno, libc, SystemError, send, setsockopt } from '../../proxy/libc.ts'
import type { Side } from '../../proxy/tcp.ts'

const bind = libc.func('int bind(int fd, void *address, unsigned int length)')
const connect = libc.func('int connect(int fd, void *address, unsigned int length)')

const fcntl = libc.func('int fcntl(int fd, int command, int argument)')

const [F_GETFL, F_SETFL] = [3, 4]
const O_NONBLOCK = 0o4000
const [IPPROTO_IP, IP_OPTIONS] = [0, 4]
const IPPROTO_TCP = 6
/** Of IPPROTO_TCP (linux/tcp.h): a socket in repair is given what others learn from their peer. */
const option = { repair: 19, repairQueue: 20, queueSequence: 21, repairOptions: 22, repairWindow: 29 } as const
const queue = { receive: 1, send: 2 } as const
const on = 1
/** Off, without asking the peer for its window. */
const offSilently = -1
/** Of TCP itself: the kinds of options in a SYN. */
const [segmentSize, windowScale] = [2, 3]
const ourScale = 7

/** A connection of a kernel as it was at one instant. */
export interface Connected {
  /** struct sockaddr of the socket, and of its peer. */
  readonly own: Buffer
  readonly peer: Buffer
  /** Who faces it. */
  readonly side: Side
  /** What came, and nobody has read. */
  readonly unread: Buffer
}

/**
 * Makes a socket one end of a connection without a word to the other end. Both are open still; whoever had closed closes
 * again, with the same numbers. SO_REUSEADDR is off afterwards.
 *
 * @param fd of a socket that is not connected
 * @throws SystemError where the kernel, or our rights, do not allow it
 */
export const connectSilently = (fd: number, { own, peer, side, unread }: Connected): void => {
  const received = receivedBefore(side)
  beginRepair(fd, own, side.receiveNext - (side.isFinished ? 1 : 0), received - unread.length)
  check('connect', connect(fd, peer, peer.length))
  set(fd, option.repairOptions, Buffer.concat([int(segmentSize), int(side.segmentLengthMax)]))
  if (side.isScaled)
    set(fd, option.repairOptions, Buffer.concat([int(windowScale), int(ourScale | (side.sendScale << 16))]))
  if (unread.length > 0) check('send', send(fd, unread, unread.length, 0))
  set(fd, option.repairWindow, windows(side, received))
  endRepair(fd)
  // Its segments follow from the other end's, of which it learned just now: it thinks of that when it is told of options of IP.
  check('setsockopt', setsockopt(fd, IPPROTO_IP, IP_OPTIONS, nobody, 0))
}

/**
 * Asks for a connection as before, with the same numbers: the other end takes that for the same question, asked again. Does not
 * wait for the answer.
 *
 * @param fd as above
 */
export const askAgain = (fd: number, { own, peer, side }: Omit<Connected, 'unread'>): void => {
  beginRepair(fd, own, side.receiveNext - 1, 0)
  endRepair(fd)
  const flags = check('fcntl', fcntl(fd, F_GETFL, 0))
  check('fcntl', fcntl(fd, F_SETFL, flags | O_NONBLOCK))
  const asked = connect(fd, peer, peer.length)
  const failed = asked === -1 ? lastErrno() : 0
  check('fcntl', fcntl(fd, F_SETFL, flags))
  if (failed !== errno.EINPROGRESS) throw new SystemError('connect', failed)
}

/** The number up to which it has received all, but for the other's end, which it is told of again. */
const receivedBefore = ({ sendUnacknowledged, finish }: Side): number =>
  sendUnacknowledged - (finish === 'acknowledged' ? 1 : 0)

const beginRepair = (fd: number, own: Buffer, sendNext: number, receiveNext: number): void => {
  set(fd, option.repair, int(on))
  // Where its program chose the port, it still has it, and this fails.
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
  check(`setsockopt ${name}`, setsockopt(fd, IPPROTO_TCP, name, value, value.length))
}

/** AF_UNSPEC */
const nobody = Buffer.alloc(16)

/** Takes a socket out of its connection without a word to the other end, as if it had never been connected. */
export const disconnectSilently = (fd: number): void => {
  check('setsockopt', setsockopt(fd, IPPROTO_TCP, option.repair, int(on), 4))
  check('connect', connect(fd, nobody, nobody.length))
}

const int = (value: number) => Buffer.from(Int32Array.of(value).buffer)

/** struct tcp_repair_window: what it may send, and what it may be sent. */
const windows = ({ sendWindow, offered }: Side, received: number): Buffer =>
  Buffer.concat([received, offered, offered, sendWindow, received].map(value => int(value | 0)))
