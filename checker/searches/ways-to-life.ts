import type { TaskOutcome } from '../cells/task.ts'
import { type Choice, faultKinds } from '../system.ts'

/** So many executions are kept, the last ones. */
const keptMax = 64

/** From which states live executions came to life, and how: what was seen to work is tried first where a state seems dead. */
export class WaysToLife {
  readonly #kept: { readonly schedule: readonly Choice[]; readonly steps: ReadonlyMap<string, number> }[] = []

  /** Takes in an execution that was live after this step. A way that takes a fault is none: see `recover`. */
  learn({ schedule, fingerprints }: Pick<TaskOutcome, 'schedule' | 'fingerprints'>, live: number): void {
    const steps = new Map<string, number>()
    const lastFault = schedule.slice(0, live).findLastIndex(({ kind }) => faultKinds.includes(kind))
    for (let step = lastFault + 1; step < live; step++) {
      const fingerprint = fingerprints[step]
      if (fingerprint !== undefined) steps.set(fingerprint, step)
    }
    if (steps.size === 0) return
    this.#kept.push({ schedule: schedule.slice(0, live), steps })
    if (this.#kept.length > keptMax) this.#kept.shift()
  }

  /** The shortest way from this state to a live one. */
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
