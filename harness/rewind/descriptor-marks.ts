import { readlinkSync } from 'node:fs'
import { lseek, read, recv, write } from '../../proxy/libc.ts'
import { tcpEntries } from '../../proxy/tcp-table.ts'
import { withDuplicate } from '../hold/descriptor.ts'
import type { HeldProcess, HeldThread } from '../hold/held-node.ts'
import { syscallNumber } from '../hold/syscall-number.ts'
import { disarmTimerfd } from '../hold/timerfd.ts'
import { type AskingMark, askAgain, markAsking } from './asking.ts'
import { type Call, makeCalls, succeed } from './batch.ts'
import { CannotRewind } from './error.ts'
import { Listener } from './listener.ts'
import { makeAgain } from './make-again.ts'
import { markNameless, type NamelessMark, rewindNameless } from './nameless.ts'
import { countOf, type Descriptor, describe, descriptorsOf, infoOf, pendingOf } from './open-descriptors.ts'
import { peerOf } from './socket-address.ts'
import { closeAtOnce, closeWithoutWaiting } from './socket-options.ts'

/** What a frozen process has open. */
export class DescriptorMarks {
  readonly #process: HeldProcess
  readonly #marks: readonly Descriptor[]
  readonly #asking: readonly AskingMark[]
  /** Which it still has when it is brought back: all but those that ask. */
  readonly #kept: readonly Descriptor[]
  readonly #listeners: readonly Listener[]
  readonly #nameless: readonly NamelessMark[]

  /** @throws CannotRewind where something is open that cannot be brought back to what it is now */
  constructor(process: HeldProcess) {
    const { pid } = process
    const entries = tcpEntries(pid)
    this.#process = process
    this.#marks = descriptorsOf(pid).map(descriptor => describe(pid, descriptor))
    this.#kept = this.#marks.filter(({ kind }) => kind !== 'asking')
    this.#nameless = markNameless(pid, this.#kept)
    this.#listeners = this.#kept.filter(({ kind }) => kind === 'listener').map(({ fd }) => new Listener(pid, fd))
    this.#asking = this.#marks
      .filter(({ kind }) => kind === 'asking')
      .map(({ fd, link, info }) => markAsking(pid, fd, link, info, entries))
  }

  /**
   * Closes all that others notice, as at the end of a process: no answer says that datagrams reach nobody, for the
   * network carries none. The thread's registers are lost.
   */
  close(thread: HeldThread): void {
    const others = this.#closeOthers(descriptorsOf(this.#process.pid), closeWithoutWaiting)
    makeCalls(thread, [...others, ...this.#listeners.map(({ shutting }) => shutting)])
  }

  /**
   * The process has the same open, as it was, but for the connections that it had asked for.
   *
   * @param thread of it, whose registers are lost
   * @throws CannotRewind where something is no longer open, and cannot be made again
   */
  rewind(thread: HeldThread): void {
    const { pid } = this.#process
    const open = descriptorsOf(pid)
    const now = new Map(open.map(({ fd, link }) => [fd, link]))
    const lost = this.#kept.filter(({ fd, link }) => now.get(fd) !== link)
    succeed(thread, this.#closeOthers(open, closeAtOnce))
    if (lost.length > 0) makeAgain(thread, lost, this.#kept)
    for (const mark of lost) mark.link = readlinkSync(`/proc/${pid}/fd/${mark.fd}`)
    for (const listener of this.#listeners) listener.openAgain(thread)
    for (const mark of this.#kept) this.#rewindOne(mark)
    rewindNameless(pid, this.#nameless)
    succeed(
      thread,
      this.#kept.flatMap(mark => this.#watchAgain(mark)),
    )
  }

  /** The calls that close what it has opened since; sockets are told how they close. */
  #closeOthers(open: ReturnType<typeof descriptorsOf>, tell: (own: number) => void): Call[] {
    const { pid } = this.#process
    const known = new Map(this.#kept.map(({ fd, link }) => [fd, link]))
    const others = open.filter(({ fd, link }) => known.get(fd) !== link)
    for (const { fd, link } of others) if (link.startsWith('socket:')) withDuplicate(pid, fd, tell)
    return others.map(({ fd }) => [syscallNumber.close, fd])
  }

  /** What it has open now of what is kept, anew. */
  describeKept(): Descriptor[] {
    const { pid } = this.#process
    return this.#kept.map(mark => ({ ...mark, info: infoOf(pid, mark.fd) }))
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
    if (mark.kind === 'timer') disarmTimerfd({ process: this.#process, fd })
    if (mark.kind === 'datagrams') withDuplicate(pid, fd, own => rewindDatagrams(own, mark))
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

const MSG_DONTWAIT = 0x40
const rest = Buffer.alloc(16)

const rewindDatagrams = (own: number, { fd, peer }: Descriptor): void => {
  if (!peerOf(own).equals(peer)) throw new CannotRewind(`descriptor ${fd} has another peer`)
  while (recv(own, rest, rest.length, MSG_DONTWAIT) >= 0);
}

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
