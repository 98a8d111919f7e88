import { interrupt, type Registers } from '../../../linux/ptrace.ts'
import { type SyscallName, syscallName } from '../../../linux/syscall-number.ts'
import { type HeldNode, type HeldThread, noPolls } from '../held/held-node.ts'

/**
 * Threads that ask for events and get the same answer at once, again and again, and do nothing in between but read
 * clocks. Such a thread waits for something else: redis-benchmark is offered room to write until its last answer has
 * come. On a real machine it uses a whole CPU meanwhile. Here it waits without an answer until something has happened in
 * its node, or its time-out is over.
 */

/** Equal answers after which the thread is watched for other calls. With fewer, busy servers would be watched. */
const unwatchedMax = 256
/**
 * Further equal answers after which the thread waits. A thread that polls while it computes needs some until it is
 * done.
 */
const watchedMax = 64

const names: ReadonlySet<SyscallName | undefined> = new Set<SyscallName>([
  'epoll_wait',
  'epoll_pwait',
  'epoll_pwait2',
  'poll',
  'ppoll',
  'select',
  'pselect6',
])

/** Whether a system call asks for events. */
export const isPoll = (number: number): boolean => names.has(syscallName(number))

/** The thread has its answer. */
export const countPoll = (thread: HeldThread, registers: Registers): void => {
  const [address, answer] = [registers.get('rip'), registers.get('rax')]
  const { polls } = thread
  const isSame = answer > 0 && polls.address === address && polls.answer === answer
  thread.polls = { address, answer, count: isSame ? polls.count + 1 : 0 }
  if (thread.polls.count >= unwatchedMax) thread.isWatched = true
}

/** Whether the thread has asked often enough, and should wait. */
export const pollsInVain = ({ polls }: HeldThread): boolean => polls.count >= unwatchedMax + watchedMax

/** The thread has made another call. */
export const hasDoneElse = (thread: HeldThread): void => {
  thread.polls = noPolls
}

/** Lets it ask again for a while. */
export const pollAgain = (thread: HeldThread): void => {
  thread.polls = { ...thread.polls, count: Math.min(thread.polls.count, unwatchedMax) }
}

/** Wakes threads that wait so, where something has happened in their node. */
export class Pollers {
  /** What had happened in its node when a thread was last asked about. */
  readonly #known = new WeakMap<HeldThread, string>()

  /** Call it when all other threads sleep; returns whether one was woken. */
  wake(nodes: readonly HeldNode[]): boolean {
    let woken = false
    for (const node of nodes.filter(({ hasPollsAside }) => hasPollsAside))
      for (const thread of node.threads) {
        if (!thread.wait?.isAside || !isPoll(thread.wait.call)) continue
        const known = happenedIn(node)
        if (this.#known.get(thread) === known) continue
        this.#known.set(thread, known)
        pollAgain(thread)
        thread.interrupted = true
        interrupt(thread.tid)
        woken = true
      }
    return woken
  }
}

/** What the answer depends on: the node's clock, its inputs, and its other threads. */
const happenedIn = (node: HeldNode): string => {
  const used = node.threads
    .filter(({ wait }) => !wait?.isAside)
    .map(thread => `${thread.tid} ${thread.look('schedstat')}`)
  return [node.clock.elapsed, node.arrivals, ...used].join()
}
