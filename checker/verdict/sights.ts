import type { TaskOutcome } from '../cells/task.ts'
import { labelsOf } from '../system/labels.ts'
import type { ChoiceKind, Sight } from '../system/system.ts'

/** What a search has met, summed over its executions. Properties were never tested on anything that is missing here. */
export interface Met {
  /** Steps by kind of choice. */
  readonly steps: Partial<Readonly<Record<ChoiceKind, number>>>
  /** By kind of choice, the number of executions with such a step. */
  readonly executions: Partial<Readonly<Record<ChoiceKind, number>>>
  /** By node, how many steps fired one of its timers. */
  readonly timers: Readonly<Record<string, number>>
  readonly sights: readonly Sight[]
  /** One execution to look at: of those with the most kinds of steps, the first. */
  readonly sample?: SampleExecution | undefined
  /** The execution to the state that came nearest to what was looked for, if that was measured. */
  readonly nearest?: SampleExecution | undefined
}

export interface SampleExecution {
  /** Labels. */
  readonly schedule: readonly string[]
  readonly variant: number
}

export const countOf = (sights: readonly Sight[], name: string): number =>
  sights.find(({ what }) => what === name)?.count ?? 0

/** With more, a service that returns times or random numbers fills the memory of a long check. */
const ofGroupMax = 100

export class Meetings {
  readonly #steps: Partial<Record<ChoiceKind, number>> = {}
  readonly #executions: Partial<Record<ChoiceKind, number>> = {}
  readonly #timers: Record<string, number> = {}
  readonly #sights = new Map<string, Sight>()
  /** Number of sights that are kept, by group. */
  readonly #groups = new Map<string, number>()
  #sample: SampleExecution | undefined
  #kindsOfSample = 0
  #nearest: SampleExecution | undefined
  #nearness = 0

  add({ schedule, sights, nearest }: Pick<TaskOutcome, 'schedule' | 'sights' | 'nearest'>, variant: number): void {
    if (nearest && nearest.score > this.#nearness) {
      this.#nearness = nearest.score
      this.#nearest = { schedule: labelsOf(schedule.slice(0, nearest.step)), variant }
    }
    const kinds = new Set(schedule.map(({ kind }) => kind))
    if (kinds.size > this.#kindsOfSample) {
      this.#kindsOfSample = kinds.size
      this.#sample = { schedule: labelsOf(schedule), variant }
    }
    for (const { kind, node } of schedule) {
      count(this.#steps, kind)
      if (kind === 'timer') count(this.#timers, node)
    }
    for (const kind of kinds) count(this.#executions, kind)
    this.#addSights(sights)
  }

  /** Adds what another search of the same system met. */
  addMet({ steps, executions, timers, sights }: Met): void {
    for (const [kind, times] of Object.entries(steps)) count(this.#steps, kind as ChoiceKind, times)
    for (const [kind, times] of Object.entries(executions)) count(this.#executions, kind as ChoiceKind, times)
    for (const [node, times] of Object.entries(timers)) count(this.#timers, node, times)
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
    return {
      steps: this.#steps,
      executions: this.#executions,
      timers: this.#timers,
      sights: [...this.#sights.values()],
      sample: this.#sample,
      ...(this.#nearest && { nearest: this.#nearest }),
    }
  }
}

const count = <Name extends string>(counts: Partial<Record<Name, number>>, name: Name, times = 1): void => {
  counts[name] = (counts[name] ?? 0) + times
}
