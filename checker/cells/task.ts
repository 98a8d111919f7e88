import type { Walk } from '../choosers/chooser.ts'
import type { Surprise } from '../choosers/surprise.ts'
import type { Start } from '../start.ts'
import type { Abstraction, Choice, Sight } from '../system.ts'
import type { Violation } from './violation.ts'

/** Walks, one after the other, until each of some liveness properties has been live since the first of them began. */
export interface UntilLive {
  readonly properties: readonly string[]
  /** A live state counts only after so many steps; 0 by default. */
  readonly stepsMin?: number
  readonly walks: readonly Walk[]
}

/** One execution that a search asks for, said as plain data: whichever cell does it, it comes to the same. */
export interface Task {
  readonly start: Start
  /** Whether the way to the start begins with a reset in any case, and never at a state that was saved. */
  readonly isAnew?: boolean
  /** Of what a node may compute in a step before it counts as diverging, the share that it may here; 1 by default. */
  readonly patience?: number
  /** The longest that a message may be on its way here; as long as the system lets it be, by default. */
  readonly delayMsMax?: number
  /** Walks from there. */
  readonly walks?: readonly Walk[]
  /** Walks from there. */
  readonly untilLive?: UntilLive
  /** Whether walks end at a violation. */
  readonly untilViolation?: boolean
  /** What the walks may look for; given, the outcome says what was learned of it. */
  readonly surprises?: readonly Surprise[]
  /** Whether the outcome tells what was enabled and known at the start, and after each step from there. */
  readonly isWatched?: boolean
}

/**
 * Why a walk ended: its goal was reached, its length was, the chooser found nothing to take, or the execution is over by a
 * violation, a crash or a divergence.
 */
export type WalkEnd = 'goal' | 'length' | 'terminal' | 'over'

/** What came of a task. */
export interface TaskOutcome {
  readonly schedule: readonly Choice[]
  /** Of its states, the initial one first. */
  readonly fingerprints: readonly (string | undefined)[]
  /** What fingerprints stand for. */
  readonly abstraction: Abstraction
  /** The first one. */
  readonly violation: Violation | undefined
  /** Whether it met a crash or a divergence: nothing is enabled any more, which proves nothing. */
  readonly broken: boolean
  /** The longest that a message was on its way, by the clock of a node whose timer fired meanwhile. */
  readonly delayMs: number
  /** Why nothing can be said of a property in it; `undefined` where all could be decided. */
  readonly undecided?: string | undefined
  /** By liveness property, the last step after which it was live. */
  readonly lastLive: ReadonlyMap<string, number>
  /** At the start. */
  readonly arrival: Arrival
  /** The step at which the walks to a live state began, and how they ended; `undefined` where there were none. */
  readonly toLive: { readonly begin: number; readonly end: WalkEnd } | undefined
  /** What the system met. */
  readonly sights: readonly Sight[]
  /** What is new about surprises: counts are those of this execution alone. */
  readonly surprises: readonly Surprise[]
  /** Where it was asked for: by state, from the start on. */
  readonly watched?: readonly Watched[]
}

/** What could be seen of a state. */
export interface Watched {
  /** What was enabled, in order. */
  readonly enabled: readonly Choice[]
  /** What was known, by name. */
  readonly parts: Readonly<Record<string, string>>
  /** What the step printed that led there. */
  readonly printed: Readonly<Record<string, string>>
}

/** What could be seen at the start of an execution. */
export interface Arrival {
  /** Steps executed to get there. */
  readonly steps: number
  /** For each of them, the step after which it was first offered. */
  readonly offered: readonly number[]
  /** What was enabled there. */
  readonly enabled: readonly Choice[]
  /** What the nodes were given until there; `undefined` where the system does not know. */
  readonly history: string | undefined
  readonly broken: boolean
}
