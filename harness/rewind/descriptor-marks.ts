import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { check, libc, read, recv, write } from '../../proxy/libc.ts'
import { withDuplicate } from '../hold/descriptor.ts'
import type { HeldProcess } from '../hold/held-node.ts'
import { disarmTimerfd } from '../hold/kernel-timers.ts'
import { syscallNumber } from '../hold/syscall-number.ts'
import type { Call } from './batch.ts'
import { CannotRewind } from './error.ts'

const lseek = libc.func('long lseek(int fd, long offset, int whence)')
const setOption = libc.func('int setsockopt(int fd, int level, int name, void *value, unsigned int length)')
const getOption = libc.func('getsockopt', 'int', ['int', 'int', 'int', 'void *', 'void *'])
const ioctl = libc.func('int ioctl(int fd, unsigned long request, void *argument)')

/** A descriptor of a process: the name of what it is open on, and what the kernel tells of that. */
interface Descriptor {
  readonly fd: number
  /** `socket:[4711]`, `anon_inode:[eventpoll]`, `/dev/null` */
  readonly link: string
  /** /proc/P/fdinfo */
  readonly info: string
  readonly kind: Kind
  /** Bytes that can be read, of a pipe or a local socket. */
  readonly pending: number
}

type Kind = 'epoll' | 'event' | 'timer' | 'datagrams' | 'listener' | 'stream' | 'pipe' | 'local' | 'file'

/** What a frozen process has open. */
export class DescriptorMarks {
  readonly #process: HeldProcess
  readonly #marks: readonly Descriptor[]

  /** @throws CannotRewind where something is open that cannot be brought back to what it is now */
  constructor(process: HeldProcess) {
    this.#process = process
    this.#marks = descriptorsOf(process.pid).map(descriptor => markable(describe(process.pid, descriptor)))
  }

