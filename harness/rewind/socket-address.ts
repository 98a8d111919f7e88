import { check, libc } from '../../proxy/libc.ts'

const getSocketName = libc.func('int getsockname(int fd, void *address, void *length)')
const getPeerName = libc.func('int getpeername(int fd, void *address, void *length)')

/** Of an address of IPv4 or IPv6. */
const lengthMax = 28

/** struct sockaddr of the socket itself. */
export const nameOf = (fd: number): Buffer => {
  const { name, length } = room()
  check('getsockname', getSocketName(fd, name, length))
  return name.subarray(0, length.readUInt32LE())
}

/** struct sockaddr of its peer; empty where it has none. */
export const peerOf = (fd: number): Buffer => {
  const { name, length } = room()
  return getPeerName(fd, name, length) === 0 ? name.subarray(0, length.readUInt32LE()) : Buffer.alloc(0)
}

/** The port in a struct sockaddr. */
export const portOfName = (name: Buffer): number => name.readUInt16BE(2)

/** The IPv4 address in a struct sockaddr, which may be written as one of IPv6. */
export const internetAddressOf = (name: Buffer): number => name.readUInt32BE(name.length === 16 ? 4 : 20)

const room = () => ({ name: Buffer.alloc(lengthMax), length: Buffer.from(Uint32Array.of(lengthMax).buffer) })
