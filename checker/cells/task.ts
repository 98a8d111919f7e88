import type { Walk } from '../choosers/chooser.ts'
import type { Surprise } from '../choosers/surprise.ts'
import type { CallResult } from '../choosers/vain-calls.ts'
import type { Nearest } from '../system/nearness.ts'
import type { NodeSight } from '../system/node-system.ts'
import type { NodeStart, Start } from '../system/start.ts'
import type { Abstraction, Choice, Sight } from '../system/system.ts'
import type { Bounds } from './bounds.ts'
import type { Violation } from './violation.ts'

/** What an execution is for. `audit`: the same choices after two schedules whose states look alike. */
export type Purpose = 'search' | 'examination' | 'audit'

/** Walks, one after another, until each of these liveness properties has held since the first walk began. */
export interface UntilLive {
  readonly properties: readonly string[]
  /** A live state counts only after this many steps; 0 by default. */
  readonly stepsMin?: number
  /** The longest that a message may be in flight in these walks. Without it, only the system bounds it. */
  readonly delayMsMax?: number
  readonly walks: readonly Walk[]
}

/** One execution of the whole system that a search requests. It is plain data and comes to the same result in every cell. */
export interface Task extends Bounds {
  readonly start: Start
  /** Whether it must begin with a reset, and never at a saved state. */
  readonly isAnew?: boolean
  /** Whether it must begin on new processes, of which nothing was kept. */
  readonly isOnNewProcesses?: boolean
  /** Walks after the start. */
  readonly walks?: readonly Walk[]
  /**
   * Properties of a healthy network. If one is false after `walks`, the network is healthy from there on, until it holds or
   * is violated, and there are no walks to a live state.
   */
  readonly healthy?: readonly string[]
  /** Walks to a live state, after the start and `walks`. */
  readonly untilLive?: UntilLive
  /** Whether walks end at a violation. */
  readonly untilViolation?: boolean
  /** Once this share of the time that was left at its beginning is over, its walks end as if they were long enough. */
  readonly timeShareMax?: number
  /** Surprises that the walks may look for. If given, the outcome contains what was learned of them. */
  readonly surprises?: readonly Surprise[]
  /** Where calls only ever failed: most walks make none there. */
  readonly vain?: readonly string[]
  /** Whether the outcome records what was enabled and known at the start and after each later step. */
  readonly isWatched?: boolean
}

/** One execution of a node alone that a search requests: its history is all that is executed. Plain data. */
export interface NodeTask {
  readonly start: NodeStart
}

export const isOfNode = (task: Task | NodeTask): task is NodeTask => task.start.at === 'node'

/**
 * Why a walk ended: it reached its goal or its length, the chooser took nothing, or a violation, crash or divergence
 * ended the execution. A walk that settled ends with `length` too.
 */
export type WalkEnd = 'goal' | 'length' | 'terminal' | 'over'

/** The outcome of a task. */
export interface TaskOutcome {
  readonly schedule: readonly Choice[]
  /** The fingerprints of its states, the initial state first. */
  readonly fingerprints: readonly (string | undefined)[]
  /** What fingerprints stand for. */
  readonly abstraction: Abstraction
  /** The first violation. */
  readonly violation: Violation | undefined
  /**
   * The crash or divergence that it met, a violation or not. Nothing is enabled afterwards, which proves nothing.
   */
  readonly finding: Violation | undefined
  /** The longest time that a message was in flight, by the clock of a node whose timer fired meanwhile. */
  readonly delayMs: number
  /** How far clocks were apart, in milliseconds, when a timer fired. */
  readonly skewMs: number
  /** The state that came nearest; `undefined` if nobody measures that. */
  readonly nearest?: Nearest | undefined
  /** Why a property could not be decided; `undefined` if all were decided. */
  readonly undecided?: string | undefined
  /** By liveness property: the last step after which it held. */
  readonly lastLive: ReadonlyMap<string, number>
  /** What was seen at the start. */
  readonly arrival: Arrival
  /** What the walks to a live state came to; `undefined` if there were none. */
  readonly toLive: ToLive | undefined
  /** What calls came to. */
  readonly calls: readonly CallResult[]
  /** What the system met. */
  readonly sights: readonly Sight[]
  /** What was learned about surprises, with the counts of this execution only. */
  readonly surprises: readonly Surprise[]
  /** If requested: what was seen of each state, from the start on. */
  readonly watched?: readonly Watched[]
}

/** The outcome of a `NodeTask`. */
export interface NodeOutcome {
  /** The sight after the last input; `undefined` if the node could not take it. */
  readonly last: NodeSight | undefined
  /** The client that used another node, if that is why. */
  readonly usesOthers?: string
  /** Whether the node cannot be marked where it begins, so that it begins anew for each way: as long as a whole execution does. */
  readonly beginsAnew?: boolean
}

/** What walks to a live state came to. */
export interface ToLive {
  /** The step at which they began. */
  readonly begin: number
  readonly end: WalkEnd
  /**
   * Steps until each of the properties had held, from the beginning of these walks, or of the walk to the end of all calls
   * that came before them.
   */
  readonly steps: number
  /** Whether the system bounded how long messages were in flight. */
  readonly isBound: boolean
}

/** What could be seen of a state. */
export interface Watched {
  /** The enabled choices, in order. */
  readonly enabled: readonly Choice[]
  /** What was known of the state, by name. */
  readonly parts: Readonly<Record<string, string>>
  /** By node, the output of the step that led to this state. */
  readonly printed: Readonly<Record<string, string>>
}

/** What was seen at the start of an execution. */
export interface Arrival {
  /** Steps executed to get there. */
  readonly steps: number
  /** For each of these steps: the step after which it was first enabled. */
  readonly offered: readonly number[]
  /** Places of the labels that were skipped because nothing like them was enabled; empty if a bound on delays or clocks was set. */
  readonly skipped: readonly number[]
  /** The choices enabled there. */
  readonly enabled: readonly Choice[]
  /** For each of them: the step after which it was first enabled. */
  readonly since: readonly number[]
  /** A fingerprint of all inputs up to there; `undefined` if the system does not know. */
  readonly history: string | undefined
  readonly broken: boolean
}
