import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { awayFromHome } from '../../../linux/away.ts'
import { pathOnly } from '../../../linux/inside.ts'
import { CLONE_NEWNS, mount, requireSuccess, SystemError, setns, umount2, unshare } from '../../../linux/libc.ts'
import {
  changeDirectory,
  mountAttribute,
  moveMount,
  openTree,
  pivotRoot,
  restrict,
} from '../../../linux/mount-calls.ts'
import { type Mounted, mountsOf } from '../../../linux/mountinfo.ts'
import {
  isolateMounts,
  type MountPlan,
  makePlace,
  mountAddition,
  mountEmpty,
  mountOverlay,
  noDevices,
  sharedAttributes,
} from '../../../linux/mounts.ts'

/**
 * The part of this machine's file system that nodes see. They cannot change it: a private layer takes writes where they
 * are allowed, `/dev` contains what any program may rely on, and everything else is read-only.
 *
 * One mount namespace permanently holds all parts side by side. Each node gets a copy of it, in which they are
 * assembled.
 */
interface MachineFiles {
  /** Descriptor of that namespace. */
  readonly namespace: number
  /** Parts of the file tree; a part precedes those mounted in it. */
  readonly parts: readonly Part[]
}

interface Part {
  /** Path in the node. */
  readonly path: string
  /** Path in the namespace of parts. */
  readonly from: string
  /** Whether a private layer covers it. */
  readonly isCovered: boolean
  /** Flags of its mount. */
  readonly flags: number
}

/** How a node's files differ from this machine's. */
export interface LocalMountPlan extends MountPlan {
  /** Directory that contains all sources and layers. */
  readonly owned: string
  /** Paths where the node's writes reach this machine. */
  readonly write: readonly string[]
}

const move = 0x2000
const detach = 2

/** Where the namespace of parts assembles a node's files. */
const assembly = '/assembly'

let made: MachineFiles | undefined

const machineFiles = (owned: string): MachineFiles => {
  made ??= awayFromHome(() => make(owned))
  return made
}

/**
 * Directories of this machine that private layers cover; a directory precedes those in it.
 *
 * @param owned directory that will contain the layers
 */
export const coveredDirectories = (owned: string): string[] =>
  machineFiles(owned)
    .parts.filter(({ isCovered }) => isCovered)
    .map(({ path }) => path)

/** Moves this thread to a new mount namespace with a node's files. */
export const enterFiles = (plan: LocalMountPlan): void => {
  const { namespace, parts } = machineFiles(plan.owned)
  const through = plan.write.map(path => ({ path, tree: openTree(path, true) }))
  const shared = plan.shared.map(place => ({ ...place, tree: openTree(place.source) }))
  requireSuccess('setns(mnt)', setns(namespace, CLONE_NEWNS))
  requireSuccess('unshare(mnt)', unshare(CLONE_NEWNS))
  for (const part of parts) assemble(part, plan)
  for (const [path, source] of plan.additions) {
    const target = join(assembly, path)
    if (existsSync(target)) mountAddition(target, target, source)
  }
  const files = plan.files.map(([path, source]) => ({ path, tree: openTree(source) }))
  becomeRoot(assembly)
  for (const [path, bytesMax] of plan.empty) if (existsSync(path)) replaceByEmpty(path, bytesMax)
  requireSuccess('mount /dev/pts', mount('devpts', '/dev/pts', 'devpts', 0, 'newinstance,ptmxmode=0666,mode=0620'))
  // All nodes are shown the same files.
  for (const file of files) show(file, mountAttribute.readOnly)
  for (const file of through) show(file, mountAttribute.noDevices)
  for (const place of shared) {
    makePlace(place.path)
    show(place, sharedAttributes(place.isReadOnly))
  }
}

/**
 * What is only covered is still listed in `/proc/self/mountinfo`: OpenJDK looks there for its cgroup, and fails if it does
 * not find the files. Without root the kernel may refuse to unmount it, and the list stays.
 */
const replaceByEmpty = (path: string, bytesMax: number): void => {
  umount2(path, detach)
  mountEmpty(path, bytesMax)
}

