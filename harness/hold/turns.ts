import { readdirSync } from 'node:fs'
import { libc } from '../../proxy/libc.ts'
import { allow, allowedCpus } from './affinity.ts'
import { collectOnOwnThread } from './own-collector.ts'

const schedSetscheduler = libc.func('int sched_setscheduler(int pid, int policy, void *parameter)')
const schedGetparam = libc.func('int sched_getparam(int pid, _Out_ int32_t *parameter)')
const schedYield = libc.func('int sched_yield()')
const getrusage = libc.func('int getrusage(int who, void *usage)')
const usleep = libc.func('int usleep(unsigned int microseconds)')
const prctl = libc.func('int prctl(int option, unsigned long value)')
const prlimit = libc.func('int prlimit(int pid, int resource, void *limit, void *former)')

const policy = { other: 0, firstInFirstOut: 1, resetOnFork: 0x4000_0000 } as const
/** The kernel has 99; this thread and the first of each node have the lowest. */
const lowest = 1
const ranks = 90
/** What the kernel must grant. */
export const highestPriority = lowest + ranks - 1
/** Of whoever must not wait for a node, as it is about to end them; the kernel's own threads have 99. */
export const endingPriority = 95

/**
 * RLIMIT_RTTIME: CPU time without a wait after which the kernel sends SIGXCPU, and SIGKILL; microseconds. Most threads
 * wait long before. Were it shorter, compilers and collectors would be cut short at an instruction of chance; were it
 * longer, a step whose thread spins until another has done its part would take longer than a step may.
 */
const realTimeLimit = 15
export const turnUsMax = 500_000
/** The same where executions were found to differ by where a thread was cut short: few threads compute for so long. */
export const longTurnUsMax = 5_000_000
export const lastTurnUsMax = 60_000_000

const ownThread = 1
/** In struct rusage: ru_nvcsw and ru_nivcsw, how often it gave the CPU to another, and had to. */
const switches = [128, 136] as const

/** PR_SET_TIMERSLACK, in nanoseconds: naps end when they are over, not 50 µs later. */
const setTimerSlack = 29
const napUs = 20
const napUsMax = 320

/** Other programs of this machine get the CPU this often while the nodes are busy. */
const courtesyMs = 10

/**
 * In which order this thread and the threads of the nodes, all on one CPU, have it. Each runs until it waits; of those
 * that are ready, a later thread of a node goes before an earlier one, and else who was ready first (SCHED_FIFO). Who is
 * first so depends on what the programs do, and not on how long it takes. The kernel refuses that to ordinary users; for
 * them its fair scheduler decides.
 */
export class Turns {
  readonly #usage = Buffer.alloc(144)
  /** Whether who is ready has the CPU when this thread yields. */
  readonly isOrdered: boolean
  #naps = 0
  /** How often another thread had had this one's CPU when it last yielded. */
  #count = 0
  #lastCourtesy = 0

  constructor() {
    prctl(setTimerSlack, 1)
    collectOnOwnThread()
    this.isOrdered = this.#queue()
  }

  /** Puts a process among those that take turns; one that never waits is stopped by SIGXCPU now and then. */
  add(pid: number, usMax: number): void {
    if (!this.isOrdered) return
    limitTurns(pid, usMax)
    setRank(pid, 0)
  }

  /** Lets everybody run who is ready; false where nobody was, and nobody ran since this was last asked. */
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

  /** How often another thread had this one's CPU. */
  #switches(): number {
    getrusage(ownThread, this.#usage)
    return this.#usage.readUInt32LE(switches[0]) + this.#usage.readUInt32LE(switches[1])
  }

  /** Sleeps a little, longer each time: nobody is ready, for they wait for something outside, as a disk. */
  rest(): void {
    usleep(Math.min(napUs * 2 ** this.#naps++, napUsMax))
  }

  /** To be called where nodes wait: lets other programs of this machine run now and then. */
  beCourteous(): void {
    if (!this.isOrdered || performance.now() - this.#lastCourtesy < courtesyMs) return
    this.aside(schedYield)
    this.#lastCourtesy = performance.now()
  }

  /**
   * Does something out of turn, as any other program of this machine does. Settings of networks are written so: their
   * writer goes round and round in the kernel until another has done, who may wait for this CPU.
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

/** Does something for which this thread waits for threads of nodes: it goes on before any of them does. */
export const ahead = <Result>(work: () => Result): Result => {
  const goBack = goAhead()
  try {
    return work()
  } finally {
    goBack()
  }
}

/** From now on this thread goes before all nodes, until the function is called that this returns. */
export const goAhead = (): (() => void) => {
  const [former] = schedGetparam(0, priorityNow) === 0 ? priorityNow : [0]
  // It takes no turns, or goes before all nodes already.
  if (former === undefined || former === 0 || former > highestPriority) return () => {}
  const rank = (priority: number) =>
    schedSetscheduler(0, policy.firstInFirstOut | policy.resetOnFork, parameter(priority))
  rank(highestPriority + 1)
  return () => {
    // A signal may have raised it meanwhile.
    schedGetparam(0, priorityNow)
    if (priorityNow[0] === highestPriority + 1) rank(former)
  }
}

const priorityNow = new Int32Array(1)

/**
 * Lets a process that is to end have its CPU before all nodes, where the kernel allows that. A killed process ends only
 * as it runs: as long as its nodes compute on its CPU it does not, and neither do they.
 */
export const putProcessFirst = (pid: number): void => {
  const cpus = allowedCpus()
  try {
    for (const tid of readdirSync(`/proc/${pid}/task`)) {
      schedSetscheduler(Number(tid), policy.firstInFirstOut | policy.resetOnFork, parameter(endingPriority))
      // Its own CPU may be used up by a program that goes before even that.
      allow(Number(tid), cpus)
    }
  } catch {
    // It has ended.
  }
}

/** Lets go of the CPU for an instant, also to those who are out of turn. */
export const nap = (): void => {
  usleep(napUsMax)
}

/** struct sched_param */
const parameter = (priority: number) => Buffer.from(Int32Array.of(priority).buffer)

/** A thread of greater rank has the CPU as soon as it is ready. */
export const setRank = (tid: number, rank: number): void => {
  schedSetscheduler(tid, policy.firstInFirstOut, parameter(lowest + (rank % ranks)))
}

/** How long a turn may be. After each SIGXCPU the kernel raises that by a second: it is set again. */
export const limitTurns = (pid: number, usMax: number): void => {
  const limits = BigUint64Array.of(BigInt(usMax), BigInt(lastTurnUsMax))
  prlimit(pid, realTimeLimit, Buffer.from(limits.buffer), null)
}
