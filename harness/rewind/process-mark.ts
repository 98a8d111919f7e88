import { innerId } from '../../linux/ids.ts'
import { syscallNumber } from '../../linux/syscall-number.ts'
import type { Segment } from '../../proxy/packets/packet.ts'
import { markProvided } from '../hold/files/provided-files.ts'
import type { HeldProcess, HeldThread } from '../hold/held/held-node.ts'
import { markTimers, rewindTimers, type TimersMark } from '../hold/kernel-timers.ts'
import { makeCalls } from './calls/batch.ts'
import { CannotRewind } from './calls/error.ts'
import type { Facing } from './connection.ts'
import { DescriptorMarks } from './descriptor-marks.ts'
import {
  type AskedProcess,
  askProcess,
  hasEndedChild,
  type Inventory,
  inventoryOf,
  requireComparable,
  requireSameInventory,
  segmentsIn,
} from './inventory.ts'
import type { KeptThreads, Legacy } from './kept-thread.ts'
import { type Adopt, KnownThread } from './made-thread.ts'
import { breakCall, breakCallTo, type MarkedMemory, type MemoryMark } from './memory/memory-mark.ts'
import type { MappedMemory } from './memory/shared-memory.ts'
import type { Descriptor } from './open-descriptors.ts'
import { SignalMarks } from './signal-marks.ts'
import { registersBeforeWait, ThreadMark } from './thread-mark.ts'
import { WorkingDirectory } from './working-directory.ts'

/** State that a process has once, for all of its marks. */
export interface MarkedProcess {
  readonly process: HeldProcess
  readonly memory: MarkedMemory
  readonly kept: KeptThreads
  /** By thread that existed at some mark: what the kernel will write to memory when the thread ends. */
  readonly legacies: Map<HeldThread, Legacy>
  /** Threads that existed at some mark. */
  readonly known: Map<HeldThread, KnownThread>
  /** Whether its first thread has ended, which the others may survive. The process cannot be marked or rewound then. */
  isFirstOver: boolean
}

/** A frozen process at one instant at which all of its threads waited. */
export class ProcessMark {
  readonly process: HeldProcess
  readonly #threads: readonly ThreadMark[]
  readonly #descriptors: DescriptorMarks
  readonly #marked: MarkedProcess
  readonly #memory: MemoryMark
  readonly #signals: SignalMarks
  readonly #timers: TimersMark
  readonly #inventory: Inventory
  readonly #restoreProvided: () => void
  readonly #workingDirectory: WorkingDirectory
  /** Threads that were made again for the present rewind. */
  #made: readonly ThreadMark[] = []