const show = ({ path, tree }: { readonly path: string; readonly tree: number }, attributes: number) => {
  if (existsSync(path)) {
    moveMount(tree, path)
    restrict(path, attributes)
  }
  closeSync(tree)
}

const assemble = ({ path, from, isCovered, flags }: Part, { overlays }: MountPlan) => {
  const target = path === '/' ? assembly : join(assembly, path)
  if (isCovered) mountOverlay(overlays.find(({ directory }) => directory === path)!, from, target, flags)
  else if (from !== target) requireSuccess(`move ${path}`, mount(from, target, null, move, null))
}

/** Makes the mount at this directory the root of this thread, and unmounts everything outside it. */
const becomeRoot = (directory: string) => {
  changeDirectory(directory)
  pivotRoot()
  requireSuccess('umount the former root', umount2('.', detach))
  changeDirectory('/')
}

/** At first the parts are mounted over our own directory, which is itself one of them and exists throughout. */
const make = (owned: string): MachineFiles => {
  requireSuccess('unshare(mnt)', unshare(CLONE_NEWNS))
  isolateMounts()
  mkdirSync(owned, { recursive: true })
  const own: Source = { path: owned, from: owned, tree: openTree(owned), isCovered: false, flags: 0 }
  const shown = visibleMounts()
  const sources = isOwnRoot() ? sideBySide(shown) : asOne(shown)
  const devices = deviceNames.filter(name => existsSync(`/dev/${name}`))
  const trees = devices.map(name => openTree(`/dev/${name}`))
  requireSuccess('mount the parts', mount('lastnail', owned, 'tmpfs', 0, 'mode=755'))
  changeDirectory(owned)
  makeDirectory(`.${assembly}`)
  for (const source of [...sources, own]) place(source)
  makeDevices(devices, trees)
  const namespace = openSync('/proc/thread-self/ns/mnt', 'r')
  becomeRoot('.')
  for (const { from, tree, isCovered, isWhole } of sources)
    if (tree !== undefined && !isCovered) restrict(from, harmless, isWhole)
  const parts = [...sources, { path: '/dev', from: devicesPart, isCovered: false, flags: 0 }]
  return { namespace, parts: parts.sort((one, other) => (one.path < other.path ? -1 : 1)) }
}

/** A part that has not been placed among the others yet. It may have a mount of its own. */
interface Source extends Part {
  readonly tree?: number
  /** Whether it includes the mounts in it. */
  readonly isWhole?: boolean
}

const harmless = mountAttribute.readOnly | mountAttribute.noSetuid | mountAttribute.noDevices

const place = ({ from, path, tree }: Source) => {
  if (tree === undefined) return
  if (statSync(path).isDirectory()) makeDirectory(`.${from}`)
  else writeFileSync(`.${from}`, '')
  moveMount(tree, `.${from}`)
  closeSync(tree)
}

const makeDirectory = (path: string) => mkdirSync(path, { recursive: true })

/** Where the kernel shows its state. Each node gets its own `/proc` instead of this machine's. */
const kernelPaths = ['/proc', '/sys']
const isIn = (directory: string, path: string) => path.startsWith(directory === '/' ? '/' : `${directory}/`)
const isKernels = (path: string) => [...kernelPaths, '/dev'].some(each => path === each || isIn(each, path))

/**
 * Whether the root's file system can be a part, and each mount in it another. A user who does not own this machine may
 * not look below mounts. For such a user the root is one part, with layers over its directories.
 */
const isOwnRoot = (): boolean => {
  try {
    closeSync(openTree('/'))
    return true
  } catch (error) {
    if (error instanceof SystemError && error.code === 'EINVAL') return false
    throw error
  }
}

const sideBySide = (mounts: readonly Mounted[]): Source[] => [
  ...mounts
    .filter(({ path }) => !isKernels(path))
    .map((shown, index) => ({
      path: shown.path,
      from: `/part${index}`,
      tree: openTree(shown.path),
      isCovered: shown.path === '/' || mayBeCovered(shown),
      flags: flagsOf(shown),
    })),
  ...kernelPaths.map(path => ({
    path,
    from: path,
    tree: openTree(path, true),
    isCovered: false,
    isWhole: true,
    flags: 0,
  })),
]

