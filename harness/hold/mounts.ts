import { existsSync, lstatSync } from 'node:fs'
import { release } from 'node:os'
import { check, mount } from '../../proxy/libc.ts'
import { copyAttributes, isOfOverlay } from './attributes.ts'
import { mountAttribute, restrict } from './mount-calls.ts'

/** What the node's file system shows differently from this machine's. */
export interface MountPlan {
  /** Directories whose changes go to a private layer: the node reads what is there, and writes for itself. */
  readonly overlays: readonly Overlay[]
  /** Files shown in place of others: path in the node, path of the file. */
  readonly files: readonly (readonly [path: string, source: string])[]
  /** Directories that show the files of another one too. */
  readonly additions: readonly (readonly [path: string, source: string])[]
  /** Directories that are empty at each start, in memory. */
  readonly empty: readonly string[]
}

export interface Overlay {
  readonly directory: string
  /** Private layer; its `work` directory is the kernel's own. */
  readonly upper: string
  readonly work: string
}

const privatePropagation = 0x4000 | (1 << 18) // MS_REC | MS_PRIVATE
const bind = 0x1000
/** A node may make device nodes where it writes: they open nothing. */
export const noDevices = 4 // MS_NODEV

/** What is mounted in the namespace that this thread is in, a copy of another, is mounted there alone. */
export const isolateMounts = () => {
  check('mount /', mount(null, '/', null, privatePropagation, null))
}

/** Mounts in the namespace that this thread is in. What is to be shown in a place that is not there is left out. */
export const applyMounts = (plan: MountPlan) => {
  for (const overlay of plan.overlays) mountOverlay(overlay, overlay.directory, overlay.directory)
  for (const [path, source] of plan.files)
    if (existsSync(path)) {
      check(`mount ${path}`, mount(source, path, null, bind, null))
      restrict(path, mountAttribute.readOnly)
    }
  for (const [path, source] of plan.additions) if (existsSync(path)) mountAddition(path, path, source)
  for (const path of plan.empty) if (existsSync(path)) mountEmpty(path)
}

/**
 * @param lower what is below the layer
 * @param target where both together are shown
 */
export const mountOverlay = ({ upper, work }: Overlay, lower: string, target: string, flags = noDevices) => {
  likeLower(upper, lower)
  mountLayers(target, `lowerdir=${escaped(lower)},upperdir=${escaped(upper)},workdir=${escaped(work)}`, flags)
}

/** Shows the files of a directory together with those of another one. */
export const mountAddition = (target: string, path: string, source: string) =>
  mountLayers(target, `lowerdir=${escaped(source)}:${escaped(path)}`, noDevices)

export const mountEmpty = (path: string) =>
  check(`mount ${path}`, mount('tmpfs', path, 'tmpfs', noDevices, 'mode=1777'))

function isKernelSince(major: number, minor: number): boolean {
  const [ownMajor, ownMinor] = release().split('.').map(Number) as [number, number]
  return ownMajor > major || (ownMajor === major && ownMinor >= minor)
}

/** The mode of a layer that no life has had: `likeLower` gives it another. */
export const unusedLayerMode = 0

/** A layer's own directory shows in place of the one below it; what a life has changed of it stays. */
const likeLower = (upper: string, lower: string) => {
  if ((lstatSync(upper).mode & 0o7777) !== unusedLayerMode) return
  copyAttributes(lower, upper, name => !isOfOverlay(name))
}

/**
 * Inode numbers of directories are counted as a node comes across them: those that `xino` makes of the numbers below are
 * longer than a double can hold. Nor is the file system given a random id, where the kernel can do without.
 */
const common = isKernelSince(6, 6) ? 'xino=off,uuid=null' : 'xino=off'

const mountLayers = (target: string, layers: string, flags: number) => {
  const options = `${common},${layers}`
  // Attributes that only root may write serve first, those of users in a user namespace.
  if (mount('overlay', target, 'overlay', flags, options) === 0) return
  check(`mount overlay ${target}`, mount('overlay', target, 'overlay', flags, `userxattr,${options}`))
}

/** Overlay's options are separated by commas, its lower directories by colons. */
const escaped = (path: string) => path.replaceAll(/[\\,:]/g, '\\$&')
