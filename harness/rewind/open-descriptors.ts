import { readdirSync, readlinkSync } from 'node:fs'
import { withDuplicate } from '../../linux/descriptor.ts'
import { readKernelFile } from '../../linux/kernel-file.ts'
import { Readable } from '../../linux/readable.ts'
import { getNumber } from '../../linux/socket-option.ts'
import { CannotRewind } from './calls/error.ts'
import { unreadIn } from './queued-bytes.ts'
import { internetAddressOf, ownAddressOf, peerOf, portOfName } from './socket-address.ts'
import { connectionStateOf, socketOption } from './socket-options.ts'
import { contentOfPipe } from './unread.ts'

/** A descriptor of a process: the name of what is open, and what the kernel shows about it. */
export interface Descriptor {
  readonly fd: number
  /** `socket:[4711]`, `anon_inode:[eventpoll]`, `/dev/null` */
  link: string
  /** /proc/P/fdinfo */
  readonly info: string
  readonly kind: Kind
  /** Readable bytes, for a pipe or local socket. */
  readonly pending: number
  /** The first of these bytes, for a pipe. */
  readonly content: Buffer
  /** For a datagram socket: the peer that it has chosen, as struct sockaddr; for one of netlink its own address, with its groups. */
  readonly peer: Buffer
  /** For a socket that is not used yet: what `socket` made it of. */
  readonly made: SocketMade | undefined
  /** Whether another descriptor of its node is the same open file, as far as that was asked. */
  isShared: boolean
}

/** Arguments of `socket`. */
export interface SocketMade {
  readonly family: number
  readonly protocol: number
}

type Kind =
  | 'epoll'
  | 'event'
  | 'timer'
  | 'signals'
  | 'datagrams'
  | 'netlink'
  | 'listener'
  | 'unused'
  | 'asking'
  | 'connection'
  | 'pipe'
  | 'local'
  | 'file'

/** All descriptors of a process, by name. */
export const descriptorsOf = (pid: number): { fd: number; link: string }[] =>
  readdirSync(`/proc/${pid}/fd`).map(name => ({ fd: Number(name), link: readlinkSync(`/proc/${pid}/fd/${name}`) }))

export const infoOf = (pid: number, fd: number): string => readKernelFile(`/proc/${pid}/fdinfo/${fd}`)

/** @throws CannotRewind for a kind that cannot be restored */
export const describeDescriptor = (pid: number, { fd, link }: { fd: number; link: string }): Descriptor => {
  const kind = kindOf(pid, fd, link)
  const pending = kind === 'pipe' || kind === 'local' ? unreadBytesOf(pid, fd) : 0
  const content = kind === 'pipe' && pending > 0 ? withDuplicate(pid, fd, contentOfPipe)! : nothing
  const hasAddress = kind === 'datagrams' || kind === 'netlink'
  const peer = hasAddress ? withDuplicate(pid, fd, own => addressThatStays(kind, own))! : nothing
  if (hasAddress && withDuplicate(pid, fd, hasToTell))
    throw new CannotRewind(`descriptor ${fd} has unread datagrams, or an error that nobody has taken`)
  const made = kind === 'unused' ? withDuplicate(pid, fd, madeOf) : undefined
  return { fd, link, kind, pending, content, peer, made, info: infoOf(pid, fd), isShared: false }
}

/** The address that a socket of datagrams, or of netlink, must have at a rewind too. */
export const addressThatStays = (kind: Kind, own: number): Buffer =>
  kind === 'netlink' ? ownAddressOf(own) : peerOf(own)

/** Receiving, even without removing, would take an error that is pending. A datagram may be empty, so bytes do not tell. */
const hasToTell = (own: number): boolean => new Readable([own]).count() > 0

const kindOf = (pid: number, fd: number, link: string): Kind => {
  if (link.startsWith('socket:')) return withDuplicate(pid, fd, socketKind)!
  if (link.startsWith('pipe:')) return 'pipe'
  if (link === 'anon_inode:[eventpoll]') return 'epoll'
  if (link === 'anon_inode:[eventfd]') return 'event'
  if (link === 'anon_inode:[timerfd]') return 'timer'
  if (link === 'anon_inode:[signalfd]') return 'signals'
  if (link.startsWith('anon_inode:')) throw new CannotRewind(`descriptor ${fd} is ${link}`)
  return 'file'
}

const AF_UNIX = 1
const AF_NETLINK = 16
const internet = [2, 10]
const [STREAM, DGRAM] = [1, 2]

const socketKind = (own: number): Kind => {
  const domain = getNumber(own, socketOption.domain)
  const type = getNumber(own, socketOption.type)
  if (domain === AF_UNIX) return 'local'
  if (domain === AF_NETLINK) return 'netlink'
  if (internet.includes(domain) && type === DGRAM) return 'datagrams'
  if (internet.includes(domain) && type === STREAM) return tcpKind(own)
  throw new CannotRewind(`it has ${describeSocket(domain, type)}`)
}

/** By socket(2); a number without a name here is shown as it is. */
const domainNames: Readonly<Record<number, string>> = {
  2: 'IPv4',
  10: 'IPv6',
  17: 'packet',
  38: 'crypto',
  40: 'vsock',
}
const typeNames: Readonly<Record<number, string>> = { 1: 'stream', 2: 'datagram', 3: 'raw', 5: 'seqpacket' }

const describeSocket = (domain: number, type: number): string =>
  `a ${domainNames[domain] ?? `domain ${domain}`} socket (${typeNames[type] ?? `type ${type}`})`

/** TCP_ESTABLISHED, TCP_FIN_WAIT2 and TCP_CLOSE_WAIT: at least one end may send. */
const connected = [1, 5, 8]
const asks = 2
/** TCP_CLOSE */
const isClosed = 7

const tcpKind = (own: number): Kind => {
  if (getNumber(own, socketOption.accepts)) return 'listener'
  const state = connectionStateOf(own)
  if (connected.includes(state)) return 'connection'
  if (state === asks) return 'asking'
  if (state === isClosed && !hasName(ownAddressOf(own))) return 'unused'
  throw new CannotRewind('a socket of TCP has no connection, or one that is over')
}

/** A connection that is over leaves its socket the address that it had. */
const hasName = (name: Buffer): boolean => portOfName(name) !== 0 || internetAddressOf(name) !== 0

const madeOf = (own: number): SocketMade => ({
  family: getNumber(own, socketOption.domain),
  protocol: getNumber(own, socketOption.protocol),
})

/** Whether a socket that was not used at the mark is not used now. */
export const isUnused = (pid: number, fd: number): boolean =>
  withDuplicate(pid, fd, own => socketKind(own) === 'unused') ?? false

/** Flags of `open` with which a socket can be made. */
export const statusFlags = { settable: 0o2004000 } as const

export const flagsOf = ({ info }: Pick<Descriptor, 'info'>): number =>
  Number.parseInt(/^flags:\s*([0-7]+)$/m.exec(info)![1]!, 8)

const unreadBytesOf = (pid: number, fd: number): number => withDuplicate(pid, fd, unreadIn) ?? 0

/** Of an event descriptor: `eventfd-count: 0` (hexadecimal). */
export const eventCountOf = (info: string): bigint =>
  BigInt(`0x${/^eventfd-count:\s*([0-9a-f]+)$/m.exec(info)?.[1] ?? '0'}`)

const nothing = Buffer.alloc(0)
