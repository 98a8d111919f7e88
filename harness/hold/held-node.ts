import { closeSync, openSync, readSync } from 'node:fs'
import { writeClocks } from './clock-page.ts'
import { innerId } from './inner-id.ts'
import type { ProcessMemory } from './memory.ts'
import type { Registers } from './ptrace.ts'
import type { Randomness } from './randomness.ts'
import { turnUsMax } from './turns.ts'
import { millisecond, type Nanoseconds, never, type VirtualClock } from './virtual-clock.ts'
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

/** A wait for a socket that has a time-out of its own. */
export interface SocketWait extends Timer {
  /** Tells this wait from the thread's next. */
  readonly key: string
  /** Where the call is made. */
  readonly address: number
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
  /** A wait for a socket with a time-out of its own, seen when its node was last at rest. */
  socketWait: SocketWait | undefined
  /** The deadline of a wait that was interrupted and is about to be entered again, with the place of its call. */
  resumed: { readonly address: number; readonly deadline: Nanoseconds } | undefined
  /** How it goes on; set while it is stopped because its node is frozen. */
  resumption: Resumption | undefined
  /** Asked to stop by us: an interrupted call is entered again and the program sees nothing of it. */
  interrupted = false
  /** Done at the exit from the call that it is in. */
  atExit: ((registers: Registers) => void) | undefined
  /** Done at its next stop by our interruption. */
  errand: ((tid: number) => void) | undefined
  /** Stopped by a signal of the program's own, until SIGCONT. */
  isStoppedBySignal = false
  /** Stopped where it wanted to sleep for a few milliseconds, and watch the others then: it is not idle. */
  napping = false
  /** Napping, because it goes round and round until another thread writes to what it reads. */
  spinsAside = false
  /** It has set a stack for signals since it was marked. */
  hasOtherStack = false
  /** When it was last looked at, it waited in epoll, poll, select or a futex: not in a call on one socket. */
  waitsInPoll = false
  /** How often it has given way by sched_yield. */
  yields = 0

  readonly #files = new Map<string, number>()

  constructor(tid: number, process: HeldProcess, { randomness, ordinal }: Origin) {
    this.tid = tid
    this.process = process
    this.randomness = randomness
    this.ordinal = ordinal
  }

  /** It waits for a limited time no longer: that is no timer of its node any more. */
  forgetWait(): void {
    if (this.wait) this.process.node.timers.delete(this.wait)
    this.wait = undefined
    this.forgetSocketWait()
  }

  forgetSocketWait(): void {
    if (this.socketWait) this.process.node.timers.delete(this.socketWait)
    this.socketWait = undefined
  }

  /** CPU time that it has used. */
  cpuNs(): number {
    return Number(this.look('schedstat').split(' ')[0])
  }

  /** Content of one of its small files in /proc, which stays open; empty when the thread is gone. */
  look(name: 'stat' | 'schedstat' | 'wchan' | 'syscall'): string {
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

/** Calls whose effect is not given back to a life that is brought back (lasting-calls.ts): how many, and the latest. */
export interface LastingCalls {
  count: number
  last: string
}

export class HeldProcess {
  readonly pid: number
  readonly node: HeldNode
  memory: ProcessMemory
  /** The Go runtime's monitor thread sleeps for microseconds to watch the others. */
  isGo = false
  /** When it was made, on its node's clock. */
  begun: Nanoseconds
  /** Set once it carries the filter. */
  isPrepared = false
  readonly threads = new Set<HeldThread>()
  /** Whether its code may be changed; not once it was marked, as that would be brought back in part. */
  mayChange = true
  /** How often it has read a clock in this step, as far as that is noticed. */
  reads = 0
  /** Timers of the kernel that belong to the process, by what names them: `itimer`, `timer 0`, `timerfd 7`; a timerfd is in that of one who has it open. */
  readonly kernelTimers = new Map<string, Timer>()
  readonly lastingCalls: LastingCalls = { count: 0, last: '' }
  #innerPid: number | undefined

  constructor(pid: number, node: HeldNode, memory: ProcessMemory) {
    this.pid = pid
    this.node = node
    this.memory = memory
    this.begun = node.clock.elapsed
  }

  /** Its id in its own pid namespace. */
  get innerPid(): number {
    this.#innerPid ??= innerId(this.pid)
    return this.#innerPid
  }
}

/** How many reads of a clock one that stops counts for: by the clock page, which stops once in so many; and by a call. */
export const readsOfPage = 4096
export const readsOfCall = 40
/**
 * Reads in one step before the clock moves by it; more than any program needs that does not wait: a JVM that loads the
 * classes of a service reads it 30,000 times, and some times more or less in each execution. Were it larger, who waits so
 * would do so in vain for longer.
 */
const readsFree = 32 * readsOfPage
/** Each so many reads from there on take a nanosecond more than those before. */
const readsFaster = 3 * readsOfPage
/** Time that one read takes at most: with more, who waits for a millisecond would wait for many. */
const readMax: Nanoseconds = 250

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
  /** Lets threads that are kept end when they go on: they have to be made again for the node to be brought back. */
  letThreadsEnd(): HeldThread[]
}

/** How many there ever were of a node's threads, sockets and openings of random bytes: the next have these numbers. */
export interface Counts {
  threads: number
  sockets: number
  randomFiles: number
}

const noCounts: Readonly<Counts> = { threads: 0, sockets: 0, randomFiles: 0 }

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
  /** Docker made it: its program would be the first of a pid namespace anyway. */
  isContainer = false
  /** The ordinal of a thread that spins while nothing else of it runs: it never comes to rest. */
  spinner: number | undefined
  /** Times in this step that a timer has ended because a thread went round and round until it would. */
  timersAwaited = 0
  /** How often a thread had to give way although it computed, at an instruction of chance: it may go otherwise next time. */
  turnsCut = 0
  /** CPU time after which a thread that does not wait has to give way; microseconds. */
  turnUsMax = turnUsMax
  /** Some socket of it has, or had, a time-out of its own. */
  hasSocketTimeouts = false
  /** Some socket of it may share, or have shared, its port; and no program of its own chooses among them. */
  sharesPorts = false
  /** It has opened a message queue of POSIX. */
  hasQueues = false
  readonly lastingCalls: LastingCalls = { count: 0, last: '' }
  /** The sockets among which was chosen when it was last at rest. */
  sharedPorts = ''
  /** Of a node that was made again: when its kernel gives up what, by labels of connections. */
  giveUpDeadlines: ReadonlyMap<string, Nanoseconds> = new Map()
  /** When its kernel gives up connections to which nothing gets through, by their labels; undefined: never. */
  readonly givesUp = new Map<string, Timer | undefined>()
  /** What of it could not be held, a sentence each. */
  readonly notes = new Set<string>()
  /** Descriptor of the root of its files; undefined before it has any. */
  root: number | undefined
  #counts: Counts
  /** How many timerfds ever had a number. It is never set back: one that is brought back keeps its own. */
  timerfds = 0

