import { millisecond } from './clock/virtual-clock.ts'
import type { HeldNode, HeldThread } from './held/held-node.ts'
import type { Tracer } from './tracer.ts'

/** The monitor acts on states that have lasted this long. */
const watchedFor = 10 * millisecond
const inVainMax = 4

/**
 * The naps of Go's monitors. A monitor checks every few microseconds what the others do. Here it checks when they have
 * done it and sleep, so that its result does not depend on how long they took.
 *
 * It keeps watching sleepers for one of two reasons: a timer is due, and its waiter waits in the kernel until the next
 * millisecond; or a thread is in the kernel for long. In both cases nothing happens until time has passed.
 */
export class Naps {
  readonly #tracer: Tracer
  /** Number of naps without anything else happening in the node, and the CPU time that the others had used by then. */
  readonly #inVain = new WeakMap<HeldThread, { readonly count: number; readonly used: string }>()

  constructor(tracer: Tracer) {
    this.#tracer = tracer
  }

  /** Call it when all other threads sleep; returns false if there are no naps. */
  end(nodes: readonly HeldNode[]): boolean {
    const napping: HeldThread[] = []
    for (const { processes } of nodes)
      for (const { threads } of processes.values())
        for (const thread of threads) if (thread.napping) napping.push(thread)
    for (const thread of napping) {
      this.#count(thread)
      this.#tracer.stopped.endNap(thread)
    }
    return napping.length > 0
  }

  #count(thread: HeldThread): void {
    const { node } = thread.process
    const others = node.threads.filter(other => other !== thread)
    const used = others.map(other => other.look('schedstat')).join()
    const before = this.#inVain.get(thread)
    const count = before?.used === used ? before.count + 1 : 0
    this.#inVain.set(thread, { count: count % (inVainMax + 1), used })
    if (count > inVainMax) letTimePass(node)
  }
}

const letTimePass = (node: HeldNode): void => {
  const next = node.clock.elapsed + watchedFor
  if ((node.earliestDeadline() ?? next) < next) node.fireEarliest()
  else node.moveClock(next)
}
