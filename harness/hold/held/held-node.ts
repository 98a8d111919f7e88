import { closeSync, openSync, readSync } from 'node:fs'
import { innerId } from '../../../linux/ids.ts'
import type { ProcessMemory } from '../../../linux/memory.ts'
import type { Registers } from '../../../linux/ptrace.ts'
import { defaultLimits, type NodeLimits } from '../../config/limits.ts'
import type { Remainder } from '../../unsynced/outcomes.ts'
import type { Unsynced } from '../../unsynced/unsynced.ts'
import { writeClocks } from '../clock/clock-page.ts'
import { ClockReads } from '../clock/clock-reads.ts'
import { millisecond, type Nanoseconds, never, type VirtualClock } from '../clock/virtual-clock.ts'
import type { WaitKind } from '../clock/waits.ts'
import { turnUsMax } from '../turns/turns.ts'
import type { Randomness } from './randomness.ts'
import { type StepFaultKind, WaitingFaults } from './step-faults.ts'

/** Something that happens when the node's clock reaches an instant. */
export interface Timer {
  deadline: Nanoseconds
  /** Whether it is an instant of the wall clock, which moves as that jumps. */
  readonly isByWallClock?: boolean | undefined
  /** Called when the clock shows the deadline, or a later instant. */
  fire(): void
}

/** How a stopped thread continues. */
export interface Resumption {
  readonly toSyscall: boolean
  readonly signal: number
  /** Whether it stays where a signal of the program stopped it, until SIGCONT. */
  readonly listens?: true
}

/** A wait with a time limit. The kernel lets the thread wait for ever. */
export interface LimitedWait extends Timer {
  readonly kind: WaitKind
  /** Number of the call that the program made. */
  readonly call: number
  /** The register of the timeout. */
  readonly timeout: number
  /** Set when its time ended. An interrupted call then returns as timed out. */
  over: boolean
  /** Whether there is an answer, which the thread has had too often (polls.ts). An interrupted call is then made. */
  readonly isAside: boolean
}

/** A wait for a socket with a timeout of its own. */
export interface SocketWait extends Timer {
  /** Distinguishes this wait from the thread's next one. */
  readonly key: string
  /** Address of the call. */
  readonly address: number
}

/** How a thread asked for events last, and how often in turn. */
export interface Polls {
  /** Where the call was made. */
  readonly address: number
  readonly answer: number
  readonly count: number
}

export const noPolls: Polls = { address: 0, answer: 0, count: 0 }

/** What a thread inherits from its creator. */
export type Origin = Pick<HeldThread, 'randomness' | 'ordinal'>

export class HeldThread {
  readonly tid: number
  readonly process: HeldProcess
  readonly randomness: Randomness
  /** Number among all threads that the node ever had, from 0. */
  readonly ordinal: number
  /** Of threads that are ready, the one with the highest rank goes on: its ordinal, unless it has given way. */
  rank: number
  /** How often those that nap go on before it does, because it has given way: Go's monitors need several looks. */
  napsFirst = 0
  wait: LimitedWait | undefined
  /** A wait for a socket with a timeout, seen when its node last rested. */
  socketWait: SocketWait | undefined
  /** The deadline of an interrupted wait that is about to be entered again, and the address of its call. */
  resumed: { readonly address: number; readonly deadline: Nanoseconds } | undefined
  /** How it continues; set while it is stopped because its node is frozen. */
  resumption: Resumption | undefined
  /** Whether the tool asked it to stop. An interrupted call is entered again, and the program sees nothing of it. */
  interrupted = false
  /** Called at the exit of its present call. */
  atExit: ((registers: Registers) => void) | undefined
  /** Called at its next stop that the tool requested. */
  errand: ((tid: number) => void) | undefined
  /** Whether a signal of the program stopped it, until SIGCONT. */
  isStoppedBySignal = false
  /**
   * Whether it is stopped where it wanted to sleep for a few milliseconds and then watch the others. It is not idle.
   */
  napping = false
  /** Whether it stops at its next system call, to see that it makes one between two reads of the clock. */
  isWatched = false
  /** Whether it naps because it spins until another thread writes to what it reads. */
  spinsAside = false
  /** Whether it has told the kernel another signal stack or thread-id address since it was marked. */
  hasToldAnew = false
  /** Whether it waited in epoll, poll, select or a futex when last examined, not in a call on one socket. */
  waitsInPoll = false
  /** How often it got the same answer at once when it asked for events. */
  polls: Polls = noPolls
  /** How often it looked for events in this step, without waiting, and found none. */
  looks = 0
  /** How often it has yielded by sched_yield. */
  yields = 0
  /** How many of its next instructions it executes one by one, if it makes no call before. */
  instructionsLeft = 0

