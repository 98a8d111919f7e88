import { closeSync, openSync, readSync } from 'node:fs'
import { libc } from '../../proxy/libc.ts'

const schedSetscheduler = libc.func('int sched_setscheduler(int pid, int policy, void *parameter)')
const schedYield = libc.func('int sched_yield()')
const usleep = libc.func('int usleep(unsigned int microseconds)')
const prctl = libc.func('int prctl(int option, unsigned long value)')
const prlimit = libc.func('int prlimit(int pid, int resource, void *limit, void *former)')

const policy = { other: 0, firstInFirstOut: 1, resetOnFork: 0x4000_0000 } as const
/** struct sched_param */
const priority = (value: number) => Buffer.from(Int32Array.of(value).buffer)

/** RLIMIT_RTTIME: CPU time without a wait after which the kernel sends SIGXCPU; microseconds. */
const realTimeLimit = 15
const spinningUsMax = 1_000_000n

/** PR_SET_TIMERSLACK, in nanoseconds: naps end when they are over, not 50 µs later. */
const setTimerSlack = 29
const napUs = 20
const napUsMax = 320

/** Other programs of this machine get the CPU this often while a cell is busy. */
const courtesyMs = 10

/**
 * In which order this thread and the threads of the nodes, all on one CPU, have it: first in, first out. Each runs
 * until it waits, then the one that was ready first. Who is first so depends on what the programs do, and not on how
 * long it takes. The kernel refuses that to ordinary users; for them its fair scheduler decides.
 */
export class Turns {
  readonly #own = openSync('/proc/thread-self/schedstat', 'r')
  readonly #text = Buffer.alloc(128)
  readonly #isOrdered: boolean
  #naps = 0
  #lastCourtesy = 0

  constructor() {
    prctl(setTimerSlack, 1)
    this.#isOrdered = this.#queue()
  }

  /** Puts a process among those that take turns; one that never waits is stopped by SIGXCPU. */
  add(pid: number): void {
    if (!this.#isOrdered) return
    limitSpinning(pid)
    schedSetscheduler(pid, policy.firstInFirstOut, priority(1))
  }

  /** How often this thread was given the CPU: the third number of its schedstat. */
  count(): string {
    const length = readSync(this.#own, this.#text, 0, this.#text.length, 0)
    const text = this.#text.toString('latin1', 0, length)
    return text.slice(text.lastIndexOf(' '))
  }

  /** Lets everybody run who is ready. Sleeps a little where nobody is: they wait for something outside, as a disk. */
  pass(): void {
    const before = this.count()
    schedYield()
    if (this.count() !== before) this.#naps = 0
    else usleep(Math.min(napUs * 2 ** this.#naps++, napUsMax))
  }

  /** To be called where nodes wait: lets other programs of this machine run now and then. */
  beCourteous(): void {
    if (!this.#isOrdered || performance.now() - this.#lastCourtesy < courtesyMs) return
    this.#leaveQueue()
    schedYield()
    this.#queue()
    this.#lastCourtesy = performance.now()
  }

  close(): void {
    if (this.#isOrdered) this.#leaveQueue()
    closeSync(this.#own)
  }

  #queue(): boolean {
    return schedSetscheduler(0, policy.firstInFirstOut | policy.resetOnFork, priority(1)) === 0
  }

  #leaveQueue(): void {
    schedSetscheduler(0, policy.other | policy.resetOnFork, priority(0))
  }
}

/** After each SIGXCPU the kernel raises the limit: it is set again. */
export const limitSpinning = (pid: number): void => {
  prlimit(pid, realTimeLimit, Buffer.from(BigUint64Array.of(spinningUsMax, 2n ** 64n - 1n).buffer), null)
}
