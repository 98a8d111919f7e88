import { closeSync, openSync } from 'node:fs'
import { CLONE_FS, requireSuccess, setns, unshare } from './libc.ts'
import { changeDirectory } from './mount-calls.ts'

/** Runs something with this thread in some namespaces of a process, such as its `mnt` and `pid`. */
export const inNamespacesOf = <Result>(pid: number, names: readonly string[], inside: () => Result): Result => {
  const there = names.map(name => openSync(`/proc/${pid}/ns/${name}`, 'r'))
  try {
    return awayFromHome(() => {
      for (const fd of there) requireSuccess('setns', setns(fd, 0))
      return inside()
    }, names)
  } finally {
    for (const fd of there) closeSync(fd)
  }
}

/**
 * Runs something that moves this thread to other namespaces, and then returns the thread to its own.
 *
 * @param names of the namespaces that it may leave
 */
export const awayFromHome = <Result>(
  away: () => Result,
  names: readonly string[] = ['mnt', 'uts', 'ipc', 'net', 'pid'],
): Result => {
  const home = names.map(name => openSync(`/proc/thread-self/ns/${name}`, 'r'))
  const directory = process.cwd()
  // A thread that shares its root with others, as each new one does with its creator, may not enter another mount
  // namespace.
  requireSuccess('unshare(CLONE_FS)', unshare(CLONE_FS))
  try {
    return away()
  } finally {
    for (const fd of home) {
      requireSuccess('setns', setns(fd, 0))
      closeSync(fd)
    }
    changeDirectory(directory)
  }
}
