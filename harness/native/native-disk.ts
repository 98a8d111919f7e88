import { join } from 'node:path'
import type { ResolvedNode } from '../config/config.ts'
import { Disk } from '../files/disk.ts'

/** The disk of a node that runs in real time: kept from life to life, or lost. */
export class NativeDisk {
  readonly #directory: string
  readonly #covered: readonly string[]
  readonly #isLost: boolean
  #disk: Disk | undefined
  #disks = 0

  /**
   * @param directory for its files
   * @param covered the directories that the node may write to
   */
  constructor(directory: string, covered: readonly string[], { disk }: ResolvedNode) {
    this.#directory = directory
    this.#covered = covered
    this.#isLost = disk === 'lost'
  }

  /** For the next life. */
  next(): Disk {
    if (this.#isLost) {
      this.#disk?.remove()
      this.#disk = undefined
    }
    this.#disk ??= new Disk(join(this.#directory, `disk${this.#disks++}`), this.#covered)
    return this.#disk
  }
}
