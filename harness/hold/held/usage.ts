import { readdirSync, statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { readKernelFile } from '../../../linux/kernel-file.ts'
import { amountOf } from '../../config/limits.ts'
import type { HeldNode, HeldProcess } from './held-node.ts'

/** Milliseconds between looks. With more, a node could use much more before anybody notices. */
const lookMs = 20
const pageBytes = 4096
const blockBytes = 512
/** What nodes write in memory or on disk is counted where the free space has shrunk by this much since the last count. */
const writtenBytesMin = 32 << 20
/** A count that came close to nothing is repeated once the node seems to use this much more. */
const growth = 1.1

/** A node, and the limit that it exceeds. */
interface Excess {
  readonly node: HeldNode
  readonly what: string
}

/**
 * Looks at how much memory and disk nodes use, and tells which of them exceeds its limits. It does so in any place where
 * nodes run, also where nobody may make control groups; in between, a node may use more for some milliseconds.
 */
export class Usage {
  readonly #layers: string
  #looked = 0
  #freeAtCount: number
  /** What a node seemed to use when it was last counted exactly, and was within its limit. */
  readonly #within = new WeakMap<HeldNode, number>()

  /** @param layers path of the directory that contains the nodes' disks */
  constructor(layers: string) {
    this.#layers = layers
    this.#freeAtCount = freeIn(layers)
  }

  /**
   * A node that exceeds a limit, and a sentence about it.
   *
   * @param msMin it is not looked more often than this, in milliseconds
   */
  exceeding(nodes: readonly HeldNode[], msMin = lookMs): Excess | undefined {
    const now = performance.now()
    if (now - this.#looked < msMin) return undefined
    this.#looked = now
    const hasWritten = this.#hasWritten()
    for (const node of nodes) {
      if (node.exit !== undefined || node.exceeded !== undefined) continue
      const { memoryBytesMax, diskBytesMax } = node.limits
      if (this.#usesMore(node, memoryBytesMax))
        return { node, what: `it used more than ${amountOf(memoryBytesMax)} of memory (limits.memory)` }
      if (hasWritten && writtenBy(node) > diskBytesMax)
        return { node, what: `it wrote more than ${amountOf(diskBytesMax)} to its disk (limits.disk)` }
    }
    return undefined
  }

  /** Pages that processes share count once. To count those exactly takes a while, and stops the processes meanwhile. */
  #usesMore(node: HeldNode, bytesMax: number): boolean {
    let seeming = 0
    for (const process of node.processes.values()) seeming += residentOf(process)
    if (seeming <= bytesMax || seeming <= (this.#within.get(node) ?? 0) * growth) return false
    let bytes = 0
    for (const process of node.processes.values()) bytes += ownBytesOf(process)
    if (bytes > bytesMax) return true
    this.#within.set(node, seeming)
    return false
  }

  #hasWritten(): boolean {
    const free = freeIn(this.#layers)
    const hasShrunk = free < this.#freeAtCount - writtenBytesMin
    if (hasShrunk || free > this.#freeAtCount) this.#freeAtCount = free
    return hasShrunk
  }
}

const freeIn = (directory: string): number => {
  const { bavail, bsize } = statfsSync(directory)
  return bavail * bsize
}

const residentOf = ({ pid }: HeldProcess): number =>
  unlessEnded(() => Number(readKernelFile(`/proc/${pid}/statm`).split(' ')[1]) * pageBytes)

/** Memory that is no file's. */
const ownBytesOf = ({ pid }: HeldProcess): number =>
  unlessEnded(() => {
    const lines = readKernelFile(`/proc/${pid}/smaps_rollup`).matchAll(/^Pss_(?:Anon|Shmem):\s*(\d+) kB$/gm)
    return [...lines].reduce((sum, [, kilobytes]) => sum + Number(kilobytes) * 1024, 0)
  })

const unlessEnded = (read: () => number): number => {
  try {
    return read()
  } catch {
    return 0
  }
}

/** Bytes in a node's private layers. */
const writtenBy = ({ written }: HeldNode): number => written.reduce((sum, directory) => sum + bytesIn(directory), 0)

const bytesIn = (directory: string): number =>
  unlessEnded(() =>
    readdirSync(directory, { withFileTypes: true }).reduce((sum, entry) => {
      const path = join(directory, entry.name)
      if (entry.isDirectory()) return sum + bytesIn(path)
      return sum + unlessEnded(() => (entry.isFile() ? statSync(path).blocks * blockBytes : 0))
    }, 0),
  )
