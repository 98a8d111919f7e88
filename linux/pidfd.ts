import { errno, lastErrno, libc, requireSuccess, syscall } from './libc.ts'
import { syscallNumber } from './syscall-number.ts'

/**
 * A process by descriptor, which never comes to mean another process, as an id may (pidfd_open(2)). Calls are made by
 * number, because the C library has functions for them only since glibc 2.36.
 */

const pollDescriptors = libc.func('poll', 'int', ['void *', 'unsigned long', 'int'])
const readable = 1

/** Undefined if there is no such process. */
export const openProcess = (pid: number): number | undefined => {
  const descriptor = Number(syscall(syscallNumber.pidfd_open, pid, 0, 0, 0, 0, 0))
  if (descriptor === -1 && lastErrno() === errno.ESRCH) return undefined
  return requireSuccess(`pidfd_open ${pid}`, descriptor)
}

/** Sends a signal. Nothing happens if the process has ended. */
export const signalProcess = (descriptor: number, signal: number): void => {
  const result = Number(syscall(syscallNumber.pidfd_send_signal, descriptor, signal, 0, 0, 0, 0))
  if (result === -1 && lastErrno() !== errno.ESRCH) requireSuccess('pidfd_send_signal', result)
}

/** Blocks until the process has ended; false after that many milliseconds, or after a signal to this thread. */
export const awaitProcess = (descriptor: number, milliseconds: number): boolean => {
  const request = Buffer.alloc(8)
  request.writeInt32LE(descriptor, 0)
  request.writeInt16LE(readable, 4)
  const result = pollDescriptors(request, 1, milliseconds)
  if (result === -1 && lastErrno() === errno.EINTR) return false
  return requireSuccess('poll', result) > 0
}
