import type { Choice } from '../system/system.ts'

/**
 * Chooses the next step of an execution among the enabled choices, or `undefined` to end. It knows neither cells nor
 * executions. Random choices come from a `Random`, so the same seed on the same system gives the same walk.
 */
export type Chooser = (enabled: readonly Choice[]) => Choice | undefined

/** The choice of which a number is least; of several, the first. */
export const firstBy = (choices: readonly Choice[], numberOf: (choice: Choice) => number): Choice | undefined => {
  let first: Choice | undefined
  for (const choice of choices) if (!first || numberOf(choice) < numberOf(first)) first = choice
  return first
}

/** All choosers. Each is described where it is made; see `chooserOf`. */
export type ChooserName =
  | 'straight'
  | 'prompt'
  | 'fresh'
  | 'healthy'
  | 'conversations'
  | 'fair'
  | 'swarm'
  | 'fair swarm'
  | 'race'
  | 'late race'
  | 'priorities'
  | 'long waits'
  | 'interrupted'
  | 'in time'
  | 'again'

/** A walk: up to `length` steps by a chooser. It is plain data and gives the same steps in every cell. */
export interface Walk {
  readonly chooser: ChooserName
  readonly seed: number
  /** At most, in steps. */
  readonly length: number
  /** The walk ends after this many steps, or twice as many and so on, if their second half met no new state. */
  readonly settlesFrom?: number
  /** Steps up to which the walk goes on beyond its length while a client has a call left or is in one. */
  readonly callsMax?: number
  /** For `again`: the steps to repeat. */
  readonly steps?: readonly Again[]
}

/** A step of another execution, by its content. */
export interface Again {
  /** Its content: see `saidBy`. */
  readonly said: string
  /** Its rank among the choices with this content that were enabled there; 0 is the first. */
  readonly rank: number
}
