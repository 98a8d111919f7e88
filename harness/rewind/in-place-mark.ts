import { withProcess } from '../../linux/descriptor.ts'
import type { Segment } from '../../proxy/packets/packet.ts'
import type { HeldNode, HeldProcess, HeldThread } from '../hold/held/held-node.ts'
import { endWhenThawed } from './calls/batch.ts'
import { CannotRewind } from './calls/error.ts'
import type { Facing } from './connection.ts'
import { lastId, setLastId } from './last-id.ts'
import type { Adopt } from './made-thread.ts'
import type { SharedMark, SharedMemory } from './memory/shared-memory.ts'
import { type MarkedProcess, ProcessMark } from './process-mark.ts'
import { noteSharedFiles } from './shared-files.ts'

/**
 * A mark to which a held node can be rewound in place: the same processes, with the memory, threads, descriptors and
 * timers that they had. It costs a tenth of a new start.
 */
export class InPlaceMark {
  readonly processes: readonly ProcessMark[]
  readonly #node: HeldNode
  readonly #rewindNode: () => void
  readonly #lastId: number
  readonly #threads: number
  readonly #shared: SharedMemory
  readonly #sharedMark: SharedMark

  /**
   * @param processes of the node, which is frozen and whose threads all wait
   *
   * @param shared what they share with each other
   *
   * @param facing the counterparts of its connections; undefined if it may have none
   *
   * @throws CannotRewind
   */
  constructor(node: HeldNode, processes: readonly MarkedProcess[], shared: SharedMemory, facing: Facing | undefined) {
    this.#node = node
    this.#rewindNode = node.mark()
    this.processes = processes.map(marked => withProcess(marked.process.pid, () => new ProcessMark(marked, facing)))
    noteSharedFiles(this.processes.map(({ process: { pid }, descriptors }) => ({ pid, descriptors })))
    this.#lastId = this.#first.useFirst(lastId)
    this.#threads = node.threadsMade
    this.#shared = shared
    this.#sharedMark = shared.mark(
      this.processes.map(({ mapping }) => mapping),
      this.#first.segments,
    )
  }

  get #first(): ProcessMark {
    return this.processes[0]!
  }

  /** Bytes of memory that no earlier mark has: little, unless processes were made since. */
  get bytes(): number {
    return this.processes.reduce((sum, { bytes }) => sum + bytes, 0)
  }

  /** Whether everything that the node had at the mark still exists, or is kept just before its end. */
  get isThere(): boolean {
    const { processes, ended } = this.#node
    const now = new Set([...processes.values(), ...(ended ? [ended] : [])])
    return this.processes.every(mark => now.has(mark.process) && mark.isThere)
  }

  /** Processes that did not exist yet. They must be killed before the rewind. */
  get newProcesses(): HeldProcess[] {
    const known = new Set(this.processes.map(({ process }) => process))
    return [...this.#node.processes.values()].filter(process => !known.has(process))
  }

  /** Revives what is kept. The node is frozen. */
  bringBack(): void {
    const { ended } = this.#node
    if (ended) this.#node.processes.set(ended.pid, ended)
    this.#node.ended = undefined
    this.#node.exit = undefined
    for (const process of this.processes) process.bringBack(this.#lastId)
  }

  /** Threads that must end before the rewind: let them, by `thaw`. @throws CannotRewind */
  endNewThreads(): HeldThread[] {
    const threads = this.processes.flatMap(process => process.newThreads(this.#lastId))
    for (const thread of threads) endWhenThawed(thread)
    return threads
  }

  /** Rewinds the frozen node. When thawed, it continues from the mark. @throws CannotRewind */
  rewind(adopt: Adopt): void {
    if (!this.isThere) throw new CannotRewind('a process has ended, or its first thread')
    const made = this.processes.filter(process => process.makeThreads(adopt))
    if (made.length > 0 || this.#node.threadsMade !== this.#threads) this.#forgetThreads()
    for (const process of this.processes) withProcess(process.process.pid, () => process.rewind())
    this.#shared.rewind(
      this.#sharedMark,
      this.processes.map(({ process }) => process.pid),
    )
    this.#rewindNode()
  }

  /** Rewinds only what the tool knows of the node, because nothing has happened in it since the mark. */
  stay(): void {
    this.#rewindNode()
  }

  /** Forgets ended threads as if they had never existed. */
  #forgetThreads(): void {
    for (const process of this.processes) process.reap()
    setLastId(this.#first.first, this.#lastId)
  }

  /** Call it after the disk was restored. @throws CannotRewind */
  goBackToDirectories(): void {
    for (const process of this.processes) process.goBackToDirectory()
  }

  /** Inodes of its sockets with a connection. Its kernel keeps only these. */
  get connected(): ReadonlySet<number> {
    return new Set(this.processes.flatMap(process => process.connected))
  }

  /**
   * Restores the connections of the mark. The node's kernel must have no other connections.
   *
   * @param say tells its kernel what others sent
   *
   * @throws CannotRewind
   */
  goBackToConnections(say: (segment: Segment) => void): void {
    for (const process of this.processes) withProcess(process.process.pid, () => process.goBackToConnections(say))
  }

  /** Call it before the rewound node is thawed, once it has a network again. */
  goOn(): void {
    for (const process of this.processes) process.goOn()
  }
}
