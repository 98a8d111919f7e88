import { existsSync } from 'node:fs'
import { check, mount } from '../../proxy/libc.ts'

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

/** What is mounted in the namespace that this thread is in, a copy of another, is mounted there alone. */
export const isolateMounts = () => {
  check('mount /', mount(null, '/', null, privatePropagation, null))
}

/** Mounts in the namespace that this thread is in. What is to be shown in a place that is not there is left out. */
export const applyMounts = (plan: MountPlan) => {
  for (const overlay of plan.overlays) mountOverlay(overlay)
  for (const [path, source] of plan.files)
    if (existsSync(path)) check(`mount ${path}`, mount(source, path, null, bind, null))
  for (const [path, source] of plan.additions)
    if (existsSync(path)) mountLayers(path, `lowerdir=${escaped(source)}:${escaped(path)}`)
  for (const path of plan.empty)
    if (existsSync(path)) check(`mount ${path}`, mount('tmpfs', path, 'tmpfs', 0, 'mode=1777'))
}

const mountOverlay = ({ directory, upper, work }: Overlay) => {
  mountLayers(directory, `lowerdir=${escaped(directory)},upperdir=${escaped(upper)},workdir=${escaped(work)}`)
}

const mountLayers = (directory: string, layers: string) => {
  // Attributes that only root may write serve first, those of users in a user namespace.
  if (mount('overlay', directory, 'overlay', 0, layers) === 0) return
  check(`mount overlay ${directory}`, mount('overlay', directory, 'overlay', 0, `userxattr,${layers}`))
}

/** Overlay's options are separated by commas, its lower directories by colons. */
const escaped = (path: string) => path.replaceAll(/[\\,:]/g, '\\$&')
