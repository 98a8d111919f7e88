import { close, libc, read, requireSuccess, write } from '../../linux/libc.ts'

const eventfd = libc.func('int eventfd(unsigned int initial, int flags)')
const flags = 0o2000000 | 0o4000 // EFD_CLOEXEC | EFD_NONBLOCK

/** Wakes a thread that waits for descriptors (eventfd(2)). */
export const newWake = (): number => requireSuccess('eventfd', eventfd(0, flags))

export const wake = (fd: number): void => {
  const one = Buffer.alloc(8)
  one.writeBigUInt64LE(1n)
  requireSuccess('write to the eventfd', write(fd, one, one.length))
}

/** Resets the descriptor, so that one can wait for it again. */
export const awake = (fd: number): void => {
  read(fd, Buffer.alloc(8), 8)
}

export const closeWake = (fd: number): void => {
  close(fd)
}
