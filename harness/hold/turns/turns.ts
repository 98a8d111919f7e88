import { readdirSync } from 'node:fs'
import { allow, allowedCpus } from '../../../linux/affinity.ts'
import { libc, prctl } from '../../../linux/libc.ts'
import { Courtesy } from './courtesy.ts'
import { collectOnOwnThread } from './own-collector.ts'

const schedSetscheduler = libc.func('int sched_setscheduler(int pid, int policy, void *parameter)')
const schedGetparam = libc.func('int sched_getparam(int pid, _Out_ int32_t *parameter)')
const schedYield = libc.func('int sched_yield()')
const getrusage = libc.func('int getrusage(int who, void *usage)')
const usleep = libc.func('int usleep(unsigned int microseconds)')
const prlimit = libc.func('int prlimit(int pid, int resource, void *limit, void *former)')

const policy = { other: 0, firstInFirstOut: 1, resetOnFork: 0x4000_0000 } as const
/** The kernel has 99 priorities. This thread and the first of each node have the lowest. */
const lowest = 1
const ranks = 90
/** The highest priority that the kernel must grant. */
export const highestPriority = lowest + ranks - 1
/**
 * Priority of a thread that must not wait for a node because it is about to end it. The kernel's own threads have 99.
 */
export const endingPriority = 95

/**
 * RLIMIT_RTTIME: CPU time without a wait, in microseconds, after which the kernel sends SIGXCPU, and later SIGKILL.
 * Most threads wait long before. A shorter limit would interrupt compilers and collectors at a random instruction; a
 * longer one would make a step with a thread that spins on another exceed the limit of a step.
 */
const realTimeLimit = 15
export const turnUsMax = 500_000
/** The limit once executions differed by where a thread was interrupted. Few threads compute for this long. */
export const longTurnUsMax = 5_000_000
export const lastTurnUsMax = 60_000_000

const ownThread = 1
/** In struct rusage, ru_nvcsw and ru_nivcsw: how often the thread gave up the CPU, and how often it lost it. */
const switches = [128, 136] as const

/** PR_SET_TIMERSLACK, in nanoseconds: without it naps end 50 µs late. */
const setTimerSlack = 29
const napUs = 20
const napUsMax = 320

/**
 * The order in which this thread and the nodes' threads, all on one CPU, run. Each runs until it waits. Among ready
 * threads, a later thread of a node goes before an earlier one; otherwise the first that became ready is first
 * (SCHED_FIFO). So the order depends on what programs do, and not on how long it takes. The kernel refuses this
 * scheduling to ordinary users; for them its fair scheduler decides.
 */
export class Turns {
  readonly #usage = Buffer.alloc(144)
  /** Whether ready threads get the CPU when this thread yields. */
  readonly isOrdered: boolean
  #naps = 0
  /** The count of `#switches` when this thread last yielded. */
  #count = 0
  readonly #courtesy = new Courtesy()

  constructor() {
    prctl(setTimerSlack, 1)
    collectOnOwnThread()
    this.isOrdered = this.#queue()
  }

  /** Adds a process to the order. A thread that never waits is stopped by SIGXCPU now and then. */
  add(pid: number, usMax: number): void {
    if (!this.isOrdered) return
    limitTurns(pid, usMax)
    setRank(pid, 0)
  }

  /** Lets every ready thread run; false if none was ready and none has run since the last call. */
  yield(): boolean {
    const before = this.#count
    schedYield()
    this.#count = this.#switches()
    const had = this.#count !== before
    if (had) this.#naps = 0
    return had
  }

  /** Whether nobody had the CPU since this thread last yielded. */
  get isUndisturbed(): boolean {
    return this.#switches() === this.#count
  }

  /** How often another thread took over this thread's CPU. */
  #switches(): number {
    getrusage(ownThread, this.#usage)
    return this.#usage.readUInt32LE(switches[0]) + this.#usage.readUInt32LE(switches[1])
  }

  /** Sleeps briefly, longer each time: nobody is ready because all wait for something outside, such as a disk. */
  rest(): void {
    usleep(Math.min(napUs * 2 ** this.#naps++, napUsMax))
  }

  /** Call it where nodes wait: lets other programs of this machine run now and then. */
  beCourteous(): void {
    if (!this.isOrdered) return
    const now = performance.now()
    if (!this.#courtesy.isDueAt(now)) return
    this.aside(schedYield)
    this.#courtesy.hasGivenWay(now, performance.now())
  }

  /**
   * Does something with ordinary scheduling, like any other program. Settings of networks need it: their writer spins
   * in the kernel until another thread is done, which may be waiting for this CPU.
   */
  aside<Result>(work: () => Result): Result {
    if (!this.isOrdered) return work()
    this.#leaveQueue()
    try {
      return work()
    } finally {
      this.#queue()
    }
  }

  close(): void {
    if (this.isOrdered) this.#leaveQueue()
  }

  #queue(): boolean {
    return schedSetscheduler(0, policy.firstInFirstOut | policy.resetOnFork, parameter(lowest)) === 0
  }

  #leaveQueue(): void {
    schedSetscheduler(0, policy.other | policy.resetOnFork, parameter(0))
  }
}

/** Runs work in which this thread waits for threads of nodes; this thread is scheduled before them. */
export const ahead = <Result>(work: () => Result): Result => {
  const goBack = goAhead()
  try {
    return work()
  } finally {
    goBack()
  }
}

/** Gives this thread priority over all nodes, until the returned function is called. */
export const goAhead = (): (() => void) => {
  const [former] = schedGetparam(0, priorityNow) === 0 ? priorityNow : [0]
  // It is scheduled as usual, or already has priority.
  if (former === undefined || former === 0 || former > highestPriority) return () => {}
  const rank = (priority: number) =>
    schedSetscheduler(0, policy.firstInFirstOut | policy.resetOnFork, parameter(priority))
  rank(highestPriority + 1)
  return () => {
    // A signal handler may have raised the priority meanwhile.
    schedGetparam(0, priorityNow)
    if (priorityNow[0] === highestPriority + 1) rank(former)
  }
}

const priorityNow = new Int32Array(1)

/**
 * Gives a process that is about to end priority over all nodes, if the kernel allows it. A killed process must run in
 * order to end, and would not while nodes compute on its CPU.
 */
export const putProcessFirst = (pid: number): void => {
  const cpus = allowedCpus()
  try {
    for (const tid of readdirSync(`/proc/${pid}/task`)) {
      schedSetscheduler(Number(tid), policy.firstInFirstOut | policy.resetOnFork, parameter(endingPriority))
      // A program of even higher priority may use up the process's own CPU.
      allow(Number(tid), cpus)
    }
  } catch {
    // The process has ended.
  }
}

/** Leaves the CPU for an instant, also to threads with ordinary scheduling. */
export const nap = (): void => {
  usleep(napUsMax)
}

/** struct sched_param */
const parameter = (priority: number) => Buffer.from(Int32Array.of(priority).buffer)

/** A ready thread of higher rank takes the CPU at once. */
export const setRank = (tid: number, rank: number): void => {
  schedSetscheduler(tid, policy.firstInFirstOut, parameter(lowest + (rank % ranks)))
}

/** Limits a turn. The kernel raises the limit by a second at each SIGXCPU, so it must be set again. */
export const limitTurns = (pid: number, usMax: number): void => {
  const limits = BigUint64Array.of(BigInt(usMax), BigInt(lastTurnUsMax))
  prlimit(pid, realTimeLimit, Buffer.from(limits.buffer), null)
}
