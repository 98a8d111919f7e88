import { setsockopt } from '../../proxy/libc.ts'
import { chosenPorts } from '../../proxy/namespace.ts'
import { withDuplicate } from './descriptor.ts'
import type { HeldProcess } from './held-node.ts'

const [first, last] = chosenPorts

/** The port that a node's socket has which is the `count`-th that it makes, where the program names none. */
const portOf = (count: number): number => first + (count % (last - first + 1))

const IPPROTO_IP = 0
/** Linux 6.3: the first and, in the upper half, the last port that the kernel may choose for a socket. */
const IP_LOCAL_PORT_RANGE = 51

/**
 * Lets the kernel choose a socket's port as by a counter. It would draw it otherwise: for a connection, for a datagram,
 * for `bind` to port 0. An older kernel goes on drawing.
 */
export const fixPort = ({ pid, node }: HeldProcess, fd: number): void => {
  const port = portOf(node.countSocket())
  const range = Buffer.from(Uint32Array.of((port << 16) | port).buffer)
  withDuplicate(pid, fd, own => setsockopt(own, IPPROTO_IP, IP_LOCAL_PORT_RANGE, range, range.length))
}