const asOne = (mounts: readonly Mounted[]): Source[] => [
  { path: '/', from: assembly, tree: openTree('/', true), isCovered: false, isWhole: true, flags: 0 },
  ...coverable('/', mounts).map(path => ({ path, from: join(assembly, path), isCovered: true, flags: noDevices })),
]

/** Directories without mounts in them: all below the root, and deeper ones that this user may write to. */
const coverable = (directory: string, mounts: readonly Mounted[]): string[] =>
  readdirSync(directory, { withFileTypes: true })
    .filter(entry => entry.isDirectory())
    .map(entry => join(directory, entry.name))
    .filter(path => !isKernels(path))
    .flatMap(path => {
      const shown = mounts.find(each => each.path === path)
      if (shown !== undefined && !mayBeCovered(shown)) return []
      if (mounts.some(each => isIn(path, each.path)))
        return isAllowed(path, constants.R_OK) ? coverable(path, mounts) : []
      return directory === '/' || isAllowed(path, constants.W_OK) ? [path] : []
    })

const isAllowed = (path: string, mode: number): boolean => {
  try {
    accessSync(path, mode)
    return true
  } catch {
    return false
  }
}

/** File system types that a layer can cover. Over others the kernel refuses a layer, or it would mean nothing. */
const coverableTypes = 'ext2 ext3 ext4 xfs btrfs f2fs bcachefs zfs tmpfs ramfs overlay nfs nfs4 9p virtiofs'.split(' ')

const mayBeCovered = ({ path, type, options }: Mounted): boolean =>
  coverableTypes.includes(type) && !options.includes('ro') && statSync(path).isDirectory()

/** Flags of mount(2) that a layer takes over from the mount below. */
const flagsByOption: Readonly<Record<string, number>> = { nosuid: 2, noexec: 8 }
const flagsOf = ({ options }: Mounted): number =>
  options.reduce((flags, option) => flags | (flagsByOption[option] ?? 0), noDevices)

const visibleMounts = (): Mounted[] =>
  mountsOf('thread-self').filter(
    ({ id, type, path }) => type !== 'autofs' && mountIdAt(path) === id && isFileOrDirectory(path),
  )

/** Id of the mount visible at a path; undefined if the path does not exist. */
const mountIdAt = (path: string): string | undefined => {
  try {
    const fd = openSync(path, pathOnly)
    const [, id] = /^mnt_id:\s*(\d+)$/m.exec(readFileSync(`/proc/thread-self/fdinfo/${fd}`, 'latin1'))!
    closeSync(fd)
    return id
  } catch {
    return undefined
  }
}

/** Excludes sockets, which would lead to services of this machine. */
const isFileOrDirectory = (path: string): boolean => {
  const stat = statSync(path, { throwIfNoEntry: false })
  return stat !== undefined && (stat.isDirectory() || stat.isFile())
}

const devicesPart = '/devices'
const deviceNames = ['null', 'zero', 'full', 'random', 'urandom', 'tty']
const deviceLinks = {
  ptmx: 'pts/ptmx',
  fd: '/proc/self/fd',
  stdin: '/proc/self/fd/0',
  stdout: '/proc/self/fd/1',
  stderr: '/proc/self/fd/2',
}

/** Makes a `/dev` with what any program may rely on, and no device of this machine's hardware. */
const makeDevices = (names: readonly string[], trees: readonly number[]) => {
  const directory = `.${devicesPart}`
  mkdirSync(directory)
  requireSuccess('mount /dev', mount('lastnail', directory, 'tmpfs', 0, 'mode=755'))
  for (const [index, name] of names.entries()) {
    const path = join(directory, name)
    writeFileSync(path, '')
    moveMount(trees[index]!, path)
    closeSync(trees[index]!)
    // The device is this machine's. On a read-only mount a node can write to it, but not change its mode, owner or
    // times.
    restrict(path, mountAttribute.readOnly | mountAttribute.noSetuid)
  }
  for (const [name, target] of Object.entries(deviceLinks)) symlinkSync(target, join(directory, name))
  for (const name of ['pts', 'shm']) mkdirSync(join(directory, name))
  restrict(directory, mountAttribute.readOnly | mountAttribute.noSetuid)
}
