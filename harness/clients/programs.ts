import { foreignChildren } from '../../linux/ptrace.ts'
import type { ExecResult } from '../config/config.ts'
import type { Node } from '../node/node.ts'
import { runInside } from './exec.ts'
import { isAsleep } from './process-group.ts'

/** Programs that run inside nodes, beside their own processes. */
export class Programs {
  #running = 0
  /** Process groups of those that run. */
  readonly #groups = new Set<number>()

  get areRunning(): boolean {
    return this.#running > 0
  }

  /** Whether there are any, and all of them wait for something: none computes or waits for the CPU. */
  get areAsleep(): boolean {
    return this.#groups.size > 0 && [...this.#groups].every(isAsleep)
  }

  /**
   * @returns undefined if it was ended because it took longer
   *
   * @throws if the node is down, or the program cannot be started
   */
  async run(node: Node, command: readonly string[], msMax: number): Promise<ExecResult | undefined> {
    const inside = node.isAlive ? node.inside : undefined
    if (inside === undefined) throw new Error(`${node.name} is down: cannot run ${command.join(' ')} in it`)
    this.#running += 1
    let group: number | undefined
    foreignChildren.count += 1
    try {
      return await runInside(inside, command, msMax, begun => {
        group = begun
        this.#groups.add(begun)
      })
    } finally {
      node.visit()
      this.#running -= 1
      if (group !== undefined) this.#groups.delete(group)
      foreignChildren.count -= 1
    }
  }
}
