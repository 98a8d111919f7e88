import { chmodSync, chownSync, closeSync, constants, openSync, readFileSync, statSync } from 'node:fs'
import { applyMounts, type MountPlan, type Overlay } from '../harness/hold/mounts.ts'
import { CLONE_FS, CLONE_NEWNS, check, libc, mount, setns, umount2, unshare } from '../proxy/libc.ts'

const pivotRoot = libc.func('int pivot_root(const char *root, const char *old)')
const chdir = libc.func('int chdir(const char *path)')

const move = 0x2000
const detach = 2

/** Runs a synchronous function with this thread in the file system of a process, as that sees it. */
export const insideFilesOf = <Result>(pid: number, inside: () => Result): Result => {
  const home = openSync('/proc/thread-self/ns/mnt', 'r')
  const there = openSync(`/proc/${pid}/ns/mnt`, 'r')
  const directory = process.cwd()
  try {
    // A thread that shares its root with others may not enter another mount namespace.
    check('unshare(CLONE_FS)', unshare(CLONE_FS))
    check('setns(mnt)', setns(there, CLONE_NEWNS))
    return inside()
  } finally {
    check('setns(mnt)', setns(home, CLONE_NEWNS))
    check(`chdir ${directory}`, chdir(directory))
    closeSync(home)
    closeSync(there)
  }
}

export interface ContainerMounts extends MountPlan {
  /** Shown to the container so that it can be made ready; hidden from then on. */
  readonly scaffold: string
}

/**
 * Puts private layers over the file system of a container that waits at its gate, its root among them.
 *
 * @returns descriptors of what is below the layers, by directory
 */
export const mountInside = (pid: number, { scaffold, empty, overlays, ...shown }: ContainerMounts) => {
  const submounts = submountsOf(pid)
  return insideFilesOf(pid, () => {
    const lowers = new Map(overlays.map(({ directory }) => [directory, openSync(directory, constants.O_DIRECTORY)]))
    for (const overlay of overlays) likeLower(overlay)
    const root = overlays.find(({ directory }) => directory === '/')
    if (root) coverRoot(root, submounts)
    applyMounts({ ...shown, overlays: overlays.filter(overlay => overlay !== root), empty: [] })
    check(`umount ${scaffold}`, umount2(scaffold, detach))
    applyMounts({ overlays: [], files: [], additions: [], empty })
    return lowers
  })
}

/** A layer's own directory shows in place of the one below it. */
const likeLower = ({ directory, upper }: Overlay) => {
  const { uid, gid, mode } = statSync(directory)
  chownSync(upper, uid, gid)
  chmodSync(upper, mode & 0o7777)
}

/** The layer is mounted over the root, takes the other mounts along, and is the root of all processes from then on. */
const coverRoot = ({ upper, work }: Overlay, submounts: readonly string[]) => {
  const layers = `lowerdir=/,upperdir=${upper},workdir=${work}`
  check('mount overlay /', mount('overlay', '/', 'overlay', 0, layers))
  // `/` is what this thread's root was; its parent is what is mounted over it.
  check('chdir /..', chdir('/..'))
  for (const path of submounts) check(`move ${path}`, mount(path, `.${path}`, null, move, null))
  check('pivot_root', pivotRoot('.', '.'))
  check('umount the former root', umount2('.', detach))
  check('chdir /', chdir('/'))
}

/** Where something is mounted on the root file system of a process. */
const submountsOf = (pid: number): string[] => {
  const mounts = readFileSync(`/proc/${pid}/mountinfo`, 'utf8')
    .trim()
    .split('\n')
    .map(line => {
      const [id, parent, , , path] = line.split(' ') as [string, string, string, string, string]
      return {
        id,
        parent,
        path: path.replaceAll(/\\(\d{3})/g, (_, octal) => String.fromCharCode(Number.parseInt(octal, 8))),
      }
    })
  const root = mounts.find(({ path }) => path === '/')!
  return mounts.filter(({ parent }) => parent === root.id).map(({ path }) => path)
}
