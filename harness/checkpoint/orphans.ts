import { bytesOfAddress, isIpv6 } from '../../linux/address.ts'
import { AF_INET, AF_INET6, close, requireSuccess, socket } from '../../linux/libc.ts'
import type { NetworkNamespace } from '../../linux/namespace.ts'
import { addressOf, portOf, socketAddress, tcpEntries, tcpState } from '../../linux/tcp-table.ts'
import type { Side } from '../../proxy/tcp.ts'
import type { Facing } from '../rewind/connection.ts'
import { connectSilently } from '../rewind/repaired-socket.ts'
import { CannotCheckpoint } from './error.ts'

const transient: readonly number[] = [tcpState.listen, tcpState.timeWait, tcpState.closed]

/**
 * Connections that a process's kernel still has although no process has them any more: closed, and waiting for their
 * peer to close. CRIU does not see them.
 *
 * @throws CannotCheckpoint if one is in another state
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

const [SOCK_STREAM, SOCK_CLOEXEC] = [1, 0o2000000]

/**
 * Gives such connections back to a kernel: each is closed and announces that again, and the router acknowledges it
 * again.
 */
export const makeOrphans = (namespace: NetworkNamespace, sides: readonly Side[]): void => {
  if (sides.length > 0) namespace.run(() => sides.forEach(makeOrphan))
}

const makeOrphan = (side: Side): void => {
  const fd = requireSuccess('socket', socket(familyOf(side.node), SOCK_STREAM | SOCK_CLOEXEC, 0))
  try {
    const [own, peer] = [address(side.node, side.nodePort), address(side.peer, side.peerPort)]
    connectSilently(fd, { own, peer, unread: Buffer.alloc(0) }, side)
  } finally {
    close(fd)
  }
}

const familyOf = (numeric: number): number => (isIpv6(numeric) ? AF_INET6 : AF_INET)

const address = (numeric: number, port: number): Buffer =>
  socketAddress(familyOf(numeric), bytesOfAddress(numeric), port)
