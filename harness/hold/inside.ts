import { closeSync, constants, fstatSync, openSync, readFileSync, statfsSync } from 'node:fs'
import { errno, lastErrno, libc, SystemError } from '../../proxy/libc.ts'

const openat2 = libc.func('syscall', 'long', ['long', 'int', 'const char *', 'void *', 'size_t'])
const openat2Number = 437
const resolveInRoot = 0x10
const closeOnExec = 0o2000000
/** Of a `struct open_how`: flags, mode, resolve. */
const howSize = 24
/** Names may change while the kernel looks them up. */
const attemptsMax = 100

/**
 * Opens what is at a path in a node, whose root this is. Links lead where they lead the node, never out of its files:
 * what a node has made may be meant to mislead.
 *
 * @throws SystemError
 */
export const openInside = (root: number, path: string, flags: number): number => {
  const how = Buffer.alloc(howSize)
  how.writeBigUInt64LE(BigInt(flags | closeOnExec), 0)
  how.writeBigUInt64LE(BigInt(resolveInRoot), 16)
  for (let attempt = 1; ; attempt++) {
    const fd = Number(openat2(openat2Number, root, path, how, how.length))
    if (fd >= 0) return fd
    const failed = lastErrno()
    if (failed !== errno.EAGAIN || attempt === attemptsMax) throw new SystemError(`open ${path}`, failed)
  }
}

export const pathOnly = 0o10000000 // O_PATH

/**
 * Opens what is at a path for a process, whose root may be one that it has made itself.
 *
 * @param fileSystem that it must be on, by its magic number of statfs(2): a process may put a file of its own anywhere
 * @throws SystemError, also where it is on another one
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

/** Does something with a path of this process that leads to a directory of a node. */
export const insideDirectory = <Result>(root: number, path: string, use: (own: string) => Result): Result => {
  const fd = openInside(root, path, constants.O_DIRECTORY)
  try {
    return use(`/proc/self/fd/${fd}`)
  } finally {
    closeSync(fd)
  }
}

/**
 * Content of a file of a node. It is read at once: whoever waited for it would be taken for done with the node.
 *
 * @throws SystemError, also where it is no file, which might never end
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
