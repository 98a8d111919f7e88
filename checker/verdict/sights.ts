import type { TaskOutcome } from '../cells/task.ts'
import type { ChoiceKind, Sight } from '../system.ts'

/** What a search has met, summed over its executions. Properties were never tested on anything that is missing here. */
export interface Met {
  /** Steps by kind of choice. */
  readonly steps: Partial<Readonly<Record<ChoiceKind, number>>>
  /** By liveness property, the number of executions in which it held at some time. */
  readonly live: Readonly<Record<string, number>>
  readonly sights: readonly Sight[]
}

export class Meetings {
  readonly #steps: Partial<Record<ChoiceKind, number>> = {}
  readonly #live: Record<string, number> = {}
  readonly #sights = new Map<string, Sight>()

  add({ schedule, lastLive, sights }: Pick<TaskOutcome, 'schedule' | 'lastLive' | 'sights'>): void {
    for (const { kind } of schedule) this.#steps[kind] = (this.#steps[kind] ?? 0) + 1
    for (const name of lastLive.keys()) this.#live[name] = (this.#live[name] ?? 0) + 1
    this.#addSights(sights)
  }

  /** Adds what another search of the same system met. */
  addMet({ steps, live, sights }: Met): void {
    for (const [kind, count] of Object.entries(steps))
      this.#steps[kind as ChoiceKind] = (this.#steps[kind as ChoiceKind] ?? 0) + count
    for (const [name, count] of Object.entries(live)) this.#live[name] = (this.#live[name] ?? 0) + count
    this.#addSights(sights)
  }

  #addSights(sights: readonly Sight[]): void {
    for (const { what, count, example } of sights) {
      const known = this.#sights.get(what)
      const first = known?.example ?? example
      this.#sights.set(what, {
        what,
        count: count + (known?.count ?? 0),
        ...(first !== undefined && { example: first }),
      })
    }
  }

  get met(): Met {
    return { steps: this.#steps, live: this.#live, sights: [...this.#sights.values()] }
  }
}
