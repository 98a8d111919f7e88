import { copyFileSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { insideDirectory } from '../../linux/inside.ts'
import type { Side } from '../../proxy/tcp.ts'
import type { Criu } from '../checkpoint/criu.ts'
import { CannotCheckpoint } from '../checkpoint/error.ts'
import { type HeldMark, heldNodeOf, markHeld } from '../checkpoint/held-mark.ts'
import { dump, type NodeImage, restore } from '../checkpoint/node-image.ts'
import { makeOrphans, orphansOf } from '../checkpoint/orphans.ts'
import type { Disk } from '../files/disk.ts'
import type { Facing } from '../rewind/connection.ts'
import type { Runner } from '../runner/runner.ts'
import { Life } from './life.ts'
import type { Home } from './runtime.ts'

/** A life of a node at one instant, in files that never change. */
export interface SavedLife {
  readonly held: HeldMark
  /** Image of its processes; undefined if it had ended by itself. */
  readonly image: NodeImage | undefined
  /** A copy. */
  readonly disk: Disk
  /** Directory of copies of its output. */
  readonly outputs: string
  /** Connections that only its kernel still has. */
  readonly orphans: readonly Side[]
}

const outputNames = ['stdout', 'stderr'] as const

/**
 * Saves a quiescent life, which must settle again afterwards.
 *
 * @param facing the counterparts of its connections
 *
 * @param directory a new one
 *
 * @throws CannotCheckpoint
 */
export const saveLife = (criu: Criu, runner: Runner, life: Life, facing: Facing, directory: string): SavedLife => {
  const { held, place } = life
  if (!place.mounts) throw new CannotCheckpoint('it is a container')
  mkdirSync(directory)
  if (life.isAlive && insideDirectory(held.root!, '/dev/shm', shared => readdirSync(shared)).length > 0)
    throw new CannotCheckpoint('it has files in /dev/shm')
  const orphans = life.isAlive ? orphansOf(held.pid, facing) : []
  const image = life.isAlive ? dump(criu, runner, held, surroundingsOf(life), join(directory, 'images')) : undefined
  for (const name of outputNames) copyFileSync(life[name].path, join(directory, name))
  const disk = life.disk.copy(join(directory, 'disk'))
  return { held: image?.held ?? markHeld(held), image, disk, outputs: directory, orphans }
}

/**
 * Restores a life. It is frozen until `thaw`.
 *
 * @param place whose kernel has no connections and supports this
 *
 * @param directory a new one for its disk
 *
 * @param random names the random bytes that it reads
 *
 * @throws CannotCheckpoint
 */
export const restoreLife = (
  criu: Criu,
  runner: Runner,
  name: string,
  { held, image, disk, outputs, orphans }: SavedLife,
  place: Home,
  directory: string,
  random: string,
): Life => {
  const life = new Life(runner, heldNodeOf(name, held), place, disk.copy(directory))
  try {
    for (const name of outputNames) {
      copyFileSync(join(outputs, name), life[name].path)
      life[name].read()
    }
    if (image) restore(criu, runner, life.held, image, surroundingsOf(life), place.mounts!(life.disk, random))
    makeOrphans(life.uplink.namespace, orphans)
  } catch (error) {
    life.kill()
    life.bury()
    throw error
  }
  return life
}

const surroundingsOf = ({ uplink, stdout, stderr }: Life) => ({
  network: uplink.namespace.fd,
  outputs: [stdout.descriptor, stderr.descriptor],
})
