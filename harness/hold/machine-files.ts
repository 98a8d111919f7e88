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
import { CLONE_NEWNS, check, mount, SystemError, setns, umount2, unshare } from '../../proxy/libc.ts'
import { awayFromHome } from './away.ts'
import { pathOnly } from './inside.ts'
import { changeDirectory, mountAttribute, moveMount, openTree, pivotRoot, restrict } from './mount-calls.ts'
import { type Mounted, mountsOf } from './mountinfo.ts'
import { isolateMounts, type MountPlan, mountAddition, mountEmpty, mountOverlay, noDevices } from './mounts.ts'

/**
 * What nodes see of this machine's file system. Nothing of it can be changed: a private layer takes writes where they
 * are allowed; `/dev` has what any program may rely on; everything else is read-only.
 *
 * A mount namespace holds all parts side by side, permanently. Each node gets a copy of it, in which they are
 * assembled.
 */
interface MachineFiles {
  /** Descriptor of that namespace. */
  readonly namespace: number
  /** Each before those that are mounted in it. */
  readonly parts: readonly Part[]
}

interface Part {
  /** In the node. */
  readonly path: string
  /** In the namespace of parts. */
  readonly from: string
  /** Whether a private layer goes over it. */
  readonly isCovered: boolean
  /** Of its mount. */
  readonly flags: number
}

/** How a node's files differ from this machine's. */
export interface LocalMountPlan extends MountPlan {
  /** All sources and layers are in it. */
  readonly owned: string
  /** Paths where the node writes to this machine itself. */
  readonly write: readonly string[]
}

const move = 0x2000
const detach = 2

/** In the namespace of parts: where they are put together. */
const assembly = '/assembly'

let made: MachineFiles | undefined

const machineFiles = (owned: string): MachineFiles => {
  made ??= awayFromHome(() => make(owned))
  return made
}

/**
 * The directories of this machine that private layers are put over, each before those in it.
 *
 * @param owned that layers will be in
 */
export const coveredDirectories = (owned: string): string[] =>
  machineFiles(owned)
    .parts.filter(({ isCovered }) => isCovered)
    .map(({ path }) => path)

/** Brings this thread to a new mount namespace that has a node's files. */
export const enterFiles = (plan: LocalMountPlan): void => {
  const { namespace, parts } = machineFiles(plan.owned)
  const through = plan.write.map(path => ({ path, tree: openTree(path, true) }))
  check('setns(mnt)', setns(namespace, CLONE_NEWNS))
  check('unshare(mnt)', unshare(CLONE_NEWNS))
  for (const part of parts) assemble(part, plan)
  for (const [path, source] of plan.additions) {
    const target = join(assembly, path)
    if (existsSync(target)) mountAddition(target, target, source)
  }
  const files = plan.files.map(([path, source]) => ({ path, tree: openTree(source) }))
  becomeRoot(assembly)
  for (const path of plan.empty) if (existsSync(path)) mountEmpty(path)
  check('mount /dev/pts', mount('devpts', '/dev/pts', 'devpts', 0, 'newinstance,ptmxmode=0666,mode=0620'))
  // All nodes are shown the same files.
  for (const file of files) show(file, mountAttribute.readOnly)
  for (const file of through) show(file, mountAttribute.noDevices)
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
  else if (from !== target) check(`move ${path}`, mount(from, target, null, move, null))
}

/** What is mounted there is the root of this thread from now on, and what was mounted elsewhere is gone. */
const becomeRoot = (directory: string) => {
  changeDirectory(directory)
  pivotRoot()
  check('umount the former root', umount2('.', detach))
  changeDirectory('/')
}

/** The parts are mounted over our own directory at first, which is there for all of this; it is one of them. */
const make = (owned: string): MachineFiles => {
  check('unshare(mnt)', unshare(CLONE_NEWNS))
  isolateMounts()
  mkdirSync(owned, { recursive: true })
  const own: Source = { path: owned, from: owned, tree: openTree(owned), isCovered: false, flags: 0 }
  const shown = visibleMounts()
  const sources = isOwnRoot() ? sideBySide(shown) : asOne(shown)
  const devices = deviceNames.filter(name => existsSync(`/dev/${name}`))
  const trees = devices.map(name => openTree(`/dev/${name}`))
  check('mount the parts', mount('lastnail', owned, 'tmpfs', 0, 'mode=755'))
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

/** A part that is still to be placed among the others, where it has a mount of its own. */
interface Source extends Part {
  readonly tree?: number
  /** Whether what is mounted in it belongs to it. */
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

/** Where the kernel tells of itself. A node is given a `/proc` of its own over this machine's. */
const kernelPaths = ['/proc', '/sys']
const isIn = (directory: string, path: string) => path.startsWith(directory === '/' ? '/' : `${directory}/`)
const isKernels = (path: string) => [...kernelPaths, '/dev'].some(each => path === each || isIn(each, path))

/**
 * The root's file system is a part, and so is each that is mounted in it. Whoever else does not own this machine may not
 * look below what is mounted: for him the root is one part, with layers over its directories.
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

/** Directories in which nothing else is mounted: all below the root, and what this user may write to deeper. */
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

/** A layer over others is refused by the kernel, or means nothing. */
const coverableTypes = 'ext2 ext3 ext4 xfs btrfs f2fs bcachefs zfs tmpfs ramfs overlay nfs nfs4 9p virtiofs'.split(' ')

const mayBeCovered = ({ path, type, options }: Mounted): boolean =>
  coverableTypes.includes(type) && !options.includes('ro') && statSync(path).isDirectory()

/** Of mount(2): what a layer has as what is below it. */
const flagsByOption: Readonly<Record<string, number>> = { nosuid: 2, noexec: 8 }
const flagsOf = ({ options }: Mounted): number =>
  options.reduce((flags, option) => flags | (flagsByOption[option] ?? 0), noDevices)

const visibleMounts = (): Mounted[] =>
  mountsOf('thread-self').filter(
    ({ id, type, path }) => type !== 'autofs' && mountIdAt(path) === id && isFileOrDirectory(path),
  )

/** Of what is seen there; undefined where nothing is. */
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

/** A socket would lead to one of this machine's services. */
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

/** What any program may count on, and no device of this machine. */
const makeDevices = (names: readonly string[], trees: readonly number[]) => {
  const directory = `.${devicesPart}`
  mkdirSync(directory)
  check('mount /dev', mount('lastnail', directory, 'tmpfs', 0, 'mode=755'))
  for (const [index, name] of names.entries()) {
    const path = join(directory, name)
    writeFileSync(path, '')
    moveMount(trees[index]!, path)
    closeSync(trees[index]!)
    // The device is this machine's: a read-only mount lets a node write to it, but not change its mode, owner or times.
    restrict(path, mountAttribute.readOnly | mountAttribute.noSetuid)
  }
  for (const [name, target] of Object.entries(deviceLinks)) symlinkSync(target, join(directory, name))
  for (const name of ['pts', 'shm']) mkdirSync(join(directory, name))
  restrict(directory, mountAttribute.readOnly | mountAttribute.noSetuid)
}
