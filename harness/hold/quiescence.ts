import type { HeldNode, HeldThread } from './held-node.ts'
import type { Turns } from './turns.ts'

/**
 * Is there anything left to do without a new message or timer? To be asked when no stop is pending and the network has
 * nothing to read, and believed only when that is still so afterwards.
 */
export class Quiescence {
  readonly #turns: Turns
  #awake: HeldThread | undefined
  /** The last look at which all slept, and how often others had had the CPU by then. */
  #rested: { readonly nodes: readonly HeldNode[]; readonly count: number } | undefined

  constructor(turns: Turns) {
    this.#turns = turns
  }

  /**
   * True when no thread of these nodes can run, or will without something from outside. All of them are pinned to this
   * thread's CPU: as long as we keep it none of them can change another, so that one look at each is a look at all at
   * the same instant. Neither the states alone tell, nor what /proc/T/syscall shows (25 wrong of 300,000), nor the number
   * of tasks that run: a thread that the disk is about to wake is not among them.
   *
   * @param since how often others had had the CPU when what could be read was read
   */
  reached(nodes: readonly HeldNode[], since: number): boolean {
    // A packet that wakes nobody: whoever it had woken would have had the CPU before `since`.
    if (this.#turns.isOrdered && this.#rested?.nodes === nodes && this.#rested.count === this.#turns.count())
      return true
    const threads = nodes.flatMap(node => node.threads)
    // Who was awake at the last look is so at most looks: most end here.
    if (this.#awake && threads.includes(this.#awake) && !sleeps(this.#awake)) return false
    this.#awake = threads.find(thread => !sleeps(thread))
    const isReached = this.#awake === undefined && this.#turns.count() === since
    this.#rested = isReached ? { nodes, count: since } : undefined
    return isReached
  }
}

/** Functions of the kernel in which a thread waits for what a program does, and never for a device. */
const polls: ReadonlySet<string> = new Set(['do_epoll_wait', 'futex_do_wait', 'poll_schedule_timeout'])

/**
 * Waits, is stopped by a signal, or is dead. A thread whose state is S may yet be about to go on: it was preempted on
 * its way to sleep. The kernel names a place where it waits only when it is off the run queue. One that waits for a disk
 * (D) will go on by itself.
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
