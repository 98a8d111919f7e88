import type { TaskOutcome } from '../cells/task.ts'
import { labelsOf } from '../labels.ts'
import type { ChoiceKind, Sight } from '../system.ts'

/** What a search has met, summed over its executions. Properties were never tested on anything that is missing here. */
export interface Met {
  /** Steps by kind of choice. */
  readonly steps: Partial<Readonly<Record<ChoiceKind, number>>>
  /** By liveness property, the number of executions in which it held at some time. */
  readonly live: Readonly<Record<string, number>>
  readonly sights: readonly Sight[]
  /** One execution to look at: of those with the most kinds of steps, the first. */
  readonly sample?: SampleExecution | undefined
}

export interface SampleExecution {
  /** Labels. */
  readonly schedule: readonly string[]
  readonly variant: number
}

/** With more, a service that returns times or random numbers fills the memory of a long check. */
const ofGroupMax = 100

export class Meetings {
  readonly #steps: Partial<Record<ChoiceKind, number>> = {}
  readonly #live: Record<string, number> = {}
  readonly #sights = new Map<string, Sight>()
  /** Number of sights that are kept, by group. */
  readonly #groups = new Map<string, number>()
  #sample: SampleExecution | undefined
  #kindsOfSample = 0

  add({ schedule, lastLive, sights }: Pick<TaskOutcome, 'schedule' | 'lastLive' | 'sights'>, variant: number): void {
    const kinds = new Set(schedule.map(({ kind }) => kind)).size
    if (kinds > this.#kindsOfSample) {
      this.#kindsOfSample = kinds
      this.#sample = { schedule: labelsOf(schedule), variant }
    }
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
    for (const { what, count, example, group } of sights) {
      const known = this.#sights.get(what)
      if (!known && group !== undefined && !this.#isRoom(group)) continue
      const first = known?.example ?? example
      this.#sights.set(what, {
        what,
        count: count + (known?.count ?? 0),
        ...(first !== undefined && { example: first }),
        ...(group !== undefined && { group }),
      })
    }
  }

  /** Whether another sight of a group may be kept, which is then counted. */
  #isRoom(group: string): boolean {
    const kept = this.#groups.get(group) ?? 0
    this.#groups.set(group, kept + 1)
    return kept < ofGroupMax
  }

  get met(): Met {
    return { steps: this.#steps, live: this.#live, sights: [...this.#sights.values()], sample: this.#sample }
  }
}
