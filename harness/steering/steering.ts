import type { Choice } from '../../checker/system/system.ts'
import type { Steer } from '../timed/timing.ts'
import type { Filter, Filters } from './filters.ts'
import type { ImmediateCheck } from './immediate-check.ts'
import { interventionsAgainst } from './interventions.ts'
import type { LiveExecution } from './live-execution.ts'

/** Is told of each action that takes the place of a step because of a prediction. */
export type OnSteered = (
  filter: Filter,
  action: Steer,
  about: { readonly label: string; readonly atMs: number },
) => void

export interface SteeringOptions {
  readonly check: ImmediateCheck | undefined
  readonly filters: Filters | undefined
  readonly onSteered: OnSteered
}

/** Executes the steps of a steered run: what is filtered does not happen, and the rest is checked (CrystalBall, section 3.3). */
export class Steering {
  readonly #live: LiveExecution
  readonly #options: SteeringOptions

  constructor(live: LiveExecution, options: SteeringOptions) {
    this.#live = live
    this.#options = options
  }

  /** Executes a choice, or something in its place. */
  async execute(choice: Choice, atMs: number): Promise<void> {
    if (await this.#filter(choice, atMs)) return
    const { check } = this.#options
    if (check) return check.execute(choice, atMs)
    await this.#live.execute(choice)
    this.#live.accept()
  }

  /** Returns whether something else took the choice's place. */
  async #filter(choice: Choice, atMs: number): Promise<boolean> {
    const { check, filters, onSteered } = this.#options
    const filter = filters?.against(choice.label, atMs)
    if (filter === undefined) return false
    const isViolatedSince = check?.lookOut()
    for (const action of interventionsAgainst(choice)) {
      // The prediction has looked at what follows if the message does not arrive.
      if (choice.kind === 'deliver' && action.how === 'pause') continue
      if (!(await this.#live.steer(action, atMs))) continue
      if (isViolatedSince?.()) {
        await this.#live.takeBack()
        continue
      }
      this.#live.accept()
      filters!.hasPrevented(filter)
      onSteered(filter, action, { label: choice.label, atMs })
      return true
    }
    return false
  }
}
