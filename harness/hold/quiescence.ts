import { closeSync, openSync, readdirSync, readSync } from 'node:fs'
import type { HeldNode, HeldThread } from './held-node.ts'

/**
 * Is there anything left to do without a new message or timer? To be asked when no stop is pending and the network has
 * nothing to read, and believed only when that is still so afterwards.
 */
export class Quiescence {
  readonly #load = openSync('/proc/loadavg', 'r')
  readonly #disks = openDisks()
  readonly #text = Buffer.alloc(128)
  #awake: HeldThread | undefined

  /** True when no thread of these nodes can run. */
  reached(nodes: Iterable<HeldNode>): boolean {
    const threads = [...nodes].flatMap(node => node.threads)
    if (threads.some(thread => thread.napping)) return false
    if (this.#nothingRuns()) return true
    // Who was awake at the last look is so at most looks: most end here.
    if (this.#awake && threads.includes(this.#awake) && !sleeps(this.#awake)) return false
    this.#awake = firstAwake(threads)
    return this.#awake === undefined
  }

  close(): void {
    closeSync(this.#load)
    for (const disk of this.#disks) closeSync(disk)
  }

  /**
   * A first test at a hundredth of the cost: no task of the whole machine is running but this thread, and no disk is
   * at work (who waits for one is not counted as running). Exact, because the nodes are pinned to this thread's CPU:
   * what could run there but does not is counted.
   */
  #nothingRuns(): boolean {
    const length = readSync(this.#load, this.#text, 0, this.#text.length, 0)
    const text = this.#text.toString('latin1', 0, length)
    const slash = text.indexOf('/')
    if (text.slice(text.lastIndexOf(' ', slash) + 1, slash) !== '1') return false
    return this.#disks.every(disk => this.#isAtRest(disk))
  }

  /** `inflight`: requests that read, and that write. */
  #isAtRest(disk: number): boolean {
    const length = readSync(disk, this.#text, 0, this.#text.length, 0)
    return /^\s*0\s+0\s*$/.test(this.#text.toString('latin1', 0, length))
  }
}

const openDisks = (): number[] => {
  try {
    return readdirSync('/sys/block')
      .filter(name => !/^(loop|ram|zram)/.test(name))
      .map(name => openSync(`/sys/block/${name}/inflight`, 'r'))
  } catch {
    return []
  }
}

/**
 * Two passes: a thread that was woken between them has been scheduled once more, or is awake. The state alone does not
 * tell, nor does what /proc/T/syscall shows (25 wrong of 300,000).
 */
const firstAwake = (threads: readonly HeldThread[]): HeldThread | undefined => {
  const counts: string[] = []
  for (const thread of threads) {
    counts.push(timesScheduled(thread))
    if (!sleeps(thread)) return thread
  }
  return threads.find((thread, index) => !sleeps(thread) || timesScheduled(thread) !== counts[index])
}

/** How often the thread was given the CPU: the third number of its schedstat. */
const timesScheduled = (thread: HeldThread): string => thread.look('schedstat').split(' ')[2] ?? ''

/** Sleeping, stopped by a signal, or dead. */
const sleeps = (thread: HeldThread): boolean => {
  const stat = thread.look('stat')
  return stat === '' || 'STZX'.includes(stat.charAt(stat.lastIndexOf(')') + 2))
}
