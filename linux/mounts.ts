import { existsSync, lstatSync, mkdirSync, statfsSync, utimesSync } from 'node:fs'
import { release } from 'node:os'
import { dirname } from 'node:path'
import { copyAttributes, isOfOverlay } from './attributes.ts'
import { mount, requireSuccess } from './libc.ts'
import { mountAttribute, restrict } from './mount-calls.ts'

/** How the node's file system differs from this machine's. */
export interface MountPlan {
  /** Directories whose changes go to a private layer: the node reads this machine's files, and writes its own. */
  readonly overlays: readonly Overlay[]
  /** Files shown in place of others: path in the node, path of the source. */
  readonly files: readonly (readonly [path: string, source: string])[]
  /** Directories that also show the files of another one. */
  readonly additions: readonly (readonly [path: string, source: string])[]
  /** Directories in memory that are empty at each start, and how much fits into each. */
  readonly empty: readonly (readonly [path: string, bytesMax: number])[]
  readonly shared: readonly SharedPlace[]
}

/** A directory that other nodes have too. */
export interface SharedPlace {
  /** Where the node has it. */
  readonly path: string
  readonly source: string
  readonly isReadOnly: boolean
  /** Gives it its first content, that of a directory of the image, unless it has had one in this execution. */
  readonly begin: (content: string) => void
}

export interface Overlay {
  readonly directory: string
  /** The private layer. Its `work` directory belongs to the kernel. */
  readonly upper: string
  readonly work: string
}

/** OVERLAYFS_SUPER_MAGIC */
const overlayFileSystem = 0x794c_7630

/** Whether a path, or an open file by its path in /proc, is in an overlay: the private layers of a node's disk are overlays. */
export const isInOverlay = (path: string): boolean => statfsSync(path).type === overlayFileSystem

const privatePropagation = 0x4000 | (1 << 18) // MS_REC | MS_PRIVATE
const bind = 0x1000
/** A node may create device nodes where it may write, but cannot open them. */
export const noDevices = 4 // MS_NODEV

/** Keeps mounts in this thread's namespace, a copy of another, from spreading to others. */
export const isolateMounts = () => {
  requireSuccess('mount /', mount(null, '/', null, privatePropagation, null))
}

/** Mounts everything in this thread's namespace. Paths that do not exist are skipped. */
export const applyMounts = (plan: MountPlan) => {
  for (const overlay of plan.overlays) mountOverlay(overlay, overlay.directory, overlay.directory)
  for (const [path, source] of plan.files)
    if (existsSync(path)) {
      requireSuccess(`mount ${path}`, mount(source, path, null, bind, null))
      restrict(path, mountAttribute.readOnly)
    }
  for (const [path, source] of plan.additions) if (existsSync(path)) mountAddition(path, path, source)
  for (const [path, bytesMax] of plan.empty) if (existsSync(path)) mountEmpty(path, bytesMax)
  for (const { path, source, isReadOnly, begin } of plan.shared) {
    begin(path)
    makePlace(path)
    requireSuccess(`mount ${path}`, mount(source, path, null, bind, null))
    restrict(path, sharedAttributes(isReadOnly))
  }
}

export const sharedAttributes = (isReadOnly: boolean): number =>
  mountAttribute.noDevices | (isReadOnly ? mountAttribute.readOnly : 0)

/** Makes a directory to mount on. What it lies in keeps its time, by which programs would see that. */
export const makePlace = (path: string): void => {
  if (existsSync(path)) return
  const outer = dirname(path)
  makePlace(outer)
  const { atimeNs, mtimeNs } = lstatSync(outer, { bigint: true })
  const [atime, mtime] = [Number(atimeNs) / 1e9, Number(mtimeNs) / 1e9]
  mkdirSync(path)
  for (const each of [path, outer]) utimesSync(each, atime, mtime)
}

/**
 * @param lower the directory below the layer
 *
 * @param target where both are shown together
 */
export const mountOverlay = ({ upper, work }: Overlay, lower: string, target: string, flags = noDevices) => {
  likeLower(upper, lower)
  mountLayers(target, `lowerdir=${escaped(lower)},upperdir=${escaped(upper)},workdir=${escaped(work)}`, flags)
}

/** Shows the files of a directory together with those of another. */
export const mountAddition = (target: string, path: string, source: string) =>
  mountLayers(target, `lowerdir=${escaped(source)}:${escaped(path)}`, noDevices)

export const mountEmpty = (path: string, bytesMax: number) =>
  requireSuccess(`mount ${path}`, mount('tmpfs', path, 'tmpfs', noDevices, `mode=1777,size=${bytesMax}`))

function isKernelSince(major: number, minor: number): boolean {
  const [ownMajor, ownMinor] = release().split('.').map(Number) as [number, number]
  return ownMajor > major || (ownMajor === major && ownMinor >= minor)
}

/** The mode of a layer that no life has used yet. `likeLower` changes it. */
export const unusedLayerMode = 0

/**
 * A layer's own directory is shown instead of the one below, so it takes over its attributes, once, before any life.
 */
const likeLower = (upper: string, lower: string) => {
  if ((lstatSync(upper).mode & 0o7777) !== unusedLayerMode) return
  copyAttributes(lower, upper, name => !isOfOverlay(name))
}

/**
 * Without `xino`, inode numbers of directories are counted in the order in which a node meets them. With it they would
 * exceed the integers of a double. The file system also gets no random id, if the kernel can do without.
 */
const common = isKernelSince(6, 6) ? 'xino=off,uuid=null' : 'xino=off'

const mountLayers = (target: string, layers: string, flags: number) => {
  const options = `${common},${layers}`
  // Tries attributes that only root may write first, then those that a user namespace may write.
  if (mount('overlay', target, 'overlay', flags, options) === 0) return
  requireSuccess(`mount overlay ${target}`, mount('overlay', target, 'overlay', flags, `userxattr,${options}`))
}

/** Commas separate overlay's options, and colons its lower directories, so both are escaped. */
const escaped = (path: string) => path.replaceAll(/[\\,:]/g, '\\$&')
