import { createSocket, type Socket as DatagramSocket } from 'node:dgram'
import { Socket } from 'node:net'
import { parseAddress } from '../../linux/address.ts'
import {
  AF_INET,
  close,
  errno,
  lastErrno,
  libc,
  requireSuccess,
  SystemError,
  setsockopt,
  socket,
} from '../../linux/libc.ts'
import type { NetworkNamespace } from '../../linux/namespace.ts'
import { socketAddress } from '../../linux/tcp-table.ts'

const connect = libc.func('int connect(int fd, void *address, uint32_t length)')
const bind = libc.func('int bind(int fd, void *address, uint32_t length)')

const stream = 1 | 0o2000000 // SOCK_STREAM | SOCK_CLOEXEC
const datagram = 2 | 0o2000000 | 0o4000 // SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK
const SOL_SOCKET = 1
const SO_SNDTIMEO = 21
const patienceSeconds = 1

/**
 * A connection to a port of a node from inside its network, which is neither delayed nor cut. If it is refused, it
 * emits `error` with code `ECONNREFUSED`.
 */
export const connectInside = (namespace: NetworkNamespace, address: string, port: number): Socket => {
  const fd = namespace.run(() => requireSuccess('socket', socket(AF_INET, stream, 0)))
  const patience = Buffer.alloc(16)
  patience.writeBigInt64LE(BigInt(patienceSeconds))
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, patience, patience.length)
  const end = endOf(address, port)
  // Within one kernel it is immediate, unless the backlog is full.
  if (connect(fd, end, end.length) === 0) return new Socket({ fd })
  const error = new SystemError(`connect to ${address}:${port}`, timedOut(lastErrno()))
  close(fd)
  return new Socket().destroy(error)
}

/** A socket for datagrams inside the network of a node. */
export const datagramsInside = (namespace: NetworkNamespace, address: string): DatagramSocket => {
  const fd = namespace.run(() => requireSuccess('socket', socket(AF_INET, datagram, 0)))
  const end = endOf(address, 0)
  requireSuccess('bind', bind(fd, end, end.length))
  return createSocket('udp4').bind({ fd })
}

const endOf = (address: string, port: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(parseAddress(address))
  return socketAddress(AF_INET, bytes, port)
}

const timedOut = (number: number) =>
  number === errno.EAGAIN || number === errno.EINPROGRESS ? errno.ETIMEDOUT : number
