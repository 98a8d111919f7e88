import type { NodeTask } from '../../cells/task.ts'
import type { NodeExecution } from '../search.ts'

/** A node's execution is tried this many times if it comes to something else than before, or is disturbed from outside. */
const triesMax = 3

/** Executions of nodes alone that are tried again. */
export class Retries {
  readonly #tries = new Map<NodeTask, number>()
  readonly #waiting: NodeExecution[] = []

  next(): NodeExecution | undefined {
    return this.#waiting.shift()
  }

  /** Has an execution tried again after it failed, unless that happened too often. Returns whether it is. */
  again(execution: NodeExecution): boolean {
    const tries = (this.#tries.get(execution.task) ?? 0) + 1
    if (tries === triesMax) this.#tries.delete(execution.task)
    if (tries === triesMax) return false
    this.#tries.set(execution.task, tries)
    this.#waiting.push(execution)
    return true
  }
}
