import { withDuplicate } from '../../../linux/descriptor.ts'
import { setsockopt } from '../../../linux/libc.ts'
import { chosenPorts } from '../../../linux/namespace.ts'
import type { HeldProcess } from '../held/held-node.ts'

const [first, last] = chosenPorts

/** The port of the `count`-th socket that a node makes, if the program names none. */
const portOf = (count: number): number => first + (count % (last - first + 1))

const IPPROTO_IP = 0
/** Linux 6.3: the first and, in the upper half, the last port that the kernel may choose. */
const IP_LOCAL_PORT_RANGE = 51

/**
 * Makes the kernel choose a socket's port by a counter. Otherwise it draws a random one: for a connection, for a
 * datagram, and for `bind` to port 0. Kernels before Linux 6.3 still draw.
 */
export const fixPort = ({ pid, node }: HeldProcess, fd: number): void => {
  const port = portOf(node.countSocket())
  const range = Buffer.from(Uint32Array.of((port << 16) | port).buffer)
  withDuplicate(pid, fd, own => setsockopt(own, IPPROTO_IP, IP_LOCAL_PORT_RANGE, range, range.length))
}
