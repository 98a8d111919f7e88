import { readlinkSync } from 'node:fs'
import { withDuplicate } from '../../linux/descriptor.ts'
import { errno, lastErrno, lseek, read, recv, write } from '../../linux/libc.ts'
import { syscallNumber } from '../../linux/syscall-number.ts'
import { tcpEntries } from '../../linux/tcp-table.ts'
import type { Segment } from '../../proxy/packets/packet.ts'
import { disarmTimerfd } from '../hold/calls/timerfd.ts'
import type { HeldProcess, HeldThread } from '../hold/held/held-node.ts'
import { type AskingMark, makeAskingSocket, markAsking } from './asking.ts'
import { makeCalls, type RawCall, succeed } from './calls/batch.ts'
import { CannotRewind } from './calls/error.ts'
import { type Facing, MarkedConnection } from './connection.ts'
import { hasEvents, takeEvents } from './epoll.ts'
import { Listener } from './listener.ts'
import { makeAgain } from './make-again.ts'
import { markNameless, type NamelessMark, rewindNameless } from './nameless.ts'
import {
  addressThatStays,
  type Descriptor,
  describeDescriptor,
  descriptorsOf,
  eventCountOf,
  infoOf,
  isUnused,
} from './open-descriptors.ts'
import { closeAtOnce, closeWithoutWaiting } from './socket-options.ts'
import { rewindUnread } from './unread.ts'

/** The open descriptors of a frozen process. */
export class DescriptorMarks {
  readonly #process: HeldProcess
  readonly #marks: readonly Descriptor[]
  readonly #asking: readonly AskingMark[]
  readonly #connections: readonly MarkedConnection[]
  /** Descriptors that are kept or restored at once: all except connections and requests for connections. */
  readonly #kept: readonly Descriptor[]
  readonly #listeners: readonly Listener[]
  readonly #nameless: readonly NamelessMark[]
  /** For each kept descriptor, what the kernel showed when this process was last rewound. */
  #shown: ReadonlyMap<number, string> = new Map()

