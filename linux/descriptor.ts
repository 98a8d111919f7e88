import { closeSync, openSync, readdirSync, readlinkSync } from 'node:fs'
import { close, errno, lastErrno, requireSuccess, syscall } from './libc.ts'
import { syscallNumber } from './syscall-number.ts'

/** Descriptors of the processes whose files are being duplicated one after another. */
const handles = new Map<number, number>()

/** Opens a process once for everything that is duplicated meanwhile. */
export const withProcess = <Result>(pid: number, work: () => Result): Result => {
  if (handles.has(pid)) return work()
  // By number, as in `pidfd.ts`.
  const handle = requireSuccess('pidfd_open', Number(syscall(syscallNumber.pidfd_open, pid, 0, 0, 0, 0, 0)))
  handles.set(pid, handle)
  try {
    return work()
  } finally {
    handles.delete(pid)
    close(handle)
  }
}

/** Our own descriptor of a process's open file; undefined if the process has no such descriptor. */
export const duplicate = (pid: number, fd: number): number | undefined => {
  return withProcess(pid, () => {
    const copy = Number(syscall(syscallNumber.pidfd_getfd, handles.get(pid)!, fd, 0, 0, 0, 0))
    return copy === -1 && lastErrno() === errno.EBADF ? undefined : requireSuccess('pidfd_getfd', copy)
  })
}

/** Does something with such a descriptor and closes it. */
export const withDuplicate = <Result>(pid: number, fd: number, use: (own: number) => Result): Result | undefined => {
  const own = duplicate(pid, fd)
  if (own === undefined) return undefined
  try {
    return use(own)
  } finally {
    close(own)
  }
}

/** Opens a file of this machine for as long as it is used. */
export const withFile = <Result>(path: string, flags: string | number, use: (fd: number) => Result): Result => {
  const fd = openSync(path, flags)
  try {
    return use(fd)
  } finally {
    closeSync(fd)
  }
}

/** The first descriptor of a process for one of these sockets; undefined if it has none or is gone. */
export const socketOf = (pid: number, inodes: readonly number[]): number | undefined => {
  const names = new Set(inodes.map(inode => `socket:[${inode}]`))
  const directory = `/proc/${pid}/fd`
  const found = listed(directory).find(fd => names.has(linkOf(`${directory}/${fd}`)))
  return found === undefined ? undefined : Number(found)
}

const listed = (directory: string): string[] => {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}

const linkOf = (path: string): string => {
  try {
    return readlinkSync(path)
  } catch {
    return ''
  }
}
