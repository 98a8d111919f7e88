import { check, close, errno, lastErrno, libc, syscall } from '../../proxy/libc.ts'

const pidfdOpen = libc.func('int pidfd_open(int pid, unsigned int flags)')
const pidfdGetfdNumber = 438

/** Our own descriptor of a file that the process has open; undefined when it has none of that number. */
export const duplicate = (pid: number, fd: number): number | undefined => {
  const handle = check('pidfd_open', pidfdOpen(pid, 0))
  const copy = Number(syscall(pidfdGetfdNumber, handle, fd, 0, 0, 0, 0))
  const failed = copy === -1 ? lastErrno() : 0
  close(handle)
  return failed === errno.EBADF ? undefined : check('pidfd_getfd', copy)
}

/** Does something with such a descriptor, and closes it. */
export const withDuplicate = <Result>(pid: number, fd: number, use: (own: number) => Result): Result | undefined => {
  const own = duplicate(pid, fd)
  if (own === undefined) return undefined
  try {
    return use(own)
  } finally {
    close(own)
  }
}
