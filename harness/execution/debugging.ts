import { UsageError } from '../../checker/system/errors.ts'
import { letGo } from '../checkpoint/stopped.ts'
import type { ExecResult } from '../config/config.ts'
import type { HeldNode } from '../hold/held/held-node.ts'
import type { Driver } from './driver.ts'
import type { Stage } from './stage.ts'

/** What somebody who debugs a system does with its nodes between two steps. */
export class Debugging {
  readonly #stage: Stage
  readonly #driver: Driver

  constructor(stage: Stage, driver: Driver) {
    this.#stage = stage
    this.#driver = driver
  }

  /** Id of a node's first process on this machine. */
  pidOf(name: string): number {
    return this.#alive(name).pid
  }

  /** Runs a program inside a node, which continues meanwhile, because the program may ask it something. */
  async runInside(name: string, program: readonly string[]): Promise<ExecResult> {
    this.#alive(name)
    const { clients } = this.#stage.execution
    const result = await clients.run(this.#stage.named(name), program, () => this.#stage.settleAlive())
    this.#driver.lookAgain()
    if (result === undefined) throw new UsageError(`${program.join(' ')} has not ended in ${name} in time`)
    return result
  }

  /**
   * Lets all nodes run while somebody outside speaks with them. Afterwards no step can be executed, only a new start.
   */
  async goOnUntil(isDone: () => boolean): Promise<void> {
    await this.#stage.execution.clients.goOn(() => this.#stage.settleAlive(), isDone)
    this.#driver.leave()
  }

  /**
   * Stops a node and detaches from it, so that a debugger can trace it. Taking it back ends it. Afterwards no step can
   * be executed, only a new start.
   */
  lend(name: string): { readonly pid: number; takeBack(): void } {
    const held = this.#alive(name)
    const { runner } = this.#stage
    this.#driver.leave()
    runner.endKeptThreads(held)
    runner.freeze(held)
    letGo(held)
    return { pid: held.pid, takeBack: () => runner.tracer.abandon(held) }
  }

  #alive(name: string): HeldNode {
    const { held, isAlive } = this.#stage.named(name)
    if (!held || !isAlive) throw new UsageError(`${name} is down`)
    return held
  }
}
