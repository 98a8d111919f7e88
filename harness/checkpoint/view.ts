import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { awayFromHome } from '../../linux/away.ts'
import { CLONE_NEWNS, close, libc, requireSuccess, setns, umount2 } from '../../linux/libc.ts'
import { changeDirectory, moveMount, openTree } from '../../linux/mount-calls.ts'
import { createRunDirectory } from '../files/run-directory.ts'
import { openRoot } from '../hold/start/launch.ts'

const lazily = 2

/**
 * Directory in which CRIU caches what it found out about the kernel. It does so only in memory, and takes twice as long
 * without.
 */
const run = () => (ownRun ??= makeRun())

let ownRun: string | undefined
const makeRun = () => {
  const directory = join(createRunDirectory(), 'run')
  mkdirSync(join(directory, viewName), { recursive: true })
  return directory
}

const viewName = 'view'
const view = `/run/${viewName}`

/**
 * Does something in the mount namespace to which `enter` brings this thread, in which no process lives yet. Mounts
 * cover what is there meanwhile: this machine's processes and CRIU's own `/run`.
 */
export const inNewView = <Result>(enter: () => void, work: () => Result): Result =>
  withTrees(({ proc, own }) =>
    awayFromHome(() => {
      enter()
      moveMount(proc, '/proc')
      moveMount(own, '/run')
      try {
        return work()
      } finally {
        for (const path of ['/proc', '/run']) uncover(path)
      }
    }),
  )

/**
 * The same in a node's namespace. CRIU's code inside the node needs the node's own `/proc`, which must not be covered,
 * because the node may not mount another. So CRIU gets another root with the same files.
 */
export const inViewOfNode = <Result>(enter: () => void, work: () => Result): Result =>
  withTrees(({ proc, own, again }) =>
    awayFromHome(() => {
      enter()
      const root = openRoot()
      const files = openTree('/', true)
      moveMount(own, '/run')
      try {
        moveMount(files, view)
        moveMount(proc, `${view}/proc`)
        moveMount(again, `${view}/run`)
        changeDirectory(view)
        becomeRoot()
        return work()
      } finally {
        requireSuccess('fchdir', fchdir(root))
        becomeRoot()
        uncover('/run')
        close(root)
        close(files)
      }
    }),
  )

const withTrees = <Result>(use: (trees: { proc: number; own: number; again: number }) => Result): Result => {
  const trees = { proc: openTree('/proc'), own: openTree(run()), again: openTree(run()) }
  try {
    return use(trees)
  } finally {
    for (const tree of Object.values(trees)) close(tree)
  }
}

const fchdir = libc.func('int fchdir(int fd)')
const chroot = libc.func('int chroot(const char *path)')

/** Makes the present directory the root of this thread. */
const becomeRoot = () => requireSuccess('chroot', chroot('.'))

const uncover = (path: string) => requireSuccess(`umount ${path}`, umount2(path, lazily))

/** Moves this thread to a mount namespace. */
export const enterMounts = (fd: number): void => {
  requireSuccess('setns(mnt)', setns(fd, CLONE_NEWNS))
}
