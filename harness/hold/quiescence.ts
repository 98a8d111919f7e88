import { cpuNsOf } from './cpu-time.ts'
import type { HeldNode, HeldProcess, HeldThread } from './held-node.ts'
import type { Turns } from './turns.ts'

/**
 * Whether anything is left to do without a new message or timer. Ask when no stop is pending and the network has
 * nothing to read, and believe the answer only if that is still so afterwards.
 */
export class Quiescence {
  readonly #turns: Turns
  #awake: HeldThread | undefined
  /** Processes all of whose threads slept when they were last looked at. */
  readonly #rested = new WeakMap<HeldProcess, Rest>()

  constructor(turns: Turns) {
    this.#turns = turns
  }

  /**
   * True if no thread of these nodes can run, or will run without an event from outside. All are pinned to this
   * thread's CPU: while this thread keeps it, none of them can change another, so that looking at each in turn is like
   * looking at all at once. Thread states alone do not tell; nor does /proc/T/syscall (wrong 25 times in 300,000), nor
   * the number of running tasks, which does not include a thread that the disk is about to wake.
   *
   * Who was asleep, and has not run since, is so, unless it is ready: it would have the CPU then when this thread yields.
   * So most threads need no look at all, but where others have this CPU whenever this thread yields.
   *
   * @param ran whether anybody had the CPU when this thread last yielded: one who was woken meanwhile may be ready
   */
  reached(nodes: readonly HeldNode[], ran: boolean): boolean {
    // Who was awake at the last look is so at most looks: most end here.
    if (this.#awake && this.#isHeld(this.#awake) && !sleeps(this.#awake)) return false
    this.#awake = undefined
    const isNobodyReady = this.#turns.isOrdered && !(ran && this.#turns.yield())
    for (const node of nodes) {
      for (const process of node.processes.values()) {
        this.#awake = this.#awakeIn(process, isNobodyReady)
        if (this.#awake) return false
      }
    }
    return this.#turns.isUndisturbed
  }

  #isHeld(thread: HeldThread): boolean {
    const { process } = thread
    return process.threads.has(thread) && process.node.processes.get(process.pid) === process
  }

  /** A thread of the process that does not sleep. */
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

/** A process all of whose threads slept. */
interface Rest {
  /** CPU time that they had used. */
  readonly cpuNs: number
  /** The thread that is likely to run next, with its own. */
  readonly likely: HeldThread
  readonly likelyCpuNs: number
}

/** Kernel functions in which a thread waits for a program, never for a device. */
const polls: ReadonlySet<string> = new Set(['do_epoll_wait', 'futex_do_wait', 'poll_schedule_timeout'])

/**
 * Whether it waits, is stopped by a signal, or is dead. A thread in state S may still be about to run, if it was
 * preempted on its way to sleep. The kernel names a waiting place only once it is off the run queue. A thread that
 * waits for a disk (D) continues by itself.
 */
export const sleeps = (thread: HeldThread): boolean => {
  const place = thread.look('wchan')
  thread.waitsInPoll = polls.has(place)
  if (thread.waitsInPoll || thread.isStoppedBySignal || thread.napping) return true
  const stat = thread.look('stat')
  if (stat === '') return true
  const state = stat.charAt(stat.lastIndexOf(')') + 2)
  return 'ZX'.includes(state) || (state === 'S' && place !== '0')
}
