import type { HeldNode, HeldProcess, HeldThread, Keeper } from '../hold/held/held-node.ts'
import { CannotRewind } from './calls/error.ts'
import type { Facing } from './connection.ts'
import { InPlaceMark } from './in-place-mark.ts'
import { KeptThreads } from './kept-thread.ts'
import { MarkedMemory } from './memory/memory-mark.ts'
import { SharedMemory } from './memory/shared-memory.ts'
import type { MarkedProcess, ProcessMark } from './process-mark.ts'

/** Each costs some milliseconds and a copy of its memory. To start more anew is cheaper. */
const processesMax = 128

/**
 * All marks of a held node. Threads and processes that the node had at one of them and that end by themselves are kept,
 * because the kernel does not return them.
 */
export class InPlaceMarks implements Keeper {
  readonly #node: HeldNode
  readonly #processes = new Map<HeldProcess, MarkedProcess>()
  readonly #shared = new SharedMemory()
  #first: InPlaceMark | undefined

  constructor(node: HeldNode) {
    this.#node = node
    node.keeper = this
  }

  /** The marks of a node, which may have none yet. */
  static of(node: HeldNode): InPlaceMarks {
    return node.keeper instanceof InPlaceMarks ? node.keeper : new InPlaceMarks(node)
  }

  /** Marks the node, which must be frozen with all its threads waiting; see `InPlaceMark`. @throws CannotRewind */
  add(facing: Facing | undefined): InPlaceMark {
    // Somebody else may have killed it a moment ago.
    if (this.#node.processes.size === 0) throw new CannotRewind('it has ended')
    if (this.#node.processes.size > processesMax) throw new CannotRewind(`it has more than ${processesMax} processes`)
    this.#forgetEnded()
    const mark = new InPlaceMark(
      this.#node,
      [...this.#node.processes.values()].map(process => this.#marked(process)),
      this.#shared,
      facing,
    )
    this.#first ??= mark
    return mark
  }

  keepThread(thread: HeldThread): boolean {
    const marked = this.#processes.get(thread.process)
    if (marked === undefined) return false
    if (thread.tid === thread.process.pid) {
      marked.isFirstOver = true
      marked.kept.end()
    }
    const legacy = marked.legacies.get(thread)
    return !marked.isFirstOver && legacy !== undefined && marked.kept.keep(thread, legacy)
  }

  canKeep(process: HeldProcess): boolean {
    const marked = this.#processes.get(process)
    return (
      this.#node.processes.size === 1 &&
      marked !== undefined &&
      !marked.isFirstOver &&
      this.#markOf(process) !== undefined
    )
  }

  /** Undefined if the node could not be marked while it had this process. */
  #markOf(process: HeldProcess): ProcessMark | undefined {
    return this.#first?.processes.find(mark => mark.process === process)
  }

  keepProcess(process: HeldProcess): void {
    this.#markOf(process)!.close()
  }

  letThreadsEnd(): HeldThread[] {
    return [...this.#processes.values()].flatMap(({ process, kept, legacies }) => {
      const threads = kept.letEnd()
      for (const thread of threads) {
        // Otherwise they would be kept again.
        legacies.delete(thread)
        process.threads.add(thread)
      }
      return threads
    })
  }

  /** Processes that ended never come back, and their memory is large. */
  #forgetEnded(): void {
    const { processes, ended } = this.#node
    for (const process of this.#processes.keys())
      if (processes.get(process.pid) !== process && process !== ended) this.#processes.delete(process)
  }

  #marked(process: HeldProcess): MarkedProcess {
    const known = this.#processes.get(process)
    if (known) return known
    const marked = {
      process,
      memory: new MarkedMemory(process),
      kept: new KeptThreads(),
      legacies: new Map(),
      known: new Map(),
      isFirstOver: false,
    }
    this.#processes.set(process, marked)
    return marked
  }
}