  readonly #files = new Map<string, number>()

  constructor(tid: number, process: HeldProcess, { randomness, ordinal }: Origin) {
    this.tid = tid
    this.process = process
    this.randomness = randomness
    this.ordinal = ordinal
    this.rank = ordinal
  }

  /** Ends its limited wait and removes its timer from the node. */
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

  /** Content of one of its small files in /proc, which stays open; empty if the thread is gone. */
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

/** Calls whose effect rewinding does not undo (lasting-calls.ts): how many, and the latest. */
export interface LastingCalls {
  count: number
  last: string
}

/** The signal of a timer: whether it was sent and not yet received, and expiries since; overruns when it last was received. */
export interface Expiries {
  isSent: boolean
  missed: number
  overrun: number
}

export class HeldProcess {
  readonly pid: number
  readonly node: HeldNode
  memory: ProcessMemory
  /** Whether it is a Go program. Go's monitor thread sleeps for microseconds to watch the others. */
  isGo = false
  /** When it was made, by its node's clock. */
  begun: Nanoseconds
  /** Set once it carries the filter. */
  isPrepared = false
  /** Whether it only waits for the ends of others, because it was the first process and has ended (init.ts). */
  isInit = false
  readonly threads = new Set<HeldThread>()
  /** Whether its code may be changed. After a mark it may not, because the change would be rewound only in part. */
  mayChange = true
  /** Whether it has the code of other-path.ts. */
  hasOpening = false
  readonly clockReads = new ClockReads(this)
  /** Whether it waited in this step for the clock to move, by reading it or by looking for events again and again. */
  awaitsTime = false
  /**
   * Kernel timers that belong to the process, by name: `itimer`, `timer 0`, `timerfd 7`. A timerfd is listed for one of
   * the processes that have it open.
   */
  readonly kernelTimers = new Map<string, Timer>()
  /** Of its timers made by timer_create, by their ids. */
  readonly expiries = new Map<number, Expiries>()
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

/** Number of looks of a thread in one step after which they move the clock: more than event loops need that do not wait. */
const looksFree = 128
/** After each further number of looks like this, a look takes twice as long. */
const looksDouble = 8
/** Longest time for one look: about what it costs. */
const lookMax: Nanoseconds = 50_000

/** How a node's first process ended, or, if that ended well before others, the last one. */
export type Exit = { readonly code: number } | { readonly signal: number }

/**
 * Keeps threads and processes just before their own end, so that they can be rewound. Others see that they have ended.
 */
export interface Keeper {
  /** Whether this thread, which is about to end, is kept. It must not continue then. */
  keepThread(thread: HeldThread): boolean
  /** Whether this process, which is about to end, can be kept. */
  canKeep(process: HeldProcess): boolean
  /** Keeps a process after all of its threads have stopped. */
  keepProcess(process: HeldProcess): void
  /** Lets kept threads end once they continue. To rewind the node, they must be made again. */
  letThreadsEnd(): HeldThread[]
}

/** How many threads, sockets and openings of random files a node ever had. The next ones get these numbers. */
export interface NumbersGiven {
  threads: number
  sockets: number
  randomFiles: number
}

const noCounts: Readonly<NumbersGiven> = { threads: 0, sockets: 0, randomFiles: 0 }

/** All processes of a node, with the time that they share. */
export class HeldNode {
  readonly name: string
  readonly clock: VirtualClock
  /** The stream from which those of processes, and then of threads, are made. */
  readonly randomness: Randomness
  readonly processes = new Map<number, HeldProcess>()
  readonly timers = new Set<Timer>()
  /** Whether this life has not come to the end of its start. */
  isStarting = true
  /** Whether its own doing takes time: who keeps reading the clock waits, and others go on meanwhile. */
  isPaced = false
  /** Packets sent and received so far. */
  packets = (): number => 0
  /** Packets sent and received before the present step. */
  #packetsBefore = 0
  /** While frozen, every thread that stops stays stopped. */
  frozen = false
  /** The first process. The others end with it, unless it becomes their init. */
  pid = 0
  /** Whether the first process has become the init of the others, or cannot. */
  init: 'made' | 'refused' | undefined
  /** How the last process ended that was not the first. */
  lastEnd: Exit = { code: 0 }
  exit: Exit | undefined
  /** The signal that ends the first process, which the kernel would ignore. */
  endedBy: number | undefined
  keeper: Keeper | undefined
  /** How the first process is about to end, once all of its threads have stopped. */
  ending: Exit | undefined
  /** The first process, kept just before its end. */
  ended: HeldProcess | undefined
  /** Whether Docker made it. Its program would then be the first of a pid namespace in any case. */
  isContainer = false
  /** Ordinal of a thread that spins while nothing else in the node runs. The node never becomes quiescent. */
  spinner: number | undefined
  /** How many timers ended in this step because a thread spun until they would. */
  timersAwaited = 0
  /**
   * How often a computing thread had to yield at an arbitrary instruction: not the same one when the schedule is
   * repeated.
   */
  turnsCut = 0
  /** CPU time in microseconds after which a thread that does not wait must yield. */
  turnUsMax = turnUsMax
  /** CPU time in microseconds of the turns that threads used up in this step. */
  turnsUs = 0
  /** Whether some socket has, or had, a timeout of its own. */
  hasSocketTimeouts = false
  /** Whether sockets may share, or have shared, a port without a program of their own that chooses among them. */
  sharesPorts = false
  /** Whether it has opened a POSIX message queue. */
  hasQueues = false
  readonly lastingCalls: LastingCalls = { count: 0, last: '' }
  /** The sockets among which the kernel chose when the node last rested. */
  sharedPorts = ''
  /** For a restored node: when its kernel gives up connections, by their labels. */
  giveUpDeadlines: ReadonlyMap<string, Nanoseconds> = new Map()
  /** When its kernel gives up connections on which nothing gets through, by their labels; undefined for never. */
  readonly givesUp = new Map<string, Timer | undefined>()
  /** Whether a thread waits, or has waited, because it asked for events in vain too often. */
  hasPollsAside = false
  /** Number of times at which something may have entered the node from outside. */
  arrivals = 0
  limits: NodeLimits = defaultLimits
  /** What a power failure may lose of its disk; undefined if none will come. */
  unsynced: Unsynced | undefined
  /** Faults that may strike the node within a step. It stops at each call at which such a fault may strike. */
  mayStrike: ReadonlySet<StepFaultKind> = new Set()
  /** Faults that wait for the next call at which they can strike. */
  readonly waitingFaults = new WaitingFaults()
  /** Whether threads go on instruction by instruction. */
  isStepped = false
  /** How many instructions they have executed so in this step. */
  instructions = 0
  /** What is left of the disk after a power failure within a step; undefined before. The node is frozen then. */
  lostPower: Remainder | undefined
  /** Directories of this machine that contain the node's written files. */
  written: readonly string[] = []
  /** Why the tool has ended it, if it exceeded a limit. */
  exceeded: string | undefined
  /** Notes on what could not be held, a sentence each. */
  readonly notes = new Set<string>()
  /** Descriptor of its root directory; undefined before it has one. */
  root: number | undefined
  /** Descriptor of its /dev/shm, once somebody has looked at that. */
  sharedMemory: number | undefined
  #counts: NumbersGiven
  /** How many timerfds ever had a number. It is never reset, because rewound timerfds keep their numbers. */
  timerfds = 0

