import type { HeldNode, HeldThread } from './held-node.ts'
import type { Tracer } from './tracer.ts'
import { millisecond } from './virtual-clock.ts'

/** The monitor acts on what has lasted for so long. */
const watchedFor = 10 * millisecond
const inVainMax = 4

/**
 * The naps of Go's monitors. A monitor looks at what the others do every few microseconds. It looks here when they have
 * done it, and sleep: what it finds does not depend on how long they took.
 *
 * It goes on watching sleepers for one of two reasons: a timer is due, and who waits for it in the kernel does so to
 * the next millisecond; or a thread is in the kernel for long. Nothing happens then until time has passed.
 */
export class Naps {
  readonly #tracer: Tracer
  /** Naps on end without which nothing else happened in the node, and what CPU time its others had used by then. */
  readonly #inVain = new WeakMap<HeldThread, { readonly count: number; readonly used: string }>()

  constructor(tracer: Tracer) {
    this.#tracer = tracer
  }

  /** To be called when all other threads sleep; false where there are no naps. */
  end(nodes: readonly HeldNode[]): boolean {
    const napping: HeldThread[] = []
    for (const { threads } of nodes) for (const thread of threads) if (thread.napping) napping.push(thread)
    for (const thread of napping) {
      this.#count(thread)
      this.#tracer.endNap(thread)
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
