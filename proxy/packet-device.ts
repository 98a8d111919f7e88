import { lastErrno, read, SystemError } from './libc.ts'

/**
 * Takes the next packet from a TUN device, and gives its length; 0: none now.
 *
 * @param meaningNone errors that say no more than that
 * @throws SystemError
 */
export const readPacket = (fd: number, into: Buffer, meaningNone: readonly number[]): number => {
  const length = read(fd, into, into.length)
  if (length >= 0) return length
  const number = lastErrno()
  if (meaningNone.includes(number)) return 0
  throw new SystemError('read from the TUN', number)
}