  /** @param facing the counterparts of its connections; undefined if it may have none. @throws CannotRewind */
  constructor(marked: MarkedProcess, facing: Facing | undefined) {
    const { process } = marked
    this.process = process
    this.#marked = marked
    if (marked.isFirstOver) throw new CannotRewind('its first thread has ended')
    this.#threads = [...process.threads].map(thread => new ThreadMark(knownOf(marked, thread)))
    for (const { thread, legacy } of this.#threads) if (legacy) marked.legacies.set(thread, legacy)
    this.#descriptors = new DescriptorMarks(process, facing)
    const asked = askProcess(process)
    this.#signals = new SignalMarks(asked.status)
    this.#timers = markTimers(process)
    this.#restoreProvided = markProvided(process)
    this.#workingDirectory = new WorkingDirectory(process.pid)
    try {
      const [breakAddress] = makeCalls(this.first, [breakCall, ...this.#signals.calls, ...asked.calls])
      this.#inventory = inventoryOf(process, asked, this.#descriptors.kept)
      requireComparable(this.#inventory, process.node)
      this.#memory = marked.memory.mark(this.first, breakAddress!)
    } finally {
      // Its registers were used.
      this.#threads[0]!.rewind()
    }
  }

  /** What it mapped. */
  get mapping(): MappedMemory {
    return { pid: this.process.pid, regions: this.#memory.regions }
  }

  /** What it has open, except connections. */
  get descriptors(): readonly Descriptor[] {
    return this.#descriptors.kept
  }

  /** Bytes of its memory that no earlier mark has. */
  get bytes(): number {
    return this.#memory.bytes
  }

  /** How many segments of shared memory of System V its node had. */
  get segments(): number {
    return segmentsIn(this.#inventory)
  }

  /** Closes descriptors opened since the mark, as far as others notice. */
  close(): void {
    this.#descriptors.close(this.first)
  }

  /** Whether its first thread exists, which can restore ended ones. */
  get isThere(): boolean {
    return !this.#marked.isFirstOver && this.process.threads.has(this.first)
  }

  /**
   * Revives kept threads, stopped, except those that had ended by the mark.
   *
   * @param lastId the last id given to a thread of its node by then; a thread with a later id is not kept, because
   * another one will get that id
   */
  bringBack(lastId: number): void {
    const { kept } = this.#marked
    const { threads } = this.process
    const others = [...threads, ...kept.all.filter(thread => this.#isInTheWay(thread, lastId))]
    const known = this.#threads.filter(({ thread }) => threads.has(thread) || kept.has(thread))
    threads.clear()
    for (const { thread } of known) threads.add(thread)
    for (const thread of others) threads.add(thread)
  }

  /**
   * Threads that must end, because they did not exist at the mark. Threads that had ended at the mark are kept. @throws
   * CannotRewind
   */
  newThreads(lastId: number): HeldThread[] {
    const { kept, legacies } = this.#marked
    const known = new Set(this.#threads.map(({ thread }) => thread))
    const ending: HeldThread[] = []
    for (const thread of [...this.process.threads].filter(each => !known.has(each))) {
      const legacy = legacies.get(thread)
      if (legacy !== undefined && !this.#isInTheWay(thread, lastId))
        kept.keepWaiting(thread, legacy, registersBeforeWait(thread.tid))
      else {
        kept.forget(thread)
        legacies.delete(thread)
        ending.push(thread)
      }
    }
    return ending
  }

  /** Whether its id belongs to another thread of the mark, or will be given to one. */
  #isInTheWay({ tid }: HeldThread, lastId: number): boolean {
    const id = innerId(tid)
    return id > lastId || this.#threads.some(mark => mark.id === id && mark.thread.tid !== tid)
  }

  /** Restores threads of the mark that have ended. Returns whether there were any. @throws CannotRewind */
  makeThreads(adopt: Adopt): boolean {
    const { kept, known, legacies } = this.#marked
    this.#made = this.#threads.filter(({ thread }) => !this.process.threads.has(thread) && !kept.has(thread))
    for (const mark of this.#made) {
      const former = mark.thread
      mark.makeAgain(this.first, adopt)
      known.set(mark.thread, known.get(former)!)
      known.delete(former)
      legacies.set(mark.thread, mark.legacy!)
    }
    // Threads take turns in the order in which they were created.
    const { threads } = this.process
    threads.clear()
    for (const { thread } of this.#threads) threads.add(thread)
    return this.#made.length > 0
  }

  /** Reaps children forked since the mark, which nobody else can do, and takes the signal of their end. All have ended. */
  reap(): void {
    while (makeCalls(this.first, [[syscallNumber.wait4, -1, 0, noHang | anyKind]])[0]! > 0);
    if (!this.#signals.hasPending)
      makeCalls(this.first, [[syscallNumber.rt_sigtimedwait, endOfChild, 0, atOnce, endOfChild.length]])
  }

  /** Restores its state after the new threads have ended. It stays frozen. @throws CannotRewind */
  rewind(): void {
    const asked = askProcess(this.process)
    const signals = this.#signals.callsToRewind(asked.status)
    makeCalls(this.first, [breakCallTo(this.#memory), ...signals, ...asked.calls])
    this.#descriptors.rewind(this.first)
    this.#marked.memory.rewind(this.first, this.#memory)
    requireSameInventory(this.#inventory, this.#present(asked))
    for (const { thread } of this.#threads) this.#marked.kept.takeBack(thread)
    for (const thread of this.#made) thread.tellAgain()
    for (const thread of this.#threads) thread.rewindSignals()
    for (const thread of this.#threads) thread.rewind()
    rewindTimers(this.process, this.#timers)
    this.#restoreProvided()
  }

  /** Its kernel state now. The first thread's registers are lost. */
  #present(asked: AskedProcess): Inventory {
    const open = this.#descriptors.rewound
    const present = inventoryOf(this.process, asked, open)
    if (!hasEndedChild(present)) return present
    // At the mark it had waited for all, perhaps for the same child that has only ended now.
    this.reap()
    const askedAgain = askProcess(this.process)
    makeCalls(this.first, askedAgain.calls)
    return inventoryOf(this.process, askedAgain, open)
  }

  /** Call it when the disk is restored. @throws CannotRewind */
  goBackToDirectory(): void {
    if (this.#workingDirectory.isAnother) this.useFirst(thread => this.#workingDirectory.goBack(thread))
  }

  /** Inodes of its sockets with a connection. */
  get connected(): number[] {
    return this.#descriptors.connected
  }

  /**
   * Restores the connections of the mark. The node's kernel must have no other connections.
   *
   * @param say passes its kernel what others sent
   *
   * @throws CannotRewind
   */
  goBackToConnections(say: (segment: Segment) => void): void {
    this.useFirst(thread => this.#descriptors.goBackToConnections(thread, say))
  }

  /** Call it before the process continues. */
  goOn(): void {
    if (this.#descriptors.isAsking) this.useFirst(thread => this.#descriptors.ask(thread))
  }

  /** Makes system calls through the first thread, and restores that thread afterwards. */
  useFirst<Result>(work: (thread: HeldThread) => Result): Result {
    try {
      return work(this.first)
    } finally {
      this.#threads[0]!.rewind()
    }
  }

  /** The first thread, which may make system calls before it is rewound. */
  get first(): HeldThread {
    return this.#threads[0]!.thread
  }
}

const knownOf = ({ known }: MarkedProcess, thread: HeldThread): KnownThread => {
  const found = known.get(thread) ?? new KnownThread(thread)
  known.set(thread, found)
  return found
}

/** A set of signals that has only SIGCHLD. */
const endOfChild = Buffer.from(BigUint64Array.of(1n << 16n).buffer)
/** A struct timespec. */
const atOnce = Buffer.alloc(16)
const noHang = 1
/** __WALL: also children that do not report their end by SIGCHLD. */
const anyKind = 0x4000_0000
