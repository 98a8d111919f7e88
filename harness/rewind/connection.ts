import { readlinkSync } from 'node:fs'
import { duplicate, withDuplicate } from '../../linux/descriptor.ts'
import { close, recv, SystemError } from '../../linux/libc.ts'
import { syscallNumber } from '../../linux/syscall-number.ts'
import { socketAddressOf, tcpEntries } from '../../linux/tcp-table.ts'
import type { Segment } from '../../proxy/packets/packet.ts'
import type { Side } from '../../proxy/tcp.ts'
import type { HeldProcess, HeldThread } from '../hold/held/held-node.ts'
import { makeCalls, succeed } from './calls/batch.ts'
import { CannotRewind } from './calls/error.ts'
import { type FarEnd, OwnEnd, RouterEnd } from './far-end.ts'
import { type Descriptor, descriptorsOf, flagsOf, statusFlags } from './open-descriptors.ts'
import { unreadIn } from './queued-bytes.ts'
import { disconnectSilently } from './repaired-socket.ts'
import { internetAddressOf, isToItself, ownAddressOf, peerOf, portOfName } from './socket-address.ts'
import {
  applySettings,
  congestionWindowOf,
  readSettings,
  type SocketSettings,
  setNumber,
  socketOption,
  takeError,
  tcpStateOf,
  useOf,
  type WindowLimits,
  windowLimitsOf,
} from './socket-options.ts'

/** Finds the counterpart of a kernel's connection, by the kernel's port and the peer's address and port. */
export type Facing = (port: number, peer: number, peerPort: number) => Side | undefined

/** Segments that a new connection may have in flight (TCP_INIT_CWND). A restored connection counts as new. */
const firstWindow = 10
/** Limit on unread bytes, because they are kept with the mark. Above it, a connection cannot be marked. */
const unreadMax = 1 << 20
const dontWaitOnlyPeek = 0x40 | 0x02
const stream = 1
const closeOnExec = 0o2000000

/**
 * A connection that a process has, or requests, at an instant at which it had received everything sent to it. Whatever
 * happened to it since, the kernel is given the same connection again: its sequence numbers, unread bytes and settings.
 */
export class MarkedConnection {
  /** The process's descriptors of it. */
  readonly descriptors: readonly Descriptor[]
  readonly #pid: number
  /** Both ends, as struct sockaddr. */
  readonly #own: Buffer
  readonly #peer: Buffer
  readonly #farEnd: FarEnd
  readonly #unread: Buffer
  /** Whether other processes have the same socket. */
  readonly #isShared: boolean
  readonly #settings: SocketSettings
  readonly #limits: WindowLimits
  /** Its state as the kernel shows it, without times and sequence numbers. */
  readonly #state: string
  /** What its socket had carried when it was marked, or made again. */
  #use: string
  #isUnused = false

  /**
   * @param descriptors at least one
   *
   * @param facing undefined if it may have no connections to other nodes
   *
   * @throws CannotRewind if its present state cannot be restored
   */
  constructor({ pid, node }: HeldProcess, descriptors: readonly Descriptor[], facing: Facing | undefined) {
    this.#pid = pid
    this.#isShared = [...node.processes.keys()].some(
      other => other !== pid && descriptorsOf(other).some(({ link }) => link === descriptors[0]!.link),
    )
    this.descriptors = descriptors
    const own = duplicate(pid, this.#fd)!
    try {
      this.#own = ownAddressOf(own)
      this.#peer = peerOf(own)
      if (this.#peer.length === 0) this.#peer = askedPeerOf(pid, this.link)
      this.#farEnd = this.#farEndOf(own, facing)
      const obstacle = this.#farEnd.obstacle(own)
      if (obstacle) throw this.#cannot(obstacle)
      this.#unread = this.#readUnread(own)
      this.#settings = readSettings(own)
      this.#limits = windowLimitsOf(own)
      this.#state = tcpStateOf(own)
      this.#use = useOf(own)
      if (congestionWindowOf(own) > firstWindow) throw this.#cannot('is a connection that has carried much at once')
    } finally {
      close(own)
    }
  }

  get #fd(): number {
    return this.descriptors[0]!.fd
  }

  /** Name of its socket. */
  get link(): string {
    return this.descriptors[0]!.link
  }

