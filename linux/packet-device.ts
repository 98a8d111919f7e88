import { lastErrno, read, SystemError } from './libc.ts'

/**
 * Reads the next packet from a TUN device and returns its length; 0 if there is none.
 *
 * @param meaningNone errors that only mean that there is none
 *
 * @throws SystemError
 */
export const readPacket = (fd: number, into: Buffer, meaningNone: readonly number[]): number => {
  const length = read(fd, into, into.length)
  if (length >= 0) return length
  const number = lastErrno()
  if (meaningNone.includes(number)) return 0
  throw new SystemError('read from the TUN', number)
}
