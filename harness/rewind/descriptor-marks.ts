import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { ioctl, libc, read, recv, write } from '../../proxy/libc.ts'
import { tcpEntries } from '../../proxy/tcp-table.ts'
import { withDuplicate } from '../hold/descriptor.ts'
import type { HeldProcess, HeldThread } from '../hold/held-node.ts'
import { disarmTimerfd } from '../hold/kernel-timers.ts'
import { syscallNumber } from '../hold/syscall-number.ts'
import { type AskingMark, askAgain, markAsking } from './asking.ts'
import { type Call, makeCalls } from './batch.ts'
import { CannotRewind } from './error.ts'
import { closeAtOnce, getNumber, socketOption } from './socket-options.ts'

const lseek = libc.func('long lseek(int fd, long offset, int whence)')

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

type Kind = 'epoll' | 'event' | 'timer' | 'datagrams' | 'listener' | 'asking' | 'pipe' | 'local' | 'file'

/** What a frozen process has open. */
export class DescriptorMarks {
  readonly #process: HeldProcess
  readonly #marks: readonly Descriptor[]
  readonly #asking: readonly AskingMark[]

  /** @throws CannotRewind where something is open that cannot be brought back to what it is now */
  constructor(process: HeldProcess) {
    const { pid } = process
    const entries = tcpEntries(pid)
    this.#process = process
    this.#marks = descriptorsOf(pid).map(descriptor => describe(pid, descriptor))
    this.#asking = this.#marks
      .filter(({ kind }) => kind === 'asking')
      .map(({ fd, link, info }) => markAsking(pid, fd, link, info, entries))
  }

  /**
   * What the process has to call so that it has the same open, as it was, but for the connections that it had asked for.
   *
   * @throws CannotRewind where something is no longer open
   */
  rewind(): Call[] {
    const { pid } = this.#process
    const now = new Map(descriptorsOf(pid).map(descriptor => [descriptor.fd, descriptor.link]))
    const kept = this.#marks.filter(({ kind }) => kind !== 'asking')
    for (const { fd, link } of kept)
      if (now.get(fd) !== link) throw new CannotRewind(`it has closed descriptor ${fd} (${link})`)
    const known = new Set(kept.map(({ fd }) => fd))
    const others = [...now.keys()].filter(fd => !known.has(fd))
    for (const fd of others) if (now.get(fd)!.startsWith('socket:')) withDuplicate(pid, fd, closeAtOnce)
    for (const mark of kept) this.#rewindOne(mark)
    return [...others.map(fd => [syscallNumber.close, fd]), ...kept.flatMap(mark => this.#watchAgain(mark))]
  }

  /** Asks again for the connections that were asked for, by a thread whose registers may be used. @throws CannotRewind */
  ask(thread: HeldThread): void {
    for (const mark of this.#asking) {
      askAgain(thread, mark)
      const watchers = this.#marks.filter(({ kind }) => kind === 'epoll')
      makeCalls(
        thread,
        watchers.flatMap(({ fd, info }) => {
          const watch = watchedBy(info).get(mark.fd)
          return watch ? [[syscallNumber.epoll_ctl, fd, EPOLL_CTL_ADD, mark.fd, eventOf(watch)]] : []
        }),
      )
    }
  }

  get isAsking(): boolean {
    return this.#asking.length > 0
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
    const asking = new Set(this.#asking.map(mark => mark.fd))
    const wrong = [...before].filter(([target, watch]) => watch !== now.get(target) && !asking.has(target))
    const other = this.#marks.filter(mark => now.has(mark.fd) && !before.has(mark.fd) && mark.kind !== 'asking')
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

const kindOf = (pid: number, fd: number, link: string): Kind => {
  if (link.startsWith('socket:')) return withDuplicate(pid, fd, socketKind)!
  if (link.startsWith('pipe:')) return 'pipe'
  if (link === 'anon_inode:[eventpoll]') return 'epoll'
  if (link === 'anon_inode:[eventfd]') return 'event'
  if (link === 'anon_inode:[timerfd]') return 'timer'
  if (link.startsWith('anon_inode:')) throw new CannotRewind(`descriptor ${fd} is ${link}`)
  return 'file'
}

const AF_UNIX = 1
const internet = [2, 10]
const [STREAM, DGRAM] = [1, 2]

const socketKind = (own: number): Kind => {
  const domain = getNumber(own, socketOption.domain)
  const type = getNumber(own, socketOption.type)
  if (domain === AF_UNIX) return 'local'
  if (internet.includes(domain) && type === DGRAM) return 'datagrams'
  if (internet.includes(domain) && type === STREAM) return getNumber(own, socketOption.accepts) ? 'listener' : 'asking'
  throw new CannotRewind(`a socket of domain ${domain} and type ${type} is open`)
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
