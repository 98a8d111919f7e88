import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Overlay } from './hold/mounts.ts'
import { treeOf } from './tree.ts'

/** What one life of a node writes: private layers over directories of its file system. */
export class Disk {
  readonly directory: string
  readonly layers: readonly Overlay[]

  /** @param covered the directories that the node may write to */
  constructor(directory: string, covered: readonly string[]) {
    this.directory = directory
    this.layers = covered.map((path, index) => ({
      directory: path,
      upper: join(directory, `upper${index}`),
      work: join(directory, `work${index}`),
    }))
    for (const { upper, work } of this.layers) {
      mkdirSync(upper, { recursive: true })
      mkdirSync(work, { recursive: true })
    }
  }

  /**
   * Another with the same files, for the next life.
   *
   * @param lowerOf what is below a layer
   */
  copy(directory: string, lowerOf: (path: string) => string): Disk {
    const copy = new Disk(
      directory,
      this.layers.map(layer => layer.directory),
    )
    for (const [index, layer] of this.layers.entries())
      copyLayer(layer.upper, lowerOf(layer.directory), copy.layers[index]!.upper)
    return copy
  }

  /** Equal for disks with the same files. */
  hash(): string {
    const hash = createHash('sha1')
    for (const { upper } of this.layers)
      for (const { path, entry } of treeOf(upper)) {
        hash.update(`${path}\0`)
        if (entry.isFile()) hash.update(readFileSync(join(upper, path)))
        else if (entry.isSymbolicLink()) hash.update(readlinkSync(join(upper, path)))
      }
    return hash.digest('hex')
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true })
  }
}

/** Whether a layer has nothing but files, and directories that are not also below it: nothing that hides what is below. */
const isPlain = (upper: string, lower: string): boolean =>
  readdirSync(upper, { withFileTypes: true }).every(
    entry => entry.isFile() || (entry.isDirectory() && !existsSync(join(lower, entry.name))),
  )

/** What hides others, special files and attributes of directories, only cp(1) copies. */
const copyLayer = (upper: string, lower: string, to: string) => {
  if (isPlain(upper, lower)) {
    cpSync(upper, to, { recursive: true, preserveTimestamps: true })
    return
  }
  const { status, stderr } = spawnSync('cp', ['-a', `${upper}/.`, to], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`cp -a ${upper}/. ${to}: ${stderr}`)
}
