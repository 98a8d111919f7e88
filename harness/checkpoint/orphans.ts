import { AF_INET, check, close, libc, setsockopt, socket } from '../../proxy/libc.ts'
import type { NetworkNamespace } from '../../proxy/namespace.ts'
import type { Side } from '../../proxy/tcp.ts'
import { addressOf, portOf, socketAddress, tcpEntries, tcpState } from '../../proxy/tcp-table.ts'
import { CannotCheckpoint } from './error.ts'

/** Who faces a connection of a kernel, by the kernel's port and by the address and port of the peer. */
export type Facing = (port: number, peer: number, peerPort: number) => Side | undefined

const transient: readonly number[] = [tcpState.listen, tcpState.timeWait, tcpState.closed]

/**
 * The connections that a process's kernel has and no process any more: closed, they wait until their peer closes, too.
 * CRIU does not see them.
 *
 * @throws CannotCheckpoint where one is in another state
 */
export const orphansOf = (pid: number, facing: Facing): Side[] =>
  tcpEntries(pid)
    .filter(({ inode, state }) => inode === 0 && !transient.includes(state))
    .map(({ state, local, remote }) => {
      const side = facing(portOf(local), addressOf(remote), portOf(remote))
      if (state !== tcpState.finWait2 || side === undefined)
        throw new CannotCheckpoint(`its kernel has a connection in state ${state} that no process has`)
      return side
    })

const bind = libc.func('int bind(int fd, void *address, unsigned int length)')
const connect = libc.func('int connect(int fd, void *address, unsigned int length)')

const [SOCK_STREAM, SOCK_CLOEXEC, IPPROTO_TCP] = [1, 0o2000000, 6]
/** Of IPPROTO_TCP (linux/tcp.h): a socket in repair is given what others learn from their peer. */
const option = { repair: 19, repairQueue: 20, queueSequence: 21, repairOptions: 22, repairWindow: 29 } as const
const queue = { receive: 1, send: 2 } as const
const on = 1
/** Off, without asking the peer for its window. */
const offSilently = -1
/** Of TCP itself: the kinds of options in a SYN. */
const [segmentSize, windowScale] = [2, 3]
const ourScale = 7

/** Gives a kernel such connections again: each is closed, says so once more, and is told again that this is known. */
export const makeOrphans = (namespace: NetworkNamespace, sides: readonly Side[]): void => {
  if (sides.length > 0) namespace.run(() => sides.forEach(makeOrphan))
}

const makeOrphan = (side: Side): void => {
  const fd = check('socket', socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))
  const set = (name: number, value: Buffer) =>
    check(`setsockopt ${name}`, setsockopt(fd, IPPROTO_TCP, name, value, value.length))
  const setSequence = (which: number, next: number) => {
    set(option.repairQueue, int(which))
    set(option.queueSequence, int(next | 0))
  }
  try {
    set(option.repair, int(on))
    const own = address(side.node, side.nodePort)
    check('bind', bind(fd, own, own.length))
    // Its end has been sent already, and takes one number.
    setSequence(queue.send, side.receiveNext - 1)
    setSequence(queue.receive, side.sendUnacknowledged)
    const peer = address(side.peer, side.peerPort)
    check('connect', connect(fd, peer, peer.length))
    set(option.repairOptions, Buffer.concat([int(segmentSize), int(side.segmentLengthMax)]))
    if (side.isScaled)
      set(option.repairOptions, Buffer.concat([int(windowScale), int(ourScale | (side.sendScale << 16))]))
    set(option.repairWindow, windows(side))
    set(option.repair, int(offSilently))
  } finally {
    close(fd)
  }
}

const int = (value: number) => Buffer.from(Int32Array.of(value).buffer)

/** struct tcp_repair_window: what it may send, and what it may be sent. */
const windows = ({ sendUnacknowledged, sendWindow, offered }: Side): Buffer =>
  Buffer.concat([sendUnacknowledged, offered, offered, sendWindow, sendUnacknowledged].map(value => int(value | 0)))

const address = (numeric: number, port: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(numeric)
  return socketAddress(AF_INET, bytes, port)
}
