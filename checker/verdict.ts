import type { CriticalTransition } from './critical.ts'

/** What a check came to. */
export interface Verdict {
  readonly verdict: 'violated' | 'held' | 'undetermined'
  /** The property that is violated; `null` for a crash or divergence, and where nothing is violated. */
  readonly property: string | null
  readonly kind: 'safety' | 'liveness' | 'divergence' | 'crash' | null
  readonly executions: number
  readonly steps: number
  /** Distinct fingerprints. */
  readonly states: number
  readonly seconds: number
  readonly stepsPerSecond: number
  /** Depth up to which every schedule was searched. */
  readonly depth: number
  readonly seed: number
  /** Labels of the shortest violating schedule found; empty where nothing is violated. */
  readonly schedule: readonly string[]
  readonly criticalTransition: CriticalTransition | null
  /** Whether the schedule was executed again and violated the same again. */
  readonly repeated: boolean
  /** One line: what was found, or why nothing could be. */
  readonly message: string
  /** The live execution closest to a liveness violation. */
  readonly closestLive: readonly string[] | null
  /** Schedules not searched beyond, because they led to a state known already. */
  readonly pruned: number
  /** The most steps that a live state was away, in what was executed. */
  readonly stepsToLive: number
  /** What was found once and did not repeat. */
  readonly notRepeated: readonly string[]
}
