import { cpuNsOf } from '../../../linux/cpu-time.ts'
import type { HeldNode, HeldProcess, HeldThread } from '../held/held-node.ts'
import type { Turns } from '../turns/turns.ts'

/**
 * Decides whether anything is left to do without a new message or timer. Ask when no stop is pending and the network
 * has nothing to read, and trust the answer only if both are still true afterwards.
 */
export class Quiescence {
  readonly #turns: Turns
  #awake: HeldThread | undefined
  /** Processes whose threads all slept at the last look. */
  readonly #rested = new WeakMap<HeldProcess, Rest>()

  constructor(turns: Turns) {
    this.#turns = turns
  }

  /**
   * True if no thread of these nodes can run, or will run without an event from outside. All are pinned to this
   * thread's CPU. While this thread keeps it, none of them can change another, so looking at each in turn is like
   * looking at all at once. Thread states alone are not enough. Neither is /proc/T/syscall (wrong 25 times in 300,000),
   * nor the number of running tasks, which excludes a thread that the disk is about to wake.
   *
   * A thread that was asleep and has not run since is still asleep, unless it is ready. But a ready thread would have
   * got the CPU when this thread yielded. So most threads need no look, except where other programs also get this CPU
   * whenever this thread yields.
   *
   * @param ran whether anybody had the CPU when this thread last yielded; threads woken then may be ready
   */
  reached(nodes: readonly HeldNode[], ran: boolean): boolean {
    // A thread that was awake at the last look usually still is, so most looks end here.
    if (this.#awake && this.#mayRun(this.#awake) && !sleeps(this.#awake)) return false
    this.#awake = undefined
    const isNobodyReady = this.#turns.isOrdered && !(ran && this.#turns.yield())
    for (const node of nodes) {
      if (node.lostPower !== undefined) continue
      for (const process of node.processes.values()) {
        this.#awake = this.#awakeIn(process, isNobodyReady)
        if (this.#awake) return false
      }
    }
    return this.#turns.isUndisturbed
  }

  /** A node whose power has failed stands still until the step is over. */
  #mayRun(thread: HeldThread): boolean {
    const { process } = thread
    const { node } = process
    return node.lostPower === undefined && process.threads.has(thread) && node.processes.get(process.pid) === process
  }

  /** Finds a thread of the process that does not sleep. */
  #awakeIn(process: HeldProcess, isNobodyReady: boolean): HeldThread | undefined {
    const cpuNs = isNobodyReady ? cpuNsOf(process.pid) : undefined
    const before = this.#rested.get(process)
    if (before && cpuNs === before.cpuNs) return undefined
    const threads = [...process.threads]
    const likely = before && process.threads.has(before.likely) ? before.likely : threads[0]
    const likelyCpuNs = likely?.cpuNs() ?? 0
    const hasOneRun = before && cpuNs !== undefined && likelyCpuNs - before.likelyCpuNs === cpuNs - before.cpuNs
    const awake = (hasOneRun && likely ? [likely] : threads).find(thread => !sleeps(thread))
    if (awake === undefined && likely && cpuNs !== undefined) this.#rested.set(process, { cpuNs, likely, likelyCpuNs })
    return awake
  }
}

/** A process whose threads all slept. */
interface Rest {
  /** CPU time that its threads had used. */
  readonly cpuNs: number
  /** The thread that is likely to run next, and its CPU time. */
  readonly likely: HeldThread
  readonly likelyCpuNs: number
}

/** Kernel functions in which a thread waits for a program, never for a device. */
const polls: ReadonlySet<string> = new Set(['do_epoll_wait', 'futex_do_wait', 'poll_schedule_timeout'])
/** Kernel functions in which a thread waits in a call that reads. */
const reads: ReadonlySet<string> = new Set([
  '__skb_wait_for_more_packets',
  'inet_csk_accept',
  'unix_stream_read_generic',
  'anon_pipe_read',
])

/** A first process that ends waits here until all others have ended, whom it has killed. */
const endsOthers = 'zap_pid_ns_processes'

/**
 * Whether a thread waits, is stopped by a signal, or is dead. A thread in state S may still be about to run, if it was
 * preempted on its way to sleep. The kernel shows a place where it waits only once it is off the run queue. A thread
 * that waits for a disk (D) continues by itself.
 */
export const sleeps = (thread: HeldThread): boolean => {
  const place = thread.look('wchan')
  thread.waitsInPoll = polls.has(place)
  if (thread.waitsInPoll || reads.has(place) || thread.isStoppedBySignal) return true
  if (place === endsOthers) return false
  const stat = thread.look('stat')
  if (stat === '') return true
  const state = stat.charAt(stat.lastIndexOf(')') + 2)
  // When its process ends, a napping thread leaves its stop, and may wait for the kernel before it has ended.
  if (thread.napping && state === 't') return true
  return 'ZX'.includes(state) || (state === 'S' && place !== '0')
}
