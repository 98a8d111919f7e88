import { countUpTo } from '../config/notes.ts'
import { type ClusterMark, goBackTo, markCluster, whyNot } from './mark.ts'
import type { Stage } from './stage.ts'

/** Starts that are kept. Each takes what its nodes have written, some megabytes; a check has few variants. */
const keptMax = 8
const reasonsMax = 3

/**
 * The ends of starts in which nodes waited for each other, by variant. Each node's own start cannot be kept then, for
 * nodes have connections; all together can. Other starts are kept by node: see `Node.keepStart`.
 */
export class StartMarks {
  readonly #stage: Stage
  readonly #marks = new Map<number, ClusterMark>()
  /** By reason, how often a start could not be kept or gone back to; only the first few reasons. */
  readonly reasons = new Map<string, number>()
  /** Whether an attempt to keep a start has cost it: no other is made. */
  #isCostly = false

  constructor(stage: Stage) {
    this.#stage = stage
  }

  has(variant: number): boolean {
    return this.#isUsed && this.#markOf(variant) !== undefined
  }

  /** Goes back to the end of the start of this variant. Returns false if that is not possible. */
  goBack(variant: number): boolean {
    const mark = this.#isUsed ? this.#markOf(variant) : undefined
    if (mark === undefined) return false
    const reason = goBackTo(this.#stage, mark)
    if (reason === undefined) {
      this.#stage.execution.endStart()
      return true
    }
    this.#forget(variant)
    countUpTo(reasonsMax, this.reasons, reason)
    return false
  }

  /** Keeps the present state, in which a start has just ended. Returns false if that has cost the state. */
  keep(variant: number): boolean {
    const { execution } = this.#stage
    if (!this.#isUsed) return true
    execution.network.endStep()
    this.#stage.watchUnanswered()
    const outline = this.#stage.outline()
    const clients = execution.clients.mark()
    if (clients === undefined) return true
    try {
      this.#marks.set(variant, markCluster(this.#stage, clients, outline))
      this.#limit()
      return true
    } catch (error) {
      countUpTo(reasonsMax, this.reasons, whyNot(error))
      this.#isCostly = this.#stage.settleAlive().length > 0 || this.#stage.outline() !== outline
      return !this.#isCostly
    }
  }

  /** Whether nodes are kept at all now. */
  get #isUsed(): boolean {
    return !this.#isCostly && this.#stage.nodes.every(({ isReused }) => isReused)
  }

  #markOf(variant: number): ClusterMark | undefined {
    const mark = this.#marks.get(variant)
    if (mark?.isLost) this.#forget(variant)
    return this.#marks.get(variant)
  }

  #limit(): void {
    const [first] = this.#marks.keys()
    if (this.#marks.size > keptMax) this.#forget(first!)
  }

  #forget(variant: number): void {
    void this.#marks.get(variant)?.discard()
    this.#marks.delete(variant)
  }
}
