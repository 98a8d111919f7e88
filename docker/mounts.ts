import { closeSync, constants, openSync, readFileSync } from 'node:fs'
import { openRoot } from '../harness/hold/start/launch.ts'
import { CLONE_FS, CLONE_NEWNS, mount, requireSuccess, setns, umount2, unshare } from '../linux/libc.ts'
import { changeDirectory, pivotRoot } from '../linux/mount-calls.ts'
import { mountsOf } from '../linux/mountinfo.ts'
import { applyMounts, type MountPlan, mountOverlay, type Overlay } from '../linux/mounts.ts'

const move = 0x2000
const detach = 2

/** Runs a synchronous function with this thread inside a process's file system. */
export const insideFilesOf = <Result>(pid: number, inside: () => Result): Result => {
  const home = openSync('/proc/thread-self/ns/mnt', 'r')
  const there = openSync(`/proc/${pid}/ns/mnt`, 'r')
  const directory = process.cwd()
  try {
    // A thread that shares its root with others may not enter another mount namespace.
    requireSuccess('unshare(CLONE_FS)', unshare(CLONE_FS))
    requireSuccess('setns(mnt)', setns(there, CLONE_NEWNS))
    return inside()
  } finally {
    requireSuccess('setns(mnt)', setns(home, CLONE_NEWNS))
    changeDirectory(directory)
    closeSync(home)
    closeSync(there)
  }
}

export interface ContainerMounts extends MountPlan {
  /** Directory that is visible to the container only while it is being prepared. */
  readonly scaffold: string
}

/**
 * Mounts private layers over the file system of a container that waits at its gate, including its root.
 *
 * @returns descriptors of the directories below the layers, by path
 */
export const mountInside = (pid: number, { scaffold, empty, overlays, ...shown }: ContainerMounts) => {
  const submounts = submountsOf(pid)
  return insideFilesOf(pid, () => {
    const lowers = new Map(overlays.map(({ directory }) => [directory, openSync(directory, constants.O_DIRECTORY)]))
    const root = overlays.find(({ directory }) => directory === '/')
    if (root) coverRoot(root, submounts)
    applyMounts({ ...shown, overlays: overlays.filter(overlay => overlay !== root), empty: [] })
    requireSuccess(`umount ${scaffold}`, umount2(scaffold, detach))
    applyMounts({ overlays: [], files: [], additions: [], empty, shared: [] })
    return lowers
  })
}

/** Descriptor of the root of a container's files, after mounting. */
export const rootOf = (pid: number): number => insideFilesOf(pid, openRoot)

/** Environment of a container's program while it waits at the gate. The program may overwrite it later. */
export const environmentIn = (pid: number): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readFileSync(`/proc/${pid}/environ`, 'utf8')
      .split('\0')
      .filter(Boolean)
      .map(variable => variable.split(/=(.*)/s) as [string, string]),
  )

/** Mounts the layer over the root, moves the other mounts into it, and makes it the root of all processes. */
const coverRoot = (overlay: Overlay, submounts: readonly string[]) => {
  mountOverlay(overlay, '/', '/')
  // `/` is still this thread's old root; its parent is the layer mounted over it.
  changeDirectory('/..')
  for (const path of submounts) requireSuccess(`move ${path}`, mount(path, `.${path}`, null, move, null))
  pivotRoot()
  requireSuccess('umount the former root', umount2('.', detach))
  changeDirectory('/')
}

/** Mount points on the root file system of a process. */
const submountsOf = (pid: number): string[] => {
  const mounts = mountsOf(pid)
  const root = mounts.find(({ path }) => path === '/')!
  return mounts.filter(({ parent }) => parent === root.id).map(({ path }) => path)
}
