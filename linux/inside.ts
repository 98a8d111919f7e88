import { closeSync, constants, fstatSync, openSync, readFileSync, statfsSync } from 'node:fs'
import { errno, lastErrno, libc, SystemError } from './libc.ts'
import { syscallNumber } from './syscall-number.ts'

const openat2 = libc.func('syscall', 'long', ['long', 'int', 'const char *', 'void *', 'size_t'])
const resolveInRoot = 0x10
const closeOnExec = 0o2000000
/** Size of a `struct open_how`: flags, mode, resolve. */
const howSize = 24
/** How often to retry if names change while the kernel resolves them. */
const attemptsMax = 100

/**
 * Opens a path inside a node with this root. Links are followed as in the node, never out of its files, because a node
 * may have made links to mislead.
 *
 * @throws SystemError
 */
export const openInside = (root: number, path: string, flags: number): number => {
  const how = Buffer.alloc(howSize)
  how.writeBigUInt64LE(BigInt(flags | closeOnExec), 0)
  how.writeBigUInt64LE(BigInt(resolveInRoot), 16)
  for (let attempt = 1; ; attempt++) {
    const fd = Number(openat2(syscallNumber.openat2, root, path, how, how.length))
    if (fd >= 0) return fd
    const failed = lastErrno()
    if (failed !== errno.EAGAIN || attempt === attemptsMax) throw new SystemError(`open ${path}`, failed)
  }
}

export const pathOnly = 0o10000000 // O_PATH

/**
 * Opens a path as a process sees it, whose root may be one of its own.
 *
 * @param fileSystem the file system's required magic number (statfs(2)), because a process may put its own file
 * anywhere
 *
 * @throws SystemError, also if the file is on another file system
 */
export const openFor = (pid: number, path: string, flags: number, fileSystem?: number): number => {
  const root = openSync(`/proc/${pid}/root`, pathOnly | constants.O_DIRECTORY)
  try {
    const fd = openInside(root, path, flags)
    if (fileSystem === undefined || statfsSync(`/proc/self/fd/${fd}`).type === fileSystem) return fd
    closeSync(fd)
    throw new SystemError(`open ${path}`, errno.EXDEV)
  } finally {
    closeSync(root)
  }
}

/** Does something with a path, valid in this process, that leads to a node's directory. */
export const insideDirectory = <Result>(root: number, path: string, use: (own: string) => Result): Result => {
  const fd = openInside(root, path, constants.O_DIRECTORY)
  try {
    return use(`/proc/self/fd/${fd}`)
  } finally {
    closeSync(fd)
  }
}

/**
 * Content of a node's file. It is read synchronously, because an asynchronous reader would count as done with the node.
 *
 * @throws SystemError, also if it is not a file, since reading that might never end
 */
export const readInside = (root: number, path: string): Buffer => {
  const fd = openInside(root, path, constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
  try {
    const stat = fstatSync(fd)
    if (!stat.isFile()) throw new SystemError(`read ${path}`, stat.isDirectory() ? errno.EISDIR : errno.EINVAL)
    return readFileSync(fd)
  } finally {
    closeSync(fd)
  }
}