  /** Clock and random numbers continue when the node is started again. */
  constructor(name: string, clock: VirtualClock, randomness: Randomness, counts = noCounts) {
    this.name = name
    this.clock = clock
    clock.periods.begin(clock.wall)
    this.randomness = randomness
    this.#counts = { ...counts }
  }

  /** A copy of all counters. */
  get counts(): NumbersGiven {
    return { ...this.#counts }
  }

  /** How many threads there ever were. */
  get threadsMade(): number {
    return this.#counts.threads
  }

  /** The origin of a thread that `parent` makes, or of the first thread. */
  originOf(parent: HeldThread | undefined): Origin {
    return { randomness: (parent ?? this).randomness.fork(), ordinal: this.#counts.threads++ }
  }

  /** The number of a timerfd that has none. */
  countTimerfd(): number {
    this.timerfds += 1
    return this.timerfds
  }

  /** Counts a socket and returns the number of earlier ones. */
  countSocket(): number {
    return this.#counts.sockets++
  }

  /** Counts an opening of a random file and returns the number of earlier ones. */
  countRandomFile(): number {
    return this.#counts.randomFiles++
  }

  /** Returns a function that restores its time, and the numbers for its next threads and sockets. */
  mark(): () => void {
    const { elapsed, jumped } = this.clock
    const randomness = this.randomness.mark()
    const { counts } = this
    for (const process of this.processes.values()) process.mayChange = false
    const forgetPeriods = this.clock.periods.mark()
    const { turnsCut, sharesPorts, sharedPorts, lastEnd } = this
    const waitingFaults = this.waitingFaults.mark()
    const giveUpDeadlines = new Map(
      [...this.givesUp].flatMap(([label, timer]) => (timer ? [[label, timer.deadline] as const] : [])),
    )
    return () => {
      this.clock.elapsed = elapsed
      this.clock.jumped = jumped
      forgetPeriods()
      this.clock.periods.begin(this.clock.wall)
      this.randomness.rewind(randomness)
      this.#counts = { ...counts }
      this.turnsCut = turnsCut
      this.lastEnd = lastEnd
      this.waitingFaults.rewind(waitingFaults)
      this.lostPower = undefined
      this.sharesPorts = sharesPorts
      this.sharedPorts = sharedPorts
      this.spinner = undefined
      this.forgetUnanswered()
      this.giveUpDeadlines = giveUpDeadlines
    }
  }

  /** Forgets all unanswered connections. */
  forgetUnanswered(): void {
    for (const timer of this.givesUp.values()) if (timer) this.timers.delete(timer)
    this.givesUp.clear()
  }

  /** Whether its processes have not ended, or are kept just before their end. */
  get hasProcesses(): boolean {
    return this.exit === undefined || this.ended !== undefined
  }

  get threads(): HeldThread[] {
    const all: HeldThread[] = []
    for (const { threads } of this.processes.values()) all.push(...threads)
    return all
  }

  get threadCount(): number {
    let count = 0
    for (const { threads } of this.processes.values()) count += threads.size
    return count
  }

  /** CPU time that its processes have used. */
  cpuMs(): number {
    let nanoseconds = 0
    for (const thread of this.threads) nanoseconds += thread.cpuNs()
    return nanoseconds / millisecond
  }

  /** Adds a note to the verdict about something that could not be held. */
  note(sentence: string): void {
    this.notes.add(sentence)
  }

  /** A step begins. */
  beginStep(): void {
    this.timersAwaited = 0
    this.turnsUs = 0
    this.arrivals += 1
    if (this.isPaced) this.#packetsBefore = this.packets()
    for (const process of this.processes.values()) {
      process.clockReads.beginStep(this.isStarting)
      process.awaitsTime = false
      for (const thread of process.threads) thread.looks = 0
    }
  }

  /** How far reads of one of its processes have moved the clock in this step. */
  get waitedByReading(): Nanoseconds {
    return Math.max(0, ...Array.from(this.processes.values(), ({ clockReads }) => clockReads.waited))
  }

  /** A step ends. */
  endStep(): void {
    for (const { clockReads } of this.processes.values()) clockReads.endStep()
  }

  /**
   * Counts clock reads of one of its threads. They may move the clock, and timers that become due fire.
   *
   * @returns how long the thread must wait first; 0 unless the node is paced
   */
  countReads(thread: HeldThread, reads: number): Nanoseconds {
    const { clockReads } = thread.process
    if (this.isPaced) return clockReads.takeTime(reads, this.packets() - this.#packetsBefore)
    const duration = clockReads.count(reads)
    if (clockReads.areMany) thread.isWatched = true
    if (duration > 0) clockReads.wait(this.#pass(thread.process, duration))
    return 0
  }

  /**
   * Counts a look for events that did not wait and found none. A thread that looks again and again waits for the clock
   * to move, for example past a deadline, so it moves, the faster the longer that lasts. Timers that become due fire.
   */
  countLook(thread: HeldThread): void {
    thread.looks += 1
    const tooMany = thread.looks - looksFree
    if (tooMany > 0) this.#pass(thread.process, Math.min(2 ** Math.floor(tooMany / looksDouble), lookMax))
  }

  /** Lets time pass within a step, because a process waits for it. Returns how far the clock moved. */
  #pass(process: HeldProcess, duration: Nanoseconds): Nanoseconds {
    process.awaitsTime = true
    const before = this.clock.elapsed
    if ((this.earliestDeadline() ?? never) <= before + duration) this.fireEarliest()
    else this.moveClock(before + duration)
    return this.clock.elapsed - before
  }

  /**
   * A thread spins without changing anything, and nothing else in the node runs. Fires the timers for which it may be
   * waiting.
   *
   * @param timersMax limit on these timers in one step
   */
  spinsAlone({ ordinal }: HeldThread, timersMax: number): void {
    if (this.earliestDeadline() === undefined || this.timersAwaited >= timersMax) this.spinner = ordinal
    else {
      this.timersAwaited += 1
      this.fireEarliest()
    }
  }

  /** Moves the clock to the earliest deadline and lets everything happen that is then due. */
  fireEarliest(): void {
    const deadline = this.earliestDeadline()
    if (deadline === undefined) return
    if (deadline > this.clock.elapsed) this.moveClock(deadline)
    for (const timer of [...this.timers]) if (timer.deadline <= deadline) timer.fire()
  }

  /** The earliest deadline of a pending timer, in elapsed time; undefined if none will come. */
  earliestDeadline(): Nanoseconds | undefined {
    let earliest: Nanoseconds | undefined
    for (const { deadline } of this.timers) if (deadline <= (earliest ?? never)) earliest = deadline
    return earliest
  }

  /** Shows another time to all processes. Due timers do not fire by this. */
  moveClock(elapsed: Nanoseconds): void {
    this.clock.elapsed = elapsed
    this.clock.periods.begin(this.clock.wall)
    for (const process of this.processes.values()) writeClocks(process.memory, this.clock)
  }

  /**
   * Lets the wall clock jump, forwards or back. What waits until an instant of it is due sooner or later by that, as in
   * Linux; durations and the monotonic clock are as they were.
   */
  jumpClock(by: Nanoseconds): void {
    this.clock.jumped += by
    for (const timer of this.timers) if (timer.isByWallClock) timer.deadline -= by
    this.moveClock(this.clock.elapsed)
  }
}
