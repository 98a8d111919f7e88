import { libc } from './libc.ts'

const getOption = libc.func('getsockopt', 'int', ['int', 'int', 'int', 'void *', 'void *'])

const SOL_SOCKET = 1
const SO_TYPE = 3
const SOCK_STREAM = 1

/** Whether one of our own descriptors is a socket that carries bytes, not messages. */
export const isStreamSocket = (fd: number): boolean => {
  const value = Buffer.alloc(4)
  return (
    getOption(fd, SOL_SOCKET, SO_TYPE, value, Buffer.from(Uint32Array.of(4).buffer)) === 0 &&
    value.readInt32LE() === SOCK_STREAM
  )
}
