import { closeSync } from 'node:fs'
import { constants } from 'node:os'
import { cpuNsOf } from '../../linux/cpu-time.ts'
import type { HeaderAndPayload } from '../../proxy/datagrams.ts'
import type { Disk } from '../files/disk.ts'
import type { Output } from '../files/output.ts'
import { leaveSharedMemory } from '../hold/calls/shared-memory.ts'
import type { HeldNode } from '../hold/held/held-node.ts'
import { sendSignal } from '../hold/start/launch.ts'
import { isEnding } from '../hold/turns/is-ending.ts'
import { CannotRewind } from '../rewind/calls/error.ts'
import type { Facing } from '../rewind/connection.ts'
import { DiskMark } from '../rewind/disk-mark.ts'
import { FilesInMemory, type FilesMark } from '../rewind/files-in-memory.ts'
import type { InPlaceMark } from '../rewind/in-place-mark.ts'
import type { Runner } from '../runner/runner.ts'
import type { Home } from './runtime.ts'
import type { Uplink } from './uplink.ts'

/** A state to which a life can be rewound. */
export interface LifeMark {
  readonly processes: InPlaceMark
  readonly disk: DiskMark
  readonly inMemory: FilesMark
  readonly rewindUnsynced: () => void
  readonly rewindOutput: () => void
}

/** The end of its start. */
interface StartMark extends LifeMark {
  /** Datagrams that the life had sent by the end of its start. */
  readonly datagrams: readonly HeaderAndPayload[]
}

/**
 * One life of a node, from the start of its program until it is killed: its processes, its kernel's network, its disk.
 * A life that was marked at the end of its start can be parked instead of killed, and lived again from there. Parked or
 * not, it can be rewound to any of its marks.
 */
export class Life {
  readonly held: HeldNode
  readonly disk: Disk
  readonly place: Home
  readonly #runner: Runner
  readonly #inMemory: FilesInMemory
  #lastDisk: DiskMark | undefined
  #start: StartMark | undefined
  #reason: string | undefined
  /** Marks besides the end of its start, and how many owners each has. */
  readonly #marks = new Map<LifeMark, number>()
  /** Number of programs that were run in the node from outside. */
  #visits = 0

