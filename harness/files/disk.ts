import { createHash, type Hash } from 'node:crypto'
import { type BigIntStats, chmodSync, lstatSync, mkdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { shownAttributesOf } from '../../linux/attributes.ts'
import { type Overlay, unusedLayerMode } from '../../linux/mounts.ts'
import { instantOf, type Periods } from '../hold/clock/periods.ts'
import type { Unsynced } from '../unsynced/unsynced.ts'
import { copyTree } from './copy-tree.ts'
import { treeOf } from './tree.ts'

/** What one life of a node writes: private layers over directories of its file system. */
export class Disk {
  readonly directory: string
  readonly layers: readonly Overlay[]
  /** What a power failure may lose; undefined if none will come. */
  readonly unsynced: Unsynced | undefined
  /** Whether its files are gone. */
  isRemoved = false

  /**
   * @param covered directories to which the node may write
   *
   * @param unsynced what a power failure may lose; undefined if none will come
   */
  constructor(directory: string, covered: readonly string[], unsynced?: Unsynced) {
    this.directory = directory
    this.unsynced = unsynced
    this.layers = covered.map((path, index) => ({
      directory: path,
      upper: join(directory, `upper${index}`),
      work: join(directory, `work${index}`),
    }))
    mkdirSync(directory, { recursive: true })
    for (const { upper, work } of this.layers) {
      mkdirSync(upper)
      chmodSync(upper, unusedLayerMode)
      mkdirSync(work)
    }
  }

  /** A copy with the same files, for the next life. */
  copy(directory: string): Disk {
    const copy = new Disk(
      directory,
      this.layers.map(layer => layer.directory),
      this.unsynced?.copy(),
    )
    for (const [index, { upper }] of this.layers.entries()) copyTree(upper, copy.layers[index]!.upper)
    return copy
  }

  /**
   * Equal for disks with the same files, of the same kinds, owners, modes and times.
   *
   * @param periods by which file times are shown
   */
  hash(periods: Periods): string {
    const hash = createHash('sha1')
    for (const { upper } of this.layers) {
      hash.update('layer')
      hashTree(hash, upper, periods)
    }
    hash.update(this.unsynced?.hash ?? '')
    return hash.digest('hex')
  }

  remove(): void {
    this.isRemoved = true
    rmSync(this.directory, { recursive: true, force: true })
  }
}

/**
 * Adds what a directory has.
 *
 * @param periods by which file times are shown; undefined if these do not count
 */
export const hashTree = (hash: Hash, directory: string, periods?: Periods): void => {
  hashEntry(hash, '', directory, undefined)
  for (const { path } of treeOf(directory)) hashEntry(hash, path, join(directory, path), periods)
}

/** When a file was last written, as the node sees it. */
const shownTime = ({ mtimeNs }: BigIntStats, periods: Periods): number => {
  const instant = instantOf(Number(mtimeNs / 1_000_000_000n), Number(mtimeNs % 1_000_000_000n))
  return periods.shownAt(instant) ?? instant
}

/**
 * Lengths are included, so that no content can be mistaken for the next entry.
 *
 * @param periods undefined if the file's time is the tool's own
 */
const hashEntry = (hash: Hash, path: string, full: string, periods: Periods | undefined): void => {
  const stat = lstatSync(full, { bigint: true })
  hash.update(`\0${path}\0${stat.mode} ${stat.uid} ${stat.gid} ${stat.rdev} ${periods && shownTime(stat, periods)}\0`)
  for (const [name, value] of shownAttributesOf(full)) hash.update(`${name} ${value.length}\0`).update(value)
  if (stat.isFile()) hash.update(`${stat.size}\0`).update(readFileSync(full))
  else if (stat.isSymbolicLink()) hash.update(readlinkSync(full))
}
