import type { TaskOutcome } from '../cells/task.ts'
import { isFault } from '../happening/kinds.ts'
import type { Choice } from '../system/system.ts'

/**
 * Executions that are kept, the latest ones, and the number of their last steps. More would take memory and lookup
 * time.
 */
const keptMax = 64
const stepsMax = 8_000

/** Paths from known states to live ones, taken from live executions. They are tried first when a state seems dead. */
export class WaysToLife {
  readonly #kept: { readonly schedule: readonly Choice[]; readonly steps: ReadonlyMap<string, number> }[] = []

  /** Adds an execution that was live after step `live`. Paths with a fault are left out: see `recover`. */
  learn({ schedule, fingerprints }: Pick<TaskOutcome, 'schedule' | 'fingerprints'>, live: number): void {
    const steps = new Map<string, number>()
    const least = Math.max(0, live - stepsMax)
    let first = live
    while (first > least && !isFault(schedule[first - 1]!.kind)) first -= 1
    for (const [step, fingerprint] of fingerprints.slice(first, live).entries())
      if (fingerprint !== undefined) steps.set(fingerprint, step)
    if (steps.size === 0) return
    this.#kept.push({ schedule: schedule.slice(first, live), steps })
    if (this.#kept.length > keptMax) this.#kept.shift()
  }

  /** The shortest known path from this state to a live one. */
  from(fingerprint: string): readonly Choice[] | undefined {
    let shortest: readonly Choice[] | undefined
    for (const { schedule, steps } of this.#kept) {
      const step = steps.get(fingerprint)
      if (step === undefined || schedule.length - step >= (shortest?.length ?? Number.POSITIVE_INFINITY)) continue
      shortest = schedule.slice(step)
    }
    return shortest
  }
}