  constructor(runner: Runner, held: HeldNode, place: Home, disk: Disk) {
    this.#runner = runner
    this.held = held
    held.limits = place.limits
    held.unsynced = disk.unsynced
    held.written = disk.layers.map(({ upper }) => upper)
    this.disk = disk
    this.place = place
    this.#inMemory = new FilesInMemory(place.inMemory)
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

  /** Call it when a program was run inside. */
  visit(): void {
    this.#visits += 1
  }

  /**
   * Differs from what it was if anything has happened in this life: its processes ran, its clock moved, packets passed,
   * or a program was run inside.
   */
  get activity(): string {
    const { processes, clock } = this.held
    const ran = [...processes.keys()].map(pid => `${pid} ${cpuNsOf(pid)}`)
    return [clock.elapsed, clock.jumped, this.uplink.packets, this.#visits, ...ran].join()
  }

  /**
   * Lets its program run, or continue after parking. It is not quiescent yet.
   *
   * @param random names the random bytes that it reads
   */
  start(random: string): void {
    if (this.#start) return this.goOn(this.#start)
    const launched = this.place.launch(this.disk, random)
    this.#runner.hold(this.held, launched)
    launched.release()
  }

  /** Lets it continue from a mark to which it was rewound. It is not quiescent yet. */
  goOn({ processes }: LifeMark): void {
    processes.goOn()
    this.#runner.tracer.stopped.thaw(this.held)
  }

  /** Datagrams that it had sent by the end of its start. */
  get datagrams(): StartMark['datagrams'] {
    return this.#start?.datagrams ?? []
  }

  /** Whether the end of its start was marked. */
  get isMarked(): boolean {
    return this.#start !== undefined
  }

  /**
   * Marks its present, quiescent state. It must settle again afterwards.
   *
   * @param facing the counterparts of its connections
   *
   * @throws CannotRewind
   */
  mark(facing: Facing): LifeMark {
    const mark = this.#mark(facing)
    this.share(mark)
    return mark
  }

  /** Adds an owner to a mark. */
  share(mark: LifeMark): void {
    this.#marks.set(mark, (this.#marks.get(mark) ?? 0) + 1)
  }

  /** Removes an owner of a mark. */
  forget(mark: LifeMark): void {
    const others = (this.#marks.get(mark) ?? 0) - 1
    if (others > 0) this.#marks.set(mark, others)
    else this.#marks.delete(mark)
  }

  get hasMarks(): boolean {
    return this.#marks.size > 0
  }

  /** @param facing undefined if it may have no connections */
  #mark(facing?: Facing): LifeMark {
    const { held, place, disk } = this
    if (!this.isAlive) throw new CannotRewind('it has ended')
    const rewinds = [this.stdout.mark(), this.stderr.mark()]
    const rewindUnsynced = disk.unsynced?.mark()
    return {
      processes: this.#runner.mark(held, facing),
      disk: (this.#lastDisk = new DiskMark(disk.layers, place.lowerOf, this.#lastDisk)),
      inMemory: this.#inMemory.mark(held.root!),
      rewindUnsynced: () => rewindUnsynced?.(),
      rewindOutput: () => {
        for (const rewind of rewinds) rewind()
      },
    }
  }

  /**
   * Marks the end of its start, if possible.
   *
   * @param datagrams that it has sent
   */
  markStart(datagrams: StartMark['datagrams']): void {
    try {
      this.#start = { ...this.#mark(), datagrams }
    } catch (error) {
      if (!(error instanceof CannotRewind)) throw error
      this.#reason = error.message
    }
  }

  /** @param reason why the end of its start is not marked */
  leaveUnmarked(reason: string): void {
    this.#reason = reason
  }

  /** Why it could not be marked or rewound; undefined if that was not tried. */
  get reason(): string | undefined {
    return this.#reason
  }

  /**
   * Rewinds it to the end of its start and leaves it frozen. Returns false if that is not possible; it must then be
   * killed.
   */
  park(): boolean {
    return this.#parkAt(this.#start)
  }

  /**
   * Rewinds the life to its last mark and leaves it frozen, so that any mark can be gone back to. Returns false if that
   * fails; the life must then be killed.
   */
  keep(): boolean {
    return this.#parkAt([...this.#marks.keys()].at(-1))
  }

  #parkAt(mark: LifeMark | undefined): boolean {
    if (!mark || !this.held.hasProcesses) return false
    try {
      this.goBack(mark)
      return true
    } catch (error) {
      if (!(error instanceof CannotRewind)) throw error
      // Frozen processes do not end by themselves: if none is left, somebody else killed them.
      if (this.held.processes.size > 0) this.#reason = error.message
      return false
    }
  }

  /** Whether the life can probably be rewound to a mark. */
  isThere({ processes }: LifeMark): boolean {
    return this.held.hasProcesses && processes.isThere
  }

  /** Continues from a mark since which nothing has happened in it. Only what the tool knows of it may differ. */
  stay({ processes, rewindOutput }: LifeMark): void {
    processes.stay()
    rewindOutput()
  }

  /** Rewinds it to a mark, detached from the network and frozen. @throws CannotRewind; it must then be killed */
  goBack({ processes, disk, inMemory, rewindUnsynced, rewindOutput }: LifeMark): void {
    const { pid } = this.held
    try {
      this.#runner.rewind(this.held, processes)
      disk.rewind(this.held.root!)
      this.#inMemory.rewind(this.held.root!, inMemory)
      rewindUnsynced()
      processes.goBackToDirectories()
      if (!this.uplink.clean(processes.connected)) throw new CannotRewind('its network still has connections')
      processes.goBackToConnections(segment => this.uplink.say(segment))
      this.uplink.throwAway()
    } catch (error) {
      if (error instanceof CannotRewind || !isEnding(pid)) throw error
      throw new CannotRewind('it was ending')
    }
    rewindOutput()
  }

  /**
   * Kills all its processes. They are gone after `bury`. It must be detached from the network, because its kernel still
   * sends.
   */
  kill(): void {
    if (this.held.pid !== 0 && this.held.hasProcesses) sendSignal(this.held.pid, constants.signals.SIGKILL)
  }

  /** Waits until the killed processes have ended, and frees everything. */
  bury(): void {
    this.#runner.awaitEnd(this.held)
    leaveSharedMemory(this.held)
    if (this.held.root !== undefined) closeSync(this.held.root)
    this.held.root = undefined
    this.place.leave()
    this.disk.remove()
  }
}