  /** Clock and randomness go on when the node is started again. */
  constructor(name: string, clock: VirtualClock, randomness: Randomness, counts = noCounts) {
    this.name = name
    this.clock = clock
    clock.periods.begin(clock.elapsed)
    this.randomness = randomness
    this.#counts = { ...counts }
  }

  /** A copy of all that is counted. */
  get counts(): Counts {
    return { ...this.#counts }
  }

  /** How many threads there ever were. */
  get threadsMade(): number {
    return this.#counts.threads
  }

  /** For a thread that is made by `parent`, or for the first. */
  originOf(parent: HeldThread | undefined): Origin {
    return { randomness: (parent ?? this).randomness.fork(), ordinal: this.#counts.threads++ }
  }

  /** The number of a timerfd that has none. */
  countTimerfd(): number {
    this.timerfds += 1
    return this.timerfds
  }

  /** Counts one more socket; gives how many there were before. */
  countSocket(): number {
    return this.#counts.sockets++
  }

  /** Counts one more opening of a file of random bytes; gives how many there were before. */
  countRandomFile(): number {
    return this.#counts.randomFiles++
  }

  /** Its time, and what its next threads and sockets will be made of; called, it has them again. */
  mark(): () => void {
    const { elapsed } = this.clock
    const randomness = this.randomness.mark()
    const { counts } = this
    for (const process of this.processes.values()) process.mayChange = false
    const forgetPeriods = this.clock.periods.mark()
    const { turnsCut, sharesPorts, sharedPorts } = this
    const giveUpDeadlines = new Map(
      [...this.givesUp].flatMap(([label, timer]) => (timer ? [[label, timer.deadline] as const] : [])),
    )
    return () => {
      this.clock.elapsed = elapsed
      forgetPeriods()
      this.clock.periods.begin(elapsed)
      this.randomness.rewind(randomness)
      this.#counts = { ...counts }
      this.turnsCut = turnsCut
      this.sharesPorts = sharesPorts
      this.sharedPorts = sharedPorts
      this.spinner = undefined
      this.forgetUnanswered()
      this.giveUpDeadlines = giveUpDeadlines
    }
  }

  /** None of its connections is unanswered. */
  forgetUnanswered(): void {
    for (const timer of this.givesUp.values()) if (timer) this.timers.delete(timer)
    this.givesUp.clear()
  }

  get threads(): HeldThread[] {
    const all: HeldThread[] = []
    for (const { threads } of this.processes.values()) all.push(...threads)
    return all
  }

  /** CPU time that its processes have used. */
  cpuMs(): number {
    let nanoseconds = 0
    for (const thread of this.threads) nanoseconds += thread.cpuNs()
    return nanoseconds / millisecond
  }

  /** Says in the verdict what could not be held. */
  note(sentence: string): void {
    this.notes.add(sentence)
  }

  /** A step begins. */
  beginStep(): void {
    this.timersAwaited = 0
    for (const process of this.processes.values()) process.reads = 0
  }

  /**
   * One of its processes has read the clock so many times. One who goes on and on reading it waits for it to move, which it then does: the
   * faster, the longer that lasts. Timers that become due by it fire.
   */
  countReads(process: HeldProcess, reads: number): void {
    process.reads += reads
    const tooMany = process.reads - readsFree
    if (tooMany <= 0) return
    const elapsed = this.clock.elapsed + reads * Math.min(1 + Math.floor(tooMany / readsFaster), readMax)
    if ((this.earliestDeadline() ?? never) <= elapsed) this.fireEarliest()
    else this.moveClock(elapsed)
  }

  /**
   * A thread of it goes round and round without changing anything, and nothing else of it runs. Time passes meanwhile: what
   * waits for that goes on.
   *
   * @param timersMax it is waited for no more in one step
   */
  spinsAlone({ ordinal }: HeldThread, timersMax: number): void {
    if (this.earliestDeadline() === undefined || this.timersAwaited >= timersMax) this.spinner = ordinal
    else {
      this.timersAwaited += 1
      this.fireEarliest()
    }
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
    this.clock.periods.begin(elapsed)
    for (const process of this.processes.values()) writeClocks(process.memory, this.clock)
  }
}