  /**
   * Whether its socket is kept: if this process still has it under the same numbers, and nothing was carried by it since,
   * or another process has it too. Any other socket is made anew, because its kernel has learned from arriving data how
   * much fits into its buffer, and does not forget that.
   */
  stays(open: ReadonlyMap<number, string>): boolean {
    const isThere = this.descriptors.every(({ fd, link }) => open.get(fd) === link)
    this.#isUnused = isThere && withDuplicate(this.#pid, this.#fd, useOf) === this.#use
    return isThere && (this.#isShared || this.#isUnused)
  }

  /**
   * Restores the connection, in the same socket if that is kept.
   *
   * @param thread of the process, frozen; its registers are lost
   *
   * @param open the process's open descriptors, by number
   *
   * @param say tells its kernel what the other end sent
   *
   * @throws CannotRewind
   */
  goBack(thread: HeldThread, open: ReadonlyMap<number, string>, say: (segment: Segment) => void): void {
    const isThere = this.stays(open)
    if (!isThere) this.#makeSocket(thread)
    const own = duplicate(this.#pid, this.#fd)!
    try {
      if (this.#isUnused) applySettings(own, this.#settings)
      else this.#connect(own, isThere, say)
      this.#use = useOf(own)
      if (!isThere) for (const each of this.descriptors) each.link = readlinkSync(`/proc/${this.#pid}/fd/${each.fd}`)
    } catch (error) {
      throw error instanceof SystemError ? this.#cannot(`cannot be connected again: ${error.message}`) : error
    } finally {
      close(own)
    }
  }

  #connect(own: number, isConnected: boolean, say: (segment: Segment) => void): void {
    if (isConnected) disconnectSilently(own)
    takeError(own)
    // It can be set only before the socket has an address.
    const { level, name } = socketOption.onlyIpv6
    const isAlone = this.#settings.numbers.some(([each, value]) => each.level === level && each.name === name && value)
    if (isAlone && !isConnected) setNumber(own, socketOption.onlyIpv6, 1)
    // What a kept socket has learned since would not show behind limits that were set.
    const limits = isConnected && !this.#farEnd.hasTaught ? undefined : this.#limits
    this.#farEnd.connect(own, { own: this.#own, peer: this.#peer, unread: this.#unread, limits }, say)
    if (!ownAddressOf(own).equals(this.#own)) throw this.#cannot('cannot have its port again')
    applySettings(own, this.#settings)
    const state = tcpStateOf(own)
    if (this.#farEnd.isOpen && state !== this.#state)
      throw this.#cannot(`is connected in another way: ${this.#state}, then ${state}`)
  }

  /** @param facing undefined if it may have no connections to others */
  #farEndOf(own: number, facing: Facing | undefined): FarEnd {
    if (isToItself(this.#own, this.#peer)) return new OwnEnd(own)
    if (facing === undefined) throw this.#cannot('is a connection')
    const side = facing(portOfName(this.#own), internetAddressOf(this.#peer), portOfName(this.#peer))
    if (side === undefined) throw this.#cannot('is a connection that the network does not know')
    return new RouterEnd(side)
  }

  #makeSocket(thread: HeldThread): void {
    const [first] = this.descriptors
    const family = this.#own.readUInt16LE()
    const flags = flagsOf(first!) & statusFlags.settable
    const [made] = makeCalls(thread, [[syscallNumber.socket, family, stream | flags, 0]])
    if (made! < 0) throw this.#cannot(`cannot be made again: ${made}`)
    const copies = this.descriptors.filter(({ fd }) => fd !== made)
    succeed(
      thread,
      copies.map(each => [syscallNumber.dup3, made!, each.fd, flagsOf(each) & closeOnExec]),
    )
    if (copies.length === this.descriptors.length) succeed(thread, [[syscallNumber.close, made!]])
  }

  #readUnread(own: number): Buffer {
    const length = unreadIn(own)
    if (length > unreadMax) throw this.#cannot(`has ${length} bytes that nobody has read`)
    const unread = Buffer.alloc(length)
    const isWhole = length === 0 || recv(own, unread, length, dontWaitOnlyPeek) === length
    if (!isWhole) throw this.#cannot('has urgent data that nobody has read')
    return unread
  }

  #cannot(what: string): CannotRewind {
    return new CannotRewind(`descriptor ${this.#fd} (${this.link}) ${what}`)
  }
}

/** The peer of a socket that requests a connection, which the kernel shows elsewhere. */
const askedPeerOf = (pid: number, link: string): Buffer => {
  const entry = tcpEntries(pid).find(({ inode }) => link === `socket:[${inode}]`)
  if (entry === undefined) throw new CannotRewind(`a socket (${link}) has another network`)
  return socketAddressOf(entry.family, entry.remote)
}
