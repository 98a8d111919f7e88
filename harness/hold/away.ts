import { closeSync, openSync } from 'node:fs'
import { check, libc, setns } from '../../proxy/libc.ts'

const chdir = libc.func('int chdir(const char *path)')

/** Runs something that moves this thread to other namespaces, and brings it back to those that it was in. */
export const awayFromHome = <Result>(away: () => Result): Result => {
  const home = ['mnt', 'uts', 'ipc', 'net', 'pid'].map(name => openSync(`/proc/thread-self/ns/${name}`, 'r'))
  const directory = process.cwd()
  try {
    return away()
  } finally {
    for (const fd of home) {
      check('setns', setns(fd, 0))
      closeSync(fd)
    }
    check(`chdir ${directory}`, chdir(directory))
  }
}
