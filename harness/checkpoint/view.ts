import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { CLONE_NEWNS, check, close, libc, setns, umount2, unshare } from '../../proxy/libc.ts'
import { awayFromHome } from '../hold/away.ts'
import { createRunDirectory } from '../run-directory.ts'

const openTree = libc.func('syscall', 'long', ['long', 'int', 'const char *', 'unsigned int'])
const moveMount = libc.func('syscall', 'long', ['long', 'int', 'const char *', 'int', 'const char *', 'unsigned int'])
const number = { openTree: 428, moveMount: 429 } as const
const currentDirectory = -100
/** OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC */
const cloned = 0o2000001
/** MOVE_MOUNT_F_EMPTY_PATH */
const fromDescriptor = 4
const lazily = 2
const CLONE_FS = 0x200

/**
 * What CRIU sees in place of what a node sees: this machine's processes, and a directory where it keeps what it found out
 * about the kernel (it does that only in memory, and takes twice as long without).
 */
const shown = () => [
  { path: '/proc', source: '/proc' },
  { path: '/run', source: (ownRun ??= makeRun()) },
]

let ownRun: string | undefined
const makeRun = () => {
  const directory = join(createRunDirectory(), 'run')
  mkdirSync(directory)
  return directory
}

/** Does something in the mount namespace that `enter` brings this thread to; what CRIU has to see covers what is there. */
export const inView = <Result>(enter: () => void, work: () => Result): Result => {
  // A thread that shares its working directory with others may not go elsewhere.
  check('unshare(CLONE_FS)', unshare(CLONE_FS))
  return awayFromHome(() => {
    const trees = shown().map(({ path, source }) => ({ path, tree: cloneTree(source) }))
    const covered: string[] = []
    try {
      enter()
      for (const { path, tree } of trees) {
        check(
          `move_mount ${path}`,
          Number(moveMount(number.moveMount, tree, '', currentDirectory, path, fromDescriptor)),
        )
        covered.push(path)
      }
      return work()
    } finally {
      for (const path of covered) check(`umount ${path}`, umount2(path, lazily))
      for (const { tree } of trees) close(tree)
    }
  })
}

const cloneTree = (source: string): number =>
  check(`open_tree ${source}`, Number(openTree(number.openTree, currentDirectory, source, cloned)))

/** Brings this thread to a mount namespace. */
export const enterMounts = (fd: number): void => {
  check('setns(mnt)', setns(fd, CLONE_NEWNS))
}
