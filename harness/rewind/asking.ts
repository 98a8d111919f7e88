import { withDuplicate } from '../../linux/descriptor.ts'
import { getNumber, type SocketOption } from '../../linux/socket-option.ts'
import { syscallNumber } from '../../linux/syscall-number.ts'
import { type SocketEntry, socketAddressOf, tcpState } from '../../linux/tcp-table.ts'
import type { HeldThread } from '../hold/held/held-node.ts'
import { makeCalls } from './calls/batch.ts'
import { CannotRewind } from './calls/error.ts'
import { socketOption } from './socket-options.ts'

/** A socket that waits for its peer's answer to a request for a connection. */
export interface AskingMark {
  readonly fd: number
  readonly family: number
  /** The peer, as a struct sockaddr. */
  readonly peer: Buffer
  /** Flags as for `open`: whether it blocks, and survives an exec. */
  readonly flags: number
  readonly options: readonly (readonly [SocketOption, number])[]
}

const { reuseAddress, keepAlive, noDelay, keepIdle, keepInterval, keepCount, portRange } = socketOption
const kept = [reuseAddress, keepAlive, noDelay, keepIdle, keepInterval, keepCount, portRange]
const nonBlocking = 0o4000
const closeOnExec = 0o2000000
const stream = 1

/** @throws CannotRewind for a socket that is connected or has never requested a connection */
export const markAsking = (
  pid: number,
  fd: number,
  link: string,
  info: string,
  entries: readonly SocketEntry[],
): AskingMark => {
  const entry = entries.find(({ inode }) => link === `socket:[${inode}]`)
  if (entry?.state !== tcpState.synSent) throw new CannotRewind(`descriptor ${fd} (${link}) is a connection`)
  const flags = Number.parseInt(/^flags:\s*([0-7]+)$/m.exec(info)![1]!, 8) & (nonBlocking | closeOnExec)
  const options = withDuplicate(pid, fd, own => kept.map(option => [option, getNumber(own, option)] as const))!
  return { fd, family: entry.family, peer: socketAddressOf(entry.family, entry.remote), flags, options }
}

/** Makes such a socket again, through a frozen thread whose registers may be used. @throws CannotRewind */
export const makeAskingSocket = (thread: HeldThread, { fd, family, peer, flags, options }: AskingMark): void => {
  const [made] = makeCalls(thread, [[syscallNumber.socket, family, stream | flags, 0]])
  if (made! < 0) throw new CannotRewind(`no socket could be made: ${made}`)
  if (made !== fd)
    makeCalls(thread, [
      [syscallNumber.dup3, made!, fd, flags & closeOnExec],
      [syscallNumber.close, made!],
    ])
  makeCalls(
    thread,
    options.map(([{ level, name }, value]) => [syscallNumber.setsockopt, fd, level, name, numberOf(value), 4]),
  )
  // A thread that waits for the connection requests it itself.
  if (flags & nonBlocking) makeCalls(thread, [[syscallNumber.connect, fd, peer, peer.length]])
}

const numberOf = (value: number) => Buffer.from(Int32Array.of(value).buffer)
