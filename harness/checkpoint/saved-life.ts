import { cpSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Side } from '../../proxy/tcp.ts'
import type { Cell } from '../cell.ts'
import type { Disk } from '../disk.ts'
import type { MountPlan } from '../hold/mounts.ts'
import { Life } from '../life.ts'
import type { Uplink } from '../uplink.ts'
import type { Criu } from './criu.ts'
import { CannotCheckpoint } from './error.ts'
import { type HeldMark, markHeld, nodeOf } from './held-mark.ts'
import { dump, type NodeImage, restore } from './node-image.ts'
import { type Facing, makeOrphans, orphansOf } from './orphans.ts'

/** A life of a node as it was at one instant, in files that nobody changes. */
export interface SavedLife {
  readonly held: HeldMark
  /** Of its processes; undefined where it had ended of itself. */
  readonly image: NodeImage | undefined
  /** A copy of its disk and of its output. */
  readonly disk: Disk
  /** Connections of its kernel alone. */
  readonly orphans: readonly Side[]
}

const outputNames = ['stdout', 'stderr']

/**
 * Saves a life that is quiescent; it then has to settle again.
 *
 * @param facing who faces its connections
 * @param directory a new one
 * @throws CannotCheckpoint
 */
export const saveLife = (criu: Criu, cell: Cell, life: Life, facing: Facing, directory: string): SavedLife => {
  const { held, disk } = life
  mkdirSync(directory)
  if (life.isAlive && readdirSync(`/proc/${held.pid}/root/dev/shm`).length > 0)
    throw new CannotCheckpoint('it has files in /dev/shm')
  const orphans = life.isAlive ? orphansOf(held.pid, facing) : []
  const image = life.isAlive ? dump(criu, cell, held, surroundingsOf(life), join(directory, 'images')) : undefined
  const copy = copyDisk(disk, join(directory, 'disk'))
  return { held: image?.held ?? markHeld(held), image, disk: copy, orphans }
}

/**
 * Makes a life again. It is frozen, and goes on with `thaw`.
 *
 * @param uplink of a kernel that has no connections
 * @param directory a new one
 * @param mounts what it sees, by its disk
 * @throws CannotCheckpoint
 */
export const restoreLife = (
  criu: Criu,
  cell: Cell,
  name: string,
  { held, image, disk, orphans }: SavedLife,
  uplink: Uplink,
  directory: string,
  mounts: (disk: Disk) => MountPlan,
): Life => {
  const copy = copyDisk(disk, directory)
  const life = new Life(nodeOf(name, held), uplink, copy)
  life.stdout.read()
  life.stderr.read()
  try {
    if (image) restore(criu, cell, life.held, image, surroundingsOf(life), mounts(copy))
    makeOrphans(uplink.namespace, orphans)
  } catch (error) {
    life.kill()
    life.bury(cell)
    throw error
  }
  return life
}

const surroundingsOf = ({ uplink, stdout, stderr }: Life) => ({
  network: uplink.namespace.fd,
  outputs: [stdout.descriptor, stderr.descriptor],
})

const copyDisk = (disk: Disk, directory: string): Disk => {
  const copy = disk.copy(directory)
  for (const name of outputNames) cpSync(join(disk.directory, name), join(directory, name))
  return copy
}
