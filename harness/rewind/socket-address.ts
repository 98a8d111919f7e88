import { addressIn } from '../../linux/address.ts'
import { libc, requireSuccess } from '../../linux/libc.ts'

const getSocketName = libc.func('int getsockname(int fd, void *address, void *length)')
const getPeerName = libc.func('int getpeername(int fd, void *address, void *length)')

/** Longest address of IPv4 or IPv6. */
const lengthMax = 28

/** The socket's own struct sockaddr. */
export const ownAddressOf = (fd: number): Buffer => {
  const { name, length } = room()
  requireSuccess('getsockname', getSocketName(fd, name, length))
  return name.subarray(0, length.readUInt32LE())
}

/** Its peer's struct sockaddr; empty if it has no peer. */
export const peerOf = (fd: number): Buffer => {
  const { name, length } = room()
  return getPeerName(fd, name, length) === 0 ? name.subarray(0, length.readUInt32LE()) : Buffer.alloc(0)
}

/** The port in a struct sockaddr. */
export const portOfName = (name: Buffer): number => name.readUInt16BE(2)

/** The address in a struct sockaddr. */
export const internetAddressOf = (name: Buffer): number =>
  addressIn(name.length === 16 ? name.subarray(4, 8) : name.subarray(8, 24))

/** The network 127.0.0.0/8. */
const loopback = 127

/** Whether a socket of this name and its peer are in the same kernel. */
export const isToItself = (own: Buffer, peer: Buffer): boolean => {
  const address = internetAddressOf(peer)
  return Math.floor(address / 2 ** 24) === loopback || address === internetAddressOf(own)
}

const room = () => ({ name: Buffer.alloc(lengthMax), length: Buffer.from(Uint32Array.of(lengthMax).buffer) })
