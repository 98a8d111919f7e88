import { type Nanoseconds, second } from '../clock/virtual-clock.ts'
import type { HeldNode } from './held-node.ts'

/** Why nodes did not become quiescent. */
export interface Unsettled {
  readonly node: HeldNode
  /** CPU time that it used; undefined if it spins and nothing will ever end that. */
  readonly cpuMs: number | undefined
  /** Ordinal of the thread that spins. */
  readonly spinner?: number
  /** Whether it became quiescent only once its clock was set ahead: it may have waited for that. */
  readonly waitedForClock?: boolean
  /** How long it neither waited nor used up its CPU time, in seconds: it says nothing about the node. */
  readonly stuckSeconds?: number
}

/**
 * Share of the limit at which usage is first checked. Most steps end before that, and a check costs as much as a step.
 */
const firstLook = 1 / 50
const betweenLooks = 1 / 8
/**
 * A node that neither sleeps nor computes is given up after this many times its CPU limit: it waits for a disk, or other
 * programs use the CPUs. If it were fewer, a busy machine would often cut executions short.
 */
const stuckFactor = 30
/**
 * A node whose reads have begun to move its clock may compute for this many times the limit. If it were fewer, a loop
 * with much work between two reads would not get to its end.
 */
const readingFactor = 2
/** Hardly any program computes for longer than this until its clock has moved, instead of sleeping. */
const longestWait: Nanoseconds = second
/** Share of the limit for which a node may compute after its clock was set ahead. A loop that waits ends at its next read. */
const aheadShare = 1 / 4

/**
 * CPU time of one instruction that is executed alone, in milliseconds: twice what it costs. The limit is for what the
 * program does, so this time is not counted.
 */
const msPerInstruction = 0.03

/** Tells whether one of some nodes computes for longer than allowed, counted from construction. */
export class CpuLimit {
  readonly #nodes: readonly HeldNode[]
  readonly #msMax: number
  readonly #limitTurns: (node: HeldNode, ms: number) => void
  readonly #begun = performance.now()
  #looked = this.#begun
  /** Nodes whose clock was set ahead, and the CPU time that each had used then. */
  readonly #ahead = new Map<HeldNode, number>()
  /** CPU time of each at the first check. */
  #usedBefore: readonly number[] | undefined

  /** @param limitTurns makes a node's threads, which never wait, give way after their share of CPU time */
  constructor(nodes: readonly HeldNode[], msMax: number, limitTurns: (node: HeldNode, ms: number) => void) {
    this.#nodes = nodes
    this.#msMax = msMax
    this.#limitTurns = limitTurns
  }

  /** The node that exceeds the limit, and what it has used. Call it repeatedly. */
  exceeding(): Unsettled | undefined {
    // Clients are attended although all nodes have ended.
    if (this.#nodes.length === 0) return undefined
    for (const node of this.#nodes) {
      if (node.spinner !== undefined) return { node, cpuMs: undefined, spinner: node.spinner }
      // The first check may come after a whole turn, which counts nevertheless.
      const turnsMs = node.turnsUs / 1000
      if (this.#isExceededBy(node, turnsMs)) return { node, cpuMs: turnsMs }
    }
    const now = performance.now()
    if (now - this.#looked < this.#msMax * (this.#usedBefore ? betweenLooks : firstLook)) return undefined
    this.#looked = now
    const used = this.#nodes.map(node => node.cpuMs() - node.instructions * msPerInstruction)
    const before = (this.#usedBefore ??= used)
    const isStuck = now - this.#begun > stuckFactor * this.#msMax
    const usedSince = used.map((ms, i) => ms - before[i]!)
    const most = usedSince.indexOf(Math.max(...usedSince))
    const unsettled = { node: this.#nodes[most]!, cpuMs: usedSince[most]! }
    if (this.#isExceededBy(unsettled.node, unsettled.cpuMs)) return unsettled
    return isStuck ? { ...unsettled, stuckSeconds: (now - this.#begun) / 1000 } : undefined
  }

  /** Call it when all are quiescent: the node that exceeded the limit before its clock was set ahead. */
  exceeded(): Unsettled | undefined {
    for (const [node, cpuMs] of this.#ahead) return { node, cpuMs, waitedForClock: true }
    return undefined
  }

  /**
   * The clock stands still within a step, so a node that reads it until it has moved computes for ever. Before a node is
   * given up, its clock is therefore set ahead. This depends on CPU time and does not repeat, so the step does not count.
   */
  #isExceededBy(node: HeldNode, cpuMs: number): boolean {
    if (cpuMs < this.#msMax) return false
    const ahead = this.#ahead.get(node)
    if (ahead !== undefined) return cpuMs >= ahead + this.#msMax * aheadShare
    const waited = node.waitedByReading
    if (waited >= longestWait) return true
    if (waited > 0 && cpuMs < this.#msMax * readingFactor) return false
    this.#ahead.set(node, cpuMs)
    this.#limitTurns(node, this.#msMax * aheadShare)
    node.moveClock(node.clock.elapsed + longestWait)
    return false
  }
}
