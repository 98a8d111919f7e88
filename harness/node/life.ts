import { closeSync } from 'node:fs'
import { constants } from 'node:os'
import type { Network } from '../../proxy/network.ts'
import type { Cell } from '../cell.ts'
import type { Disk } from '../files/disk.ts'
import type { Output } from '../files/output.ts'
import type { HeldNode } from '../hold/held-node.ts'
import { isEnding } from '../hold/is-ending.ts'
import { sendSignal } from '../hold/launch.ts'
import { DiskMark } from '../rewind/disk-mark.ts'
import { CannotRewind } from '../rewind/error.ts'
import type { NodeMark } from '../rewind/node-mark.ts'
import type { Place } from './runtime.ts'
import type { Uplink } from './uplink.ts'

/** Where a life can be brought back to. */
interface Mark {
  readonly processes: NodeMark
  readonly disk: DiskMark
  readonly rewindOutput: () => void
  /** What it had sent by then. */
  readonly datagrams: ReturnType<Network['datagramsOf']>
}

/**
 * One life of a node, from the start of its program until it is killed: its processes, its kernel's network, its disk.
 * A life that was marked can be parked instead of killed, and lived again from the mark.
 */
export class Life {
  readonly held: HeldNode
  readonly disk: Disk
  readonly place: Place
  #mark: Mark | undefined
  #reason: string | undefined

  constructor(held: HeldNode, place: Place, disk: Disk) {
    this.held = held
    this.disk = disk
    this.place = place
  }

  get stdout(): Output {
    return this.place.stdout
  }

  get stderr(): Output {
    return this.place.stderr
  }

  get uplink(): Uplink {
    return this.place.uplink
  }

  get isAlive(): boolean {
    return this.held.exit === undefined
  }

  /** Whether it has processes: they have not ended, or are kept where they were about to. */
  get #hasProcesses(): boolean {
    return this.isAlive || this.held.ended !== undefined
  }

  /**
   * Lets its program run, or, where it was parked, go on. It is not quiescent yet.
   *
   * @param random names the random bytes that it reads
   */
  start(cell: Cell, random: string): void {
    if (this.#mark) {
      this.#mark.processes.goOn()
      cell.tracer.thaw(this.held)
      return
    }
    const launched = this.place.launch(this.disk, random)
    cell.hold(this.held, launched)
    launched.release()
  }

  /** What it had sent when it was marked. */
  get datagrams(): Mark['datagrams'] {
    return this.#mark?.datagrams ?? []
  }

  get isMarked(): boolean {
    return this.#mark !== undefined
  }

  /**
   * Marks it where it is, quiescent; it then has to settle again. It may not be possible.
   *
   * @param datagrams what it has sent
   */
  mark(cell: Cell, datagrams: Mark['datagrams']): void {
    try {
      const rewinds = [this.stdout.mark(), this.stderr.mark()]
      this.#mark = {
        processes: cell.mark(this.held),
        disk: new DiskMark(this.disk.layers, this.place.lowerOf, this.place.inMemory),
        rewindOutput: () => {
          for (const rewind of rewinds) rewind()
        },
        datagrams,
      }
    } catch (error) {
      if (!(error instanceof CannotRewind)) throw error
      this.#reason = error.message
    }
  }

  /** Why it could not be marked, or not be brought back; undefined where it was not tried. */
  get reason(): string | undefined {
    return this.#reason
  }

  /** Brings it back to its mark, frozen; false where that is not possible, and it must be killed. */
  park(cell: Cell): boolean {
    if (!this.#mark || !this.#hasProcesses) return false
    const { pid } = this.held
    try {
      cell.rewind(this.held, this.#mark.processes)
      this.#mark.disk.rewind(this.held.root!)
      this.#mark.processes.goBackToDirectories()
      if (!this.uplink.clean()) throw new CannotRewind('its network still has connections')
    } catch (error) {
      if (!(error instanceof CannotRewind) && !isEnding(pid)) throw error
      this.#reason = error instanceof CannotRewind ? error.message : 'it was ending'
      return false
    }
    this.#mark.rewindOutput()
    return true
  }

  /** Kills all its processes at once; they are gone after `bury`. It must be off the network: its kernel still speaks. */
  kill(): void {
    if (this.held.pid !== 0 && this.#hasProcesses) sendSignal(this.held.pid, constants.signals.SIGKILL)
  }

  /** Waits until what was killed has ended, and lets go of all it had. */
  bury(cell: Cell): void {
    cell.awaitEnd(this.held)
    if (this.held.root !== undefined) closeSync(this.held.root)
    this.held.root = undefined
    this.place.leave()
    this.disk.remove()
  }
}
