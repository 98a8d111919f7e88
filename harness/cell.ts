import { libc } from '../proxy/libc.ts'
import type { Network } from '../proxy/network.ts'
import type { HeldNode } from './hold/held-node.ts'
import { Quiescence } from './hold/quiescence.ts'
import { Tracer } from './hold/tracer.ts'

const schedGetcpu = libc.func('int sched_getcpu()')
const usleep = libc.func('int usleep(unsigned int microseconds)')
const schedYield = libc.func('int sched_yield()')
const prctl = libc.func('int prctl(int option, unsigned long value)')
const schedSetaffinity = libc.func('int sched_setaffinity(int pid, size_t length, void *mask)')

const yieldsMax = 2
const napUs = 20
const napUsMax = 320

/** PR_SET_TIMERSLACK, in nanoseconds: naps end when they are over, not 50 µs later. */
const setTimerSlack = 29

/** Why nodes did not become quiescent. */
export interface Unsettled {
  readonly node: HeldNode
  readonly cpuMs: number
}

/**
 * One system under check on one thread: its tracer and its network, polled by turns. The thread and all processes that
 * it starts are pinned to one CPU, so that they take turns in the same order in every execution.
 */
export class Cell {
  readonly tracer = new Tracer()
  readonly #quiescence = new Quiescence()

  /** @param cpu the one that this thread runs on now, by default */
  constructor(cpu: number = schedGetcpu()) {
    const mask = Buffer.alloc(128)
    mask[cpu >> 3] = 1 << (cpu & 7)
    schedSetaffinity(0, mask.length, mask)
    prctl(setTimerSlack, 1)
  }

  /** Takes hold of a launched process that waits to be released. */
  hold(node: HeldNode, pid: number): void {
    this.tracer.hold(node, pid)
  }

  /** Lets whatever is ready happen; true if anything did. */
  pump(network: Network): boolean {
    const stopped = this.tracer.poll()
    return network.pump() || stopped
  }

  /**
   * Runs until these nodes have nothing left to do without a new message or timer.
   *
   * @param cpuMsMax CPU time that one of them may spend
   * @returns the node that spent more, or undefined when all are quiescent
   */
  settle(network: Network, nodes: readonly HeldNode[], cpuMsMax: number): Unsettled | undefined {
    const begun = performance.now()
    const usedBefore = new Map(nodes.map(node => [node, 0]))
    let looked = begun
    let isFirstLook = true
    for (let looks = 0; ; looks++) {
      if (!this.pump(network)) {
        if (this.#quiescence.reached(nodes) && !this.pump(network)) return undefined
        rest(looks)
      }
      const now = performance.now()
      if (now - looked < cpuMsMax / (isFirstLook ? 2 : 4)) continue
      looked = now
      for (const node of nodes) {
        if (isFirstLook) usedBefore.set(node, node.cpuMs())
        else if (node.cpuMs() - usedBefore.get(node)! > cpuMsMax || now - begun > stuckFactor * cpuMsMax)
          return { node, cpuMs: node.cpuMs() - usedBefore.get(node)! }
      }
      isFirstLook = false
    }
  }

  /** Runs until all processes of a node that was killed have ended. */
  awaitEnd(node: HeldNode): void {
    for (let looks = 0; node.processes.size > 0; looks++) if (!this.tracer.poll()) rest(looks)
  }

  close(): void {
    this.#quiescence.close()
  }
}

/** A step is over within a few rests; a start takes long, and much asking would take the CPU from it. */
const rest = (looks: number) => {
  if (looks < yieldsMax) schedYield()
  else usleep(Math.min(napUs * 2 ** (looks - yieldsMax), napUsMax))
}

/** A node that neither sleeps nor computes, as one waiting for a disk, is given up after so many times its CPU time. */
const stuckFactor = 30
