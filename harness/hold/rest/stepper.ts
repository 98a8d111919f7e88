import type { Preemption } from '../../../checker/happening/preemptions.ts'
import { isStep, singleStep, type ThreadChange, wait } from '../../../linux/ptrace.ts'
import { isReached } from '../calls/preemption.ts'
import type { HeldNode, HeldThread } from '../held/held-node.ts'
import { ahead } from '../turns/turns.ts'
import type { Spinners } from './spinners.ts'
import type { StoppedThreads } from './stopped-threads.ts'

/** Instructions of a thread that are executed one by one after it began, or after each of its calls, at most. */
const afterCallMax = 20_000
/** Of a node in one step, so that no step lasts for longer than about a second: each costs 10 to 20 µs. */
const inStepMax = 60_000

/**
 * Executes threads instruction by instruction for a while, so that they can give way between two system calls. How many
 * they execute is the same in every execution, as these do the same.
 */
export class Stepper {
  readonly #spinners: Spinners
  readonly #stopped: StoppedThreads
  readonly #treat: (thread: HeldThread, change: ThreadChange) => void

  /** @param treat treats what happens to a thread instead of its next instruction */
  constructor(spinners: Spinners, stopped: StoppedThreads, treat: (thread: HeldThread, change: ThreadChange) => void) {
    this.#spinners = spinners
    this.#stopped = stopped
    this.#treat = treat
  }

  /** A thread begins, or makes a call that others may notice: what it executes next is counted, if anything waits for it. */
  begin(thread: HeldThread): void {
    const { node } = thread.process
    if (node.waitingFaults.get('preempt')?.unit === undefined) return
    thread.instructionsLeft = Math.min(afterCallMax, inStepMax - node.instructions)
    node.isStepped = true
  }

  /** A thread that goes on instruction by instruction has executed one. */
  goOn(thread: HeldThread): void {
    const preemption = thread.process.node.waitingFaults.get('preempt')
    const change = preemption && ahead(() => this.#execute(thread, preemption))
    if (change) this.#treat(thread, change)
    else this.#stopped.goOn(thread)
  }

  /** Returns what happened to the thread instead of an instruction; undefined if it gives way or need not be watched any longer. */
  #execute(thread: HeldThread, preemption: Preemption): ThreadChange | undefined {
    const { node } = thread.process
    while (thread.instructionsLeft > 0) {
      thread.instructionsLeft -= 1
      node.instructions += 1
      if (isReached(node.waitingFaults, preemption)) {
        this.#spinners.giveWay(thread)
        return undefined
      }
      if (!singleStep(thread.tid)) return undefined
      const change = wait(thread.tid)
      if (!isStep(change)) return change
    }
    return undefined
  }

  /** No thread of the node is watched any longer. Returns whether any was: it has to be told how to go on. */
  end(node: HeldNode): boolean {
    if (!node.isStepped) return false
    for (const thread of node.threads) thread.instructionsLeft = 0
    node.isStepped = false
    node.instructions = 0
    return true
  }
}
