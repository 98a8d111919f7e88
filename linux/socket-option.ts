import { getsockopt, requireSuccess } from './libc.ts'

/** An integer option of a socket. */
export interface SocketOption {
  readonly level: number
  readonly name: number
}

export const SOL_SOCKET = 1
/** SO_TYPE: what socket(2) was told. */
export const socketType: SocketOption = { level: SOL_SOCKET, name: 3 }

/** @param fd one of our own descriptors. @throws if it is no socket, or has no such option */
export const getNumber = (fd: number, { level, name }: SocketOption): number =>
  getBytes(fd, level, name, 4).readInt32LE()

export const getBytes = (fd: number, level: number, name: number, length: number): Buffer => {
  const value = Buffer.alloc(length)
  requireSuccess('getsockopt', getsockopt(fd, level, name, value, Buffer.from(Uint32Array.of(length).buffer)))
  return value
}
