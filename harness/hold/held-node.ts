import { closeSync, openSync, readSync } from 'node:fs'
import { writeClocks } from './clock-page.ts'
import type { ProcessMemory } from './memory.ts'
import type { Randomness } from './randomness.ts'
import { millisecond, type Nanoseconds, type VirtualClock } from './virtual-clock.ts'
import type { WaitKind } from './waits.ts'

/** Something that happens when the node's clock reaches an instant. */
export interface Timer {
  readonly deadline: Nanoseconds
  /** Called when the clock shows the deadline, or a later instant. */
  fire(): void
}

/** How a stopped thread goes on. */
export interface Resumption {
  readonly toSyscall: boolean
  readonly signal: number
}

/** A wait for a limited time that a thread is in, while the kernel lets it wait for ever. */
export interface LimitedWait extends Timer {
  readonly kind: WaitKind
  /** The number of the call that the program made. */
  readonly call: number
  /** What stood in the register of the time-out. */
  readonly timeout: number
  /** Set when its time was let come to an end: an interrupted call then returns as timed out. */
  over: boolean
}

/** What a thread has of who made it. */
export type Origin = Pick<HeldThread, 'randomness' | 'ordinal'>

export class HeldThread {
  readonly tid: number
  readonly process: HeldProcess
  readonly randomness: Randomness
  /** Which of the node's threads it is, of all that there ever were: the first is 0. */
  readonly ordinal: number
  wait: LimitedWait | undefined
  /** The deadline of a wait that was interrupted and is about to be entered again, with the place of its call. */
  resumed: { readonly address: number; readonly deadline: Nanoseconds } | undefined
  /** Set while it is stopped because its node is frozen. */
  stopped: Resumption | undefined
  /** Asked to stop by us: an interrupted call is entered again and the program sees nothing of it. */
  interrupted = false
  /** Done at its next stop by our interruption. */
  errand: ((tid: number) => void) | undefined
  /** Stopped by a signal of the program's own, until SIGCONT. */
  isStopped = false
  /** Stopped where it wanted to sleep for a few milliseconds, and watch the others then: it is not idle. */
  napping = false

  readonly #files = new Map<string, number>()

  constructor(tid: number, process: HeldProcess, { randomness, ordinal }: Origin) {
    this.tid = tid
    this.process = process
    this.randomness = randomness
    this.ordinal = ordinal
  }

  /** Content of one of its small files in /proc, which stays open; empty when the thread is gone. */
  look(name: 'stat' | 'schedstat' | 'wchan'): string {
    try {
      const file = this.#files.get(name) ?? this.#open(name)
      return text.toString('latin1', 0, readSync(file, text, 0, text.length, 0))
    } catch (error) {
      if (isGone(error)) return ''
      throw error
    }
  }

  /** Closes what `look` opened. */
  close(): void {
    for (const file of this.#files.values()) closeSync(file)
    this.#files.clear()
  }

  #open(name: string): number {
    const file = openSync(`/proc/${this.process.pid}/task/${this.tid}/${name}`, 'r')
    this.#files.set(name, file)
    return file
  }
}

const text = Buffer.alloc(1024)

const isGone = (error: unknown) => ['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')

export class HeldProcess {
  readonly pid: number
  readonly node: HeldNode
  memory: ProcessMemory
  /** The Go runtime's monitor thread sleeps for microseconds to watch the others. */
  isGo = false
  /** Set once it carries the filter. */
  isPrepared = false
  readonly threads = new Set<HeldThread>()
  /** Timers of the kernel that belong to the process, by what names them: `itimer`, `timer 0`, `timerfd 7`. */
  readonly kernelTimers = new Map<string, Timer>()

  constructor(pid: number, node: HeldNode, memory: ProcessMemory) {
    this.pid = pid
    this.node = node
    this.memory = memory
  }
}

/** How a node's first process ended. */
export type Exit = { readonly code: number } | { readonly signal: number }

/** Keeps what ends of itself where it is about to end, so that it can be brought back; nobody notices. */
export interface Keeper {
  /** Whether this thread, which is about to end, is kept: others see that it has ended. It must not go on then. */
  keepThread(thread: HeldThread): boolean
  /** Whether this process can be kept, which is about to end. */
  canKeep(process: HeldProcess): boolean
  /** All of its threads are stopped: others see that it has ended. */
  keepProcess(process: HeldProcess): void
  /** Lets threads that are kept end when they go on; the node cannot be brought back then. */
  letThreadsEnd(): HeldThread[]
}

/** All processes of a node, with the time that they share. */
export class HeldNode {
  readonly name: string
  readonly clock: VirtualClock
  /** From which that of each process, and then of each thread, is made. */
  readonly randomness: Randomness
  readonly processes = new Map<number, HeldProcess>()
  readonly timers = new Set<Timer>()
  /** While frozen every thread that stops stays stopped. */
  frozen = false
  /** The first process; the others end with it. */
  pid = 0
  exit: Exit | undefined
  /** The signal that ends the first process, which the kernel would spare. */
  endedBy: number | undefined
  keeper: Keeper | undefined
  /** How the first process is about to end, as soon as all of its threads have stopped. */
  ending: Exit | undefined
  /** The first process, kept where it was about to end. */
  ended: HeldProcess | undefined
  /** Its /proc shows its own pid namespace before it is prepared, in which its program would be the first anyway. */
  isContainer = false
  #threads: number

  /** Clock and randomness go on when the node is started again. */
  constructor(name: string, clock: VirtualClock, randomness: Randomness, threadsMade = 0) {
    this.name = name
    this.clock = clock
    this.randomness = randomness
    this.#threads = threadsMade
  }

  /** How many threads there ever were. */
  get threadsMade(): number {
    return this.#threads
  }

  /** For a thread that is made by `parent`, or for the first. */
  originOf(parent: HeldThread | undefined): Origin {
    return { randomness: (parent ?? this).randomness.fork(), ordinal: this.#threads++ }
  }

  /** Its time, and what its next threads will be made of; called, it has them again. */
  mark(): () => void {
    const { elapsed } = this.clock
    const randomness = this.randomness.mark()
    const threads = this.#threads
    return () => {
      this.clock.elapsed = elapsed
      this.randomness.rewind(randomness)
      this.#threads = threads
    }
  }

  get threads(): HeldThread[] {
    return [...this.processes.values()].flatMap(process => [...process.threads])
  }

  /** CPU time that its processes have used. */
  cpuMs(): number {
    let nanoseconds = 0
    for (const thread of this.threads) nanoseconds += Number(thread.look('schedstat').split(' ')[0])
    return nanoseconds / millisecond
  }

  /** Lets all that is due at the earliest deadline happen; the clock shows that instant. */
  fireEarliest(): void {
    const deadline = this.earliestDeadline()
    if (deadline === undefined) return
    if (deadline > this.clock.elapsed) this.moveClock(deadline)
    for (const timer of [...this.timers]) if (timer.deadline <= deadline) timer.fire()
  }

  /** Deadline of the earliest pending timer, in time elapsed; undefined when none is pending. */
  earliestDeadline(): Nanoseconds | undefined {
    let earliest: Nanoseconds | undefined
    for (const { deadline } of this.timers) if (earliest === undefined || deadline < earliest) earliest = deadline
    return earliest
  }

  /** Shows all processes another time. Timers that are due are not fired by this. */
  moveClock(elapsed: Nanoseconds): void {
    this.clock.elapsed = elapsed
    for (const process of this.processes.values()) writeClocks(process.memory, this.clock)
  }
}