  /**
   * What the process has to call so that it has the same open, as it was.
   *
   * @throws CannotRewind where something is no longer open
   */
  rewind(): Call[] {
    const { pid } = this.#process
    const now = new Map(descriptorsOf(pid).map(descriptor => [descriptor.fd, descriptor.link]))
    for (const { fd, link } of this.#marks)
      if (now.get(fd) !== link) throw new CannotRewind(`it has closed descriptor ${fd} (${link})`)
    const known = new Set(this.#marks.map(mark => mark.fd))
    const others = [...now.keys()].filter(fd => !known.has(fd))
    for (const fd of others) if (now.get(fd)!.startsWith('socket:')) withDuplicate(pid, fd, closeAtOnce)
    for (const mark of this.#marks) this.#rewindOne(mark)
    return [...others.map(fd => [syscallNumber.close, fd]), ...this.#marks.flatMap(mark => this.#watchAgain(mark))]
  }

  #rewindOne(mark: Descriptor): void {
    const { pid } = this.#process
    const { fd } = mark
    if (mark.kind === 'timer') disarmTimerfd(this.#process, fd)
    if (mark.kind === 'datagrams') withDuplicate(pid, fd, forgetDatagrams)
    if (mark.kind === 'event') setCount(pid, mark)
    if (mark.kind === 'file') setPosition(pid, mark)
    if ((mark.kind === 'pipe' || mark.kind === 'local') && pendingOf(pid, fd) !== mark.pending)
      throw new CannotRewind(`descriptor ${fd} (${mark.link}) has something to read`)
  }

  /** The calls after which an epoll descriptor watches what it did. */
  #watchAgain({ kind, fd, info }: Descriptor): Call[] {
    if (kind !== 'epoll') return []
    const before = watchedBy(info)
    const now = watchedBy(infoOf(this.#process.pid, fd))
    const wrong = [...before].filter(([target, watch]) => watch !== now.get(target))
    const other = this.#marks.filter(mark => now.has(mark.fd) && !before.has(mark.fd))
    return [
      ...other.map(mark => [syscallNumber.epoll_ctl, fd, EPOLL_CTL_DEL, mark.fd, 0]),
      ...wrong.map(([target, watch]) => {
        const operation = now.has(target) ? EPOLL_CTL_MOD : EPOLL_CTL_ADD
        return [syscallNumber.epoll_ctl, fd, operation, target, eventOf(watch)]
      }),
    ]
  }
}

const descriptorsOf = (pid: number): { fd: number; link: string }[] =>
  readdirSync(`/proc/${pid}/fd`).map(name => ({ fd: Number(name), link: readlinkSync(`/proc/${pid}/fd/${name}`) }))

const infoOf = (pid: number, fd: number): string => readFileSync(`/proc/${pid}/fdinfo/${fd}`, 'latin1')

const describe = (pid: number, { fd, link }: { fd: number; link: string }): Descriptor => {
  const kind = kindOf(pid, fd, link)
  const pending = kind === 'pipe' || kind === 'local' ? pendingOf(pid, fd) : 0
  return { fd, link, kind, pending, info: infoOf(pid, fd) }
}

const markable = (descriptor: Descriptor): Descriptor => {
  const { fd, link, kind } = descriptor
  if (kind === 'stream') throw new CannotRewind(`descriptor ${fd} (${link}) is a connection`)
  return descriptor
}

const kindOf = (pid: number, fd: number, link: string): Kind => {
  if (link.startsWith('socket:')) return withDuplicate(pid, fd, socketKind)!
  if (link.startsWith('pipe:')) return 'pipe'
  if (link === 'anon_inode:[eventpoll]') return 'epoll'
  if (link === 'anon_inode:[eventfd]') return 'event'
  if (link === 'anon_inode:[timerfd]') return 'timer'
  if (link.startsWith('anon_inode:')) throw new CannotRewind(`descriptor ${fd} is ${link}`)
  return 'file'
}

const SOL_SOCKET = 1
const option = { type: 3, linger: 13, accepts: 30, domain: 39 } as const
const AF_UNIX = 1
const internet = [2, 10]
const [STREAM, DGRAM] = [1, 2]

const numberOption = (own: number, name: number): number => {
  const value = Buffer.alloc(4)
  const length = Buffer.from(Uint32Array.of(4).buffer)
  check('getsockopt', getOption(own, SOL_SOCKET, name, value, length))
  return value.readInt32LE()
}

const socketKind = (own: number): Kind => {
  const domain = numberOption(own, option.domain)
  const type = numberOption(own, option.type)
  if (domain === AF_UNIX) return 'local'
  if (internet.includes(domain) && type === DGRAM) return 'datagrams'
  if (internet.includes(domain) && type === STREAM) return numberOption(own, option.accepts) ? 'listener' : 'stream'
  throw new CannotRewind(`a socket of domain ${domain} and type ${type} is open`)
}

/** Once closed, a connection is gone, and does not wait for its peer. */
const closeAtOnce = (own: number): void => {
  setOption(own, SOL_SOCKET, option.linger, Buffer.from(Int32Array.of(1, 0).buffer), 8)
}

const MSG_DONTWAIT = 0x40
const rest = Buffer.alloc(16)

const forgetDatagrams = (own: number): void => {
  while (recv(own, rest, rest.length, MSG_DONTWAIT) >= 0);
}

const FIONREAD = 0x541b

const pendingOf = (pid: number, fd: number): number =>
  withDuplicate(pid, fd, own => {
    const count = Buffer.alloc(4)
    return ioctl(own, FIONREAD, count) === -1 ? 0 : count.readInt32LE()
  }) ?? 0

/** Of an event descriptor: `eventfd-count: 0` (hexadecimal). */
const countOf = (info: string): bigint => BigInt(`0x${/^eventfd-count:\s*([0-9a-f]+)$/m.exec(info)?.[1] ?? '0'}`)

const setCount = (pid: number, { fd, info }: Descriptor): void => {
  const before = countOf(info)
  const now = countOf(infoOf(pid, fd))
  if (before === now) return
  withDuplicate(pid, fd, own => {
    const count = Buffer.alloc(8)
    if (now > 0n) read(own, count, 8)
    count.writeBigUInt64LE(before)
    if (before > 0n) write(own, count, 8)
  })
}

const positionOf = (info: string): string => /^pos:\s*(\d+)$/m.exec(info)?.[1] ?? '0'

const setPosition = (pid: number, { fd, info }: Descriptor): void => {
  const before = positionOf(info)
  if (positionOf(infoOf(pid, fd)) !== before) withDuplicate(pid, fd, own => lseek(own, Number(before), 0))
}

/** Lines `tfd: 12 events: 19 data: 12 pos:0 …` of an epoll descriptor, numbers but the first hexadecimal. */
const watchedBy = (info: string): Map<number, string> =>
  new Map(
    [...info.matchAll(/^tfd:\s*(\d+)\s+(events:\s*\S+\s+data:\s*\S+)/gm)].map(([, fd, how]) => [Number(fd), how!]),
  )

const EPOLL_CTL_ADD = 1
const EPOLL_CTL_DEL = 2
const EPOLL_CTL_MOD = 3

/** struct epoll_event */
const eventOf = (watch: string): Buffer => {
  const [, events, data] = /^events:\s*(\S+)\s+data:\s*(\S+)$/.exec(watch)!
  const event = Buffer.alloc(12)
  event.writeUInt32LE(Number.parseInt(events!, 16), 0)
  event.writeBigUInt64LE(BigInt(`0x${data}`), 4)
  return event
}
