import type { Violation } from './executor.ts'
import type { Surprise } from './surprise.ts'
import type { Choice } from './system.ts'
import type { WalkEnd } from './walk.ts'

/** How a walk takes its steps; what each means is in `manners.ts`. */
export type Manner = 'straight' | 'fresh' | 'fair' | 'swarm' | 'fair swarm' | 'race' | 'late race' | 'priorities'

/** A walk, said so that it goes the same wherever it is done. */
export interface Leg {
  readonly manner: Manner
  readonly seed: number
  /** In steps. */
  readonly length: number
}

/** Walks, one after the other, until each of some liveness properties has been live since the first of them began. */
export interface UntilLive {
  readonly properties: readonly string[]
  /** A live state counts only after so many steps; 0 by default. */
  readonly stepsMin?: number
  readonly legs: readonly Leg[]
}

/** One execution that a search asks for, said as plain data: whichever cell does it, it comes to the same. */
export interface Task {
  /** What is executed first. */
  readonly labels: readonly string[]
  /** A label that is not enabled when its turn comes is left out, up to the first violation; else it has `Diverged`. */
  readonly isLenient?: boolean
  /** Of what a node may compute in a step before it counts as diverging, the share that it may here; 1 by default. */
  readonly patience?: number
  /** Walks from there. */
  readonly legs?: readonly Leg[]
  /** Walks from there. */
  readonly untilLive?: UntilLive
  /** Whether walks end at a violation. */
  readonly untilViolation?: boolean
  /** What the walks may look for; given, the outcome says what was learned of it. */
  readonly surprises?: readonly Surprise[]
}

/** What came of a task. */
export interface Outcome {
  readonly schedule: readonly Choice[]
  /** Of its states, the initial one first. */
  readonly fingerprints: readonly (string | undefined)[]
  /** The first one. */
  readonly violation: Violation | undefined
  /** Whether it met a crash or a divergence: nothing is enabled any more, which proves nothing. */
  readonly broken: boolean
  /** By liveness property, the last step after which it was live. */
  readonly lastLive: ReadonlyMap<string, number>
  /** Where the labels were executed. */
  readonly arrival: Arrival
  /** The step at which the walks to a live state began, and how they ended; `undefined` where there were none. */
  readonly toLive: { readonly begin: number; readonly end: WalkEnd } | undefined
  /** What is new about surprises: counts are those of this execution alone. */
  readonly surprises: readonly Surprise[]
}

export interface Arrival {
  /** Steps executed. */
  readonly steps: number
  /** For each of them, the step after which it was first offered. */
  readonly offered: readonly number[]
  /** What was enabled there. */
  readonly enabled: readonly Choice[]
  readonly broken: boolean
}
