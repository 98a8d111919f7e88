import type { HeldNode, HeldThread } from './held-node.ts'
import type { Turns } from './turns.ts'

/**
 * Whether anything is left to do without a new message or timer. Ask when no stop is pending and the network has
 * nothing to read, and believe the answer only if that is still so afterwards.
 */
export class Quiescence {
  readonly #turns: Turns
  #awake: HeldThread | undefined
  /** The last check at which all slept, and how often others had had the CPU by then. */
  #rested: { readonly nodes: readonly HeldNode[]; readonly count: number } | undefined

  constructor(turns: Turns) {
    this.#turns = turns
  }

  /**
   * True if no thread of these nodes can run, or will run without an event from outside. All are pinned to this
   * thread's CPU: while this thread keeps it, none of them can change another, so that looking at each in turn is like
   * looking at all at once. Thread states alone do not tell; nor does /proc/T/syscall (wrong 25 times in 300,000), nor
   * the number of running tasks, which does not include a thread that the disk is about to wake.
   *
   * @param since how often others had had the CPU when everything readable was read
   */
  reached(nodes: readonly HeldNode[], since: number): boolean {
    // The packet woke nobody: a woken thread would have had the CPU before `since`.
    if (this.#turns.isOrdered && this.#rested?.nodes === nodes && this.#rested.count === this.#turns.count())
      return true
    const threads = nodes.flatMap(node => node.threads)
    // The thread that was awake at the last check usually still is, so most checks end here.
    if (this.#awake && threads.includes(this.#awake) && !sleeps(this.#awake)) return false
    this.#awake = threads.find(thread => !sleeps(thread))
    const isReached = this.#awake === undefined && this.#turns.count() === since
    this.#rested = isReached ? { nodes, count: since } : undefined
    return isReached
  }
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