  /**
   * @param facing the counterparts of its connections; undefined at the end of a start, when it may have none
   *
   * @throws CannotRewind if the present state of a descriptor cannot be restored
   */
  constructor(process: HeldProcess, facing: Facing | undefined) {
    const { pid } = process
    this.#process = process
    this.#marks = descriptorsOf(pid).map(descriptor => describeDescriptor(pid, descriptor))
    this.#kept = this.#marks.filter(({ kind }) => kind !== 'asking' && kind !== 'connection')
    this.#connections = connectionsAmong(process, this.#marks, facing)
    this.#nameless = markNameless(pid, this.#kept)
    this.#listeners = this.#kept.filter(({ kind }) => kind === 'listener').map(({ fd }) => new Listener(pid, fd))
    // A request that the network already holds must keep its numbers, or it would be another connection.
    const asking = this.#marks.filter(({ kind }) => kind === 'asking' && !facing)
    const entries = asking.length > 0 ? tcpEntries(pid) : []
    this.#asking = asking.map(({ fd, link, info }) => markAsking(pid, fd, link, info, entries))
    if (this.#connections.length > 0) this.#requireNoEvents()
  }

  /**
   * Closes everything whose closing others notice, as at the end of a process. The network carries no answers that
   * datagrams reach nobody. The thread's registers are lost.
   */
  close(thread: HeldThread): void {
    const others = this.#closeOthers(descriptorsOf(this.#process.pid), this.#kept, closeWithoutWaiting)
    makeCalls(thread, [...others, ...this.#listeners.map(({ shutting }) => shutting)])
  }

  /**
   * Restores the open descriptors, except connections that were requested.
   *
   * @param thread of the process; its registers are lost
   *
   * @throws CannotRewind if something was closed and cannot be made again
   */
  rewind(thread: HeldThread): void {
    const { pid } = this.#process
    const open = descriptorsOf(pid)
    const now = new Map(open.map(({ fd, link }) => [fd, link]))
    const staying = this.#kept.filter(
      ({ kind, fd, link }) => now.get(fd) === link && (kind !== 'unused' || isUnused(pid, fd)),
    )
    const lost = this.#kept.filter(mark => !staying.includes(mark))
    const connections = this.#connections.filter(each => each.stays(now)).flatMap(({ descriptors }) => descriptors)
    succeed(thread, this.#closeOthers(open, [...staying, ...connections], closeAtOnce))
    if (lost.length > 0) makeAgain(thread, lost, this.#kept)
    for (const mark of lost) mark.link = readlinkSync(`/proc/${pid}/fd/${mark.fd}`)
    for (const listener of this.#listeners) listener.openAgain(thread)
    this.#shown = new Map(this.#kept.map(({ fd }) => [fd, infoOf(pid, fd)]))
    for (const mark of this.#kept) this.#rewindOne(mark)
    rewindNameless(pid, this.#nameless)
    const later = new Set(
      [...this.#asking, ...this.#connections.flatMap(({ descriptors }) => descriptors)].map(({ fd }) => fd),
    )
    let isShown = true
    for (const mark of this.#watchers) {
      const calls = this.#watchAgain(mark, isShown ? this.#shownOf(mark) : infoOf(pid, mark.fd), later)
      succeed(thread, calls)
      // Two may be the same.
      isShown &&= calls.length === 0
    }
  }

  /** Inodes of its sockets with a connection. */
  get connected(): number[] {
    return this.#connections.map(({ link }) => Number(/\d+/.exec(link)![0]))
  }

  /**
   * Restores the connections of the mark. The node's kernel must have no other connections.
   *
   * @param thread of the process; its registers are lost
   *
   * @param say tells its kernel what others sent
   *
   * @throws CannotRewind
   */
  goBackToConnections(thread: HeldThread, say: (segment: Segment) => void): void {
    const { pid } = this.#process
    for (const listener of this.#listeners) listener.forgetWaiting()
    if (this.#connections.length === 0) return
    const open = new Map(descriptorsOf(pid).map(({ fd, link }) => [fd, link]))
    for (const connection of this.#connections) connection.goBack(thread, open, say)
    const later = new Set(this.#asking.map(({ fd }) => fd))
    // One after another, because two may be the same.
    for (const mark of this.#watchers) succeed(thread, this.#watchAgain(mark, infoOf(pid, mark.fd), later))
    for (const { fd } of this.#watchers) withDuplicate(pid, fd, takeEvents)
  }

  get #watchers(): Descriptor[] {
    return this.#kept.filter(({ kind }) => kind === 'epoll')
  }

  /** With EPOLLET, an event of a connection is reported once, so all events must have been taken. */
  #requireNoEvents(): void {
    const waiting = this.#watchers.find(({ fd }) => withDuplicate(this.#process.pid, fd, hasEvents))
    if (waiting) throw new CannotRewind(`descriptor ${waiting.fd} (${waiting.link}) has events that nobody has taken`)
  }

  /** The calls that close all others. Each socket is told how to close. */
  #closeOthers(
    open: ReturnType<typeof descriptorsOf>,
    these: readonly Descriptor[],
    tell: (own: number) => void,
  ): RawCall[] {
    const { pid } = this.#process
    const known = new Map(these.map(({ fd, link }) => [fd, link]))
    const others = open.filter(({ fd, link }) => known.get(fd) !== link)
    for (const { fd, link } of others) if (link.startsWith('socket:')) withDuplicate(pid, fd, tell)
    return others.map(({ fd }) => [syscallNumber.close, fd])
  }

  /** The kept descriptors as they were marked. */
  get kept(): readonly Descriptor[] {
    return this.#kept
  }

  /** The kept descriptors as they were when this process was last rewound, before their positions were restored. */
  get rewound(): readonly Descriptor[] {
    return this.#kept.map(mark => ({ ...mark, info: this.#shownOf(mark) }))
  }

  #shownOf({ fd }: Descriptor): string {
    return this.#shown.get(fd)!
  }

  /** Repeats the requests for connections, through a thread whose registers may be used. @throws CannotRewind */
  ask(thread: HeldThread): void {
    for (const mark of this.#asking) {
      makeAskingSocket(thread, mark)
      makeCalls(
        thread,
        this.#watchers.flatMap(({ fd, info }) => {
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
    if (mark.kind === 'datagrams' || mark.kind === 'netlink') withDuplicate(pid, fd, own => rewindDatagrams(own, mark))
    if (mark.kind === 'event') setCount(pid, mark, this.#shownOf(mark))
    if (mark.kind === 'file') setPosition(pid, mark, this.#shownOf(mark))
    if (mark.kind === 'pipe' || mark.kind === 'local') rewindUnread(pid, mark)
  }

  /** The calls that make an epoll descriptor watch what it watched, except descriptors that follow later. */
  #watchAgain({ fd, info }: Descriptor, shown: string, later: ReadonlySet<number>): RawCall[] {
    const before = watchedBy(info)
    const now = watchedBy(shown)
    const wrong = [...before].filter(([target, watch]) => watch !== now.get(target) && !later.has(target))
    const other = this.#marks.filter(mark => now.has(mark.fd) && !before.has(mark.fd) && !later.has(mark.fd))
    return [
      ...other.map(mark => [syscallNumber.epoll_ctl, fd, EPOLL_CTL_DEL, mark.fd, 0]),
      ...wrong.map(([target, watch]) => {
        const operation = now.has(target) ? EPOLL_CTL_MOD : EPOLL_CTL_ADD
        return [syscallNumber.epoll_ctl, fd, operation, target, eventOf(watch)]
      }),
    ]
  }
}

const connectionsAmong = (
  process: HeldProcess,
  marks: readonly Descriptor[],
  facing: Facing | undefined,
): MarkedConnection[] => {
  const found = marks.filter(({ kind }) => kind === 'connection' || (kind === 'asking' && facing))
  return [...new Set(found.map(({ link }) => link))].map(
    link =>
      new MarkedConnection(
        process,
        found.filter(each => each.link === link),
        facing,
      ),
  )
}

const MSG_DONTWAIT = 0x40
const rest = Buffer.alloc(16)

const rewindDatagrams = (own: number, { fd, kind, peer }: Descriptor): void => {
  if (!addressThatStays(kind, own).equals(peer)) throw new CannotRewind(`descriptor ${fd} has another address or peer`)
  // An error that came since is told before the datagrams.
  while (recv(own, rest, rest.length, MSG_DONTWAIT) >= 0 || lastErrno() !== errno.EAGAIN);
}

/** @param shown what the kernel shows of it now */
const setCount = (pid: number, { fd, info }: Descriptor, shown: string): void => {
  const before = eventCountOf(info)
  const now = eventCountOf(shown)
  if (before === now) return
  withDuplicate(pid, fd, own => {
    const count = Buffer.alloc(8)
    if (now > 0n) read(own, count, 8)
    count.writeBigUInt64LE(before)
    if (before > 0n) write(own, count, 8)
  })
}

const positionOf = (info: string): string => /^pos:\s*(\d+)$/m.exec(info)?.[1] ?? '0'

const setPosition = (pid: number, { fd, info }: Descriptor, shown: string): void => {
  const before = positionOf(info)
  if (positionOf(shown) !== before) withDuplicate(pid, fd, own => lseek(own, Number(before), 0))
}

/** Lines `tfd: 12 events: 19 data: 12 pos:0 …` of an epoll descriptor. All numbers but the first are hexadecimal. */
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
