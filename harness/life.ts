import { constants } from 'node:os'
import { join } from 'node:path'
import type { Network } from '../proxy/network.ts'
import type { Cell } from './cell.ts'
import type { Disk } from './disk.ts'
import type { HeldNode } from './hold/held-node.ts'
import { type Launch, launch, sendSignal } from './hold/launch.ts'
import { Output } from './output.ts'
import { DiskMark } from './rewind/disk-mark.ts'
import { CannotRewind } from './rewind/error.ts'
import type { NodeMark } from './rewind/node-mark.ts'
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
  readonly stdout: Output
  readonly stderr: Output
  readonly uplink: Uplink
  #mark: Mark | undefined

  constructor(held: HeldNode, uplink: Uplink, disk: Disk) {
    this.held = held
    this.uplink = uplink
    this.disk = disk
    this.stdout = new Output(join(disk.directory, 'stdout'))
    this.stderr = new Output(join(disk.directory, 'stderr'))
  }

  get isAlive(): boolean {
    return this.held.exit === undefined
  }

  /** Lets its program run, or, where it was parked, go on. It is not quiescent yet. */
  start(cell: Cell, plan: Pick<Launch, 'command' | 'environment' | 'directory' | 'hostname' | 'mounts'>): void {
    if (this.#mark) {
      this.#mark.processes.goOn()
      cell.tracer.thaw(this.held)
      return
    }
    const { pid, release } = launch({
      ...plan,
      stdout: this.stdout.descriptor,
      stderr: this.stderr.descriptor,
      network: this.uplink.namespace.fd,
    })
    cell.hold(this.held, pid)
    release()
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
        disk: new DiskMark(this.disk.layers),
        rewindOutput: () => {
          for (const rewind of rewinds) rewind()
        },
        datagrams,
      }
    } catch (error) {
      if (!(error instanceof CannotRewind)) throw error
    }
  }

  /** Brings it back to its mark, frozen; false where that is not possible, and it must be killed. */
  park(cell: Cell): boolean {
    if (!this.#mark || !this.isAlive) return false
    const { pid } = this.held
    try {
      cell.rewind(this.held, this.#mark.processes)
      this.#mark.disk.rewind(`/proc/${pid}/root`)
      if (!this.uplink.clean()) return false
    } catch (error) {
      if (!(error instanceof CannotRewind)) throw error
      return false
    }
    this.#mark.rewindOutput()
    return true
  }

  /** Kills all its processes at once; they are gone after `bury`. It must be off the network: its kernel still speaks. */
  kill(): void {
    if (this.held.pid !== 0 && this.isAlive) sendSignal(this.held.pid, constants.signals.SIGKILL)
  }

  /** Waits until what was killed has ended, and lets go of all it had but its uplink. */
  bury(cell: Cell): void {
    cell.awaitEnd(this.held)
    this.stdout.close()
    this.stderr.close()
    this.disk.remove()
  }
}
