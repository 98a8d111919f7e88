import { childrenOf } from '../hold/descendants.ts'
import type { HeldProcess, HeldThread } from '../hold/held-node.ts'
import { markTimers, rewindTimers, type TimerMark } from '../hold/kernel-timers.ts'
import { cont } from '../hold/ptrace.ts'
import { syscallNumber } from '../hold/syscall-number.ts'
import { makeCalls } from './batch.ts'
import { DescriptorMarks } from './descriptor-marks.ts'
import { CannotRewind } from './error.ts'
import { type Inventory, inventoryOf, requireComparable, requireSame } from './inventory.ts'
import { MemoryMark } from './memory-mark.ts'
import { SignalMarks } from './signal-marks.ts'
import { ThreadMark } from './thread-mark.ts'
import { WorkingDirectory } from './working-directory.ts'

/** A frozen process, all of whose threads wait. */
export class ProcessMark {
  readonly process: HeldProcess
  readonly #threads: readonly ThreadMark[]
  readonly #descriptors: DescriptorMarks
  readonly #memory: MemoryMark
  readonly #signals: SignalMarks
  readonly #timers: readonly TimerMark[]
  readonly #inventory: Inventory
  readonly #workingDirectory: WorkingDirectory
  #isFirstOver = false

  /** @throws CannotRewind */
  constructor(process: HeldProcess) {
    this.process = process
    if (hasUnreapedChild(process)) throw new CannotRewind('it has not waited for a child that has ended')
    this.#threads = [...process.threads].map(thread => new ThreadMark(thread))
    this.#descriptors = new DescriptorMarks(process)
    this.#signals = new SignalMarks(this.first)
    this.#timers = markTimers(process)
    this.#workingDirectory = new WorkingDirectory(process.pid)
    try {
      this.#inventory = this.#takeInventory()
      requireComparable(this.#inventory, process.node)
      this.#memory = new MemoryMark(this.first)
    } finally {
      // Its registers were used.
      this.#threads[0]!.rewind()
    }
  }

  /**
   * Whether this thread, which is about to end, is kept. Where it is the first, which others may outlive, those that are
   * kept end too.
   */
  keepThread(thread: HeldThread): boolean {
    if (thread === this.first) {
      this.#isFirstOver = true
      for (const { tid } of this.letThreadsEnd()) cont(tid)
    }
    if (this.#isFirstOver) return false
    return this.#threads.find(mark => mark.thread === thread)?.keep() ?? false
  }

  /** Lets threads that are kept end when they go on. */
  letThreadsEnd(): HeldThread[] {
    const kept = this.#threads.filter(({ isKept }) => isKept)
    for (const mark of kept) mark.letEnd()
    return kept.map(({ thread }) => thread)
  }

  /** Whether the process can be kept, which is about to end. */
  canKeep(): boolean {
    return !this.#isFirstOver
  }

  /** Closes all that it has open, as far as others notice. */
  keep(): void {
    this.#descriptors.close(this.first)
  }

  /** What is kept is there again, stopped. */
  bringBack(): void {
    const { threads } = this.process
    const others = [...threads]
    const known = this.#threads.filter(({ thread, isKept }) => isKept || threads.has(thread))
    threads.clear()
    for (const { thread } of known) threads.add(thread)
    for (const thread of others) threads.add(thread)
  }

  /** Threads that it has made since. */
  newThreads(): HeldThread[] {
    const known = new Set(this.#threads.map(({ thread }) => thread))
    return [...this.process.threads].filter(thread => !known.has(thread))
  }

  /** Waits for what it has forked since and has not waited for, as nobody else can: all of it has ended. */
  reap(): void {
    while (makeCalls(this.first, [[syscallNumber.wait4, -1, 0, noHang | anyKind]])[0]! > 0);
  }

  /** Whether it can be brought back. @throws CannotRewind where not */
  check(): void {
    if (this.#threads.some(({ thread }) => !this.process.threads.has(thread)))
      throw new CannotRewind('a thread has ended')
  }

  /** What is left when the new threads have ended: all as it was, and it still is frozen. @throws CannotRewind */
  rewind(): void {
    this.#signals.rewind(this.first)
    this.#descriptors.rewind(this.first)
    this.#memory.rewind(this.first)
    requireSame(this.#inventory, this.#takeInventory())
    for (const thread of this.#threads) thread.rewindSignals()
    for (const thread of this.#threads) thread.rewind()
    rewindTimers(this.process, this.#timers)
  }

  /** The first thread's registers are lost. */
  #takeInventory(): Inventory {
    return inventoryOf(this.first, this.#descriptors.describeKept())
  }

  /** To be called when its disk is as it was. @throws CannotRewind */
  goBackToDirectory(): void {
    if (this.#workingDirectory.isAnother) this.useFirst(thread => this.#workingDirectory.goBack(thread))
  }

  /** To be called before it goes on. */
  goOn(): void {
    if (this.#descriptors.isAsking) this.useFirst(thread => this.#descriptors.ask(thread))
  }

  /** Lets the first thread make system calls; then it is as marked. */
  useFirst<Result>(work: (thread: HeldThread) => Result): Result {
    try {
      return work(this.first)
    } finally {
      this.#threads[0]!.rewind()
    }
  }

  /** Which may be used to make system calls, before it is rewound. */
  get first(): HeldThread {
    return this.#threads[0]!.thread
  }
}

const noHang = 1
/** __WALL: also those that do not tell of their end by SIGCHLD. */
const anyKind = 0x4000_0000

/** Whether a process has ended, as we know, of which the kernel still keeps for it how. Not where the kernel does not tell. */
const hasUnreapedChild = ({ node, pid }: HeldProcess): boolean =>
  childrenOf(pid).some(child => !node.processes.has(child))
