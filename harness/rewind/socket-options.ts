import { check, libc, setsockopt } from '../../proxy/libc.ts'

const getOption = libc.func('getsockopt', 'int', ['int', 'int', 'int', 'void *', 'void *'])

const SOL_SOCKET = 1
const IPPROTO_TCP = 6
const IPPROTO_IP = 0

/** A whole number that is set for a socket. */
export interface SocketOption {
  readonly level: number
  readonly name: number
}

const option = (level: number, name: number): SocketOption => ({ level, name })

export const socketOption = {
  reuseAddress: option(SOL_SOCKET, 2),
  type: option(SOL_SOCKET, 3),
  keepAlive: option(SOL_SOCKET, 9),
  accepts: option(SOL_SOCKET, 30),
  domain: option(SOL_SOCKET, 39),
  noDelay: option(IPPROTO_TCP, 1),
  keepIdle: option(IPPROTO_TCP, 4),
  keepInterval: option(IPPROTO_TCP, 5),
  keepCount: option(IPPROTO_TCP, 6),
  /** Which ports the kernel may choose from; older kernels have none. */
  portRange: option(IPPROTO_IP, 51),
} as const

export const getNumber = (fd: number, { level, name }: SocketOption): number => {
  const value = Buffer.alloc(4)
  const length = Buffer.from(Uint32Array.of(4).buffer)
  check('getsockopt', getOption(fd, level, name, value, length))
  return value.readInt32LE()
}

const linger = 13

/** Once closed, a connection is gone, and does not wait for its peer. */
export const closeAtOnce = (fd: number): void => {
  setsockopt(fd, SOL_SOCKET, linger, Buffer.from(Int32Array.of(1, 0).buffer), 8)
}

/** Closed, it ends its connection in the background, as at the end of a process: the one that closes it never waits. */
export const closeWithoutWaiting = (fd: number): void => {
  const value = Buffer.alloc(8)
  check('getsockopt', getOption(fd, SOL_SOCKET, linger, value, Buffer.from(Uint32Array.of(8).buffer)))
  const [isOn, seconds] = [value.readInt32LE(0), value.readInt32LE(4)]
  if (isOn !== 0 && seconds > 0) setsockopt(fd, SOL_SOCKET, linger, Buffer.alloc(8), 8)
}

/** struct tcp_info, of a listener: the greatest number that may wait. */
const TCP_INFO = 11
const backlogOffset = 28

export const backlogOf = (fd: number): number => {
  const info = Buffer.alloc(backlogOffset + 4)
  check('getsockopt', getOption(fd, IPPROTO_TCP, TCP_INFO, info, Buffer.from(Uint32Array.of(info.length).buffer)))
  return info.readUInt32LE(backlogOffset)
}

const IPPROTO_IPV6 = 41

/** Whole numbers that programs set: what they are is compared, and not restored. */
const comparedOptions: readonly SocketOption[] = [
  ...[2, 5, 6, 7, 8, 9, 12, 15, 16, 18, 29, 35, 46].map(name => option(SOL_SOCKET, name)),
  ...[1, 2, 8, 10, 32, 33, 34, 49].map(name => option(IPPROTO_IP, name)),
  ...[1, 2, 4, 5, 6, 9, 12, 13, 18, 23].map(name => option(IPPROTO_TCP, name)),
  ...[16, 18, 26, 67].map(name => option(IPPROTO_IPV6, name)),
]

/** How a socket is set, a line for each option that it has. */
export const settingsOf = (fd: number): string[] => {
  const value = Buffer.alloc(4)
  const length = Buffer.alloc(4)
  return comparedOptions.flatMap(({ level, name }) => {
    length.writeUInt32LE(4)
    return getOption(fd, level, name, value, length) === 0 ? [`option ${level} ${name}: ${value.readInt32LE()}`] : []
  })
}
