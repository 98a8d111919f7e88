import { closeSync } from 'node:fs'
import { constants } from 'node:os'
import type { Network } from '../../proxy/network.ts'
import type { Disk } from '../files/disk.ts'
import type { Output } from '../files/output.ts'
import type { HeldNode } from '../hold/held-node.ts'
import { isEnding } from '../hold/is-ending.ts'
import { sendSignal } from '../hold/launch.ts'
import type { Facing } from '../rewind/connection.ts'
import { DiskMark } from '../rewind/disk-mark.ts'
import { CannotRewind } from '../rewind/error.ts'
import type { NodeMark } from '../rewind/node-mark.ts'
import type { Runner } from '../runner.ts'
import type { Place } from './runtime.ts'
import type { Uplink } from './uplink.ts'

/** Where a life can be brought back to. */
export interface LifeMark {
  readonly processes: NodeMark
  readonly disk: DiskMark
  readonly rewindOutput: () => void
}

/** The end of its start. */
interface StartMark extends LifeMark {
  /** What it had sent by then. */
  readonly datagrams: ReturnType<Network['datagramsOf']>
}

/**
 * One life of a node, from the start of its program until it is killed: its processes, its kernel's network, its disk.
 * A life that was marked at the end of its start can be parked instead of killed, and lived again from there. Whether parked
 * or not, it can be brought back to any of its marks.
 */
export class Life {
  readonly held: HeldNode
  readonly disk: Disk
  readonly place: Place
  #start: StartMark | undefined
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
  start(runner: Runner, random: string): void {
    if (this.#start) return this.goOn(runner, this.#start)
    const launched = this.place.launch(this.disk, random)
    runner.hold(this.held, launched)
    launched.release()
  }

  /** Lets it go on from a mark that it was brought back to. It is not quiescent yet. */
  goOn(runner: Runner, { processes }: LifeMark): void {
    processes.goOn()
    runner.tracer.thaw(this.held)
  }

  /** What it had sent by the end of its start. */
  get datagrams(): StartMark['datagrams'] {
    return this.#start?.datagrams ?? []
  }

  /** Whether the end of its start was marked. */
  get isMarked(): boolean {
    return this.#start !== undefined
  }

  /**
   * Marks it where it is, quiescent; it then has to settle again.
   *
   * @param facing who faces its connections; undefined where it may have none
   * @throws CannotRewind
   */
  mark(runner: Runner, facing?: Facing): LifeMark {
    const { held, place, disk } = this
    if (!this.isAlive) throw new CannotRewind('it has ended')
    const rewinds = [this.stdout.mark(), this.stderr.mark()]
    return {
      processes: runner.mark(held, facing),
      disk: new DiskMark(held.root!, disk.layers, place.lowerOf, place.inMemory),
      rewindOutput: () => {
        for (const rewind of rewinds) rewind()
      },
    }
  }

  /**
   * Marks the end of its start, where that is possible.
   *
   * @param datagrams what it has sent
   */
  markStart(runner: Runner, datagrams: StartMark['datagrams']): void {
    try {
      this.#start = { ...this.mark(runner), datagrams }
    } catch (error) {
      if (!(error instanceof CannotRewind)) throw error
      this.#reason = error.message
    }
  }

  /** Why it could not be marked, or not be brought back; undefined where it was not tried. */
  get reason(): string | undefined {
    return this.#reason
  }

  /** Brings it back to the end of its start, frozen; false where that is not possible, and it must be killed. */
  park(runner: Runner): boolean {
    if (!this.#start || !this.#hasProcesses) return false
    try {
      this.goBack(runner, this.#start)
      return true
    } catch (error) {
      if (!(error instanceof CannotRewind)) throw error
      this.#reason = error.message
      return false
    }
  }

  /** Whether it can probably be brought back to a mark; if not, it stays as it is. */
  isThere({ processes }: LifeMark): boolean {
    return this.#hasProcesses && processes.isThere
  }

  /** Brings it back to a mark, off the network, and frozen. @throws CannotRewind; it must be killed then */
  goBack(runner: Runner, { processes, disk, rewindOutput }: LifeMark): void {
    const { pid } = this.held
    try {
      runner.rewind(this.held, processes)
      disk.rewind(this.held.root!)
      processes.goBackToDirectories()
      if (!this.uplink.clean(processes.connected)) throw new CannotRewind('its network still has connections')
      processes.goBackToConnections(segment => this.uplink.say(segment))
    } catch (error) {
      if (error instanceof CannotRewind || !isEnding(pid)) throw error
      throw new CannotRewind('it was ending')
    }
    rewindOutput()
  }

  /** Kills all its processes at once; they are gone after `bury`. It must be off the network: its kernel still speaks. */
  kill(): void {
    if (this.held.pid !== 0 && this.#hasProcesses) sendSignal(this.held.pid, constants.signals.SIGKILL)
  }

  /** Waits until what was killed has ended, and lets go of all it had. */
  bury(runner: Runner): void {
    runner.awaitEnd(this.held)
    if (this.held.root !== undefined) closeSync(this.held.root)
    this.held.root = undefined
    this.place.leave()
    this.disk.remove()
  }
}
