import type { Choice } from '../system.ts'

/**
 * Chooses the next step of an execution among what is enabled, or `undefined` where it takes none of that. It knows neither
 * cells nor executions. Where it draws, it draws from a `Random`: the same seed on the same system gives the same walk.
 */
export type Chooser = (enabled: readonly Choice[]) => Choice | undefined

/** The choosers that there are: each is described where it is made, see `chooserOf`. */
export type ChooserName =
  | 'straight'
  | 'fresh'
  | 'healthy'
  | 'conversations'
  | 'fair'
  | 'swarm'
  | 'fair swarm'
  | 'race'
  | 'late race'
  | 'priorities'
  | 'again'

/** A walk: so many steps by a chooser. It is plain data, and goes the same wherever it is done. */
export interface Walk {
  readonly chooser: ChooserName
  readonly seed: number
  /** In steps, at most. */
  readonly length: number
  /** Of `again`: what is to be executed. */
  readonly steps?: readonly Again[]
}

/** A step that was executed elsewhere, by what it was about. */
export interface Again {
  /** What it said: see `saidBy`. */
  readonly said: string
  /** Among the choices that were enabled there and said this, which one; 0 is the first. */
  readonly rank: number
}
