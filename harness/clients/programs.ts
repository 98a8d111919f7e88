import type { ExecResult } from '../config.ts'
import { foreignChildren } from '../hold/ptrace.ts'
import type { Node } from '../node/node.ts'
import { runInside } from './exec.ts'

/** Programs that run inside nodes, beside their own processes. */
export class Programs {
  #running = 0

  get areRunning(): boolean {
    return this.#running > 0
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
    foreignChildren.count += 1
    try {
      return await runInside(inside, command, msMax)
    } finally {
      node.visit()
      this.#running -= 1
      foreignChildren.count -= 1
    }
  }
}
