import type { Level } from '../searches/bounded.ts'
import type { LocalCoverage, SearchCoverage, SearchName } from '../searches/search.ts'
import type { Abstraction } from '../system.ts'
import type { Met } from './sights.ts'

/** What a check came to. */
export interface Verdict {
  /** `held`: within the budget, which `coverage` describes. `undetermined`: `message` says why. */
  readonly verdict: 'violated' | 'held' | 'undetermined'
  /** The property that is violated or suspected; `null` for a crash or a divergence, and where there is nothing. */
  readonly property: string | null
  readonly kind: 'safety' | 'liveness' | 'divergence' | 'crash' | null
  readonly executions: number
  readonly steps: number
  /** Distinct fingerprints; 0 where the system has none. */
  readonly states: number
  readonly seconds: number
  readonly stepsPerSecond: number
  /** Depth up to which every schedule was executed, or left out as `coverage` says. */
  readonly depth: number
  readonly seed: number
  /** Which random numbers the nodes drew: they are started with the seed and this, added. */
  readonly variant: number
  /** Labels of the shortest violating schedule found, to its critical transition for liveness; empty for `held`. */
  readonly schedule: readonly string[]
  readonly criticalTransition: CriticalTransition | null
  /**
   * The longest that a message has to be on its way, by the clock of a node whose timer fires meanwhile, for `schedule` to
   * violate: 0 where a network does that delivers all before time passes. `null` for liveness, and where nothing is violated.
   */
  readonly delayMs: number | null
  /** Whether the schedule was executed again, from the start, and violated the same at the same step. */
  readonly repeated: boolean
  /**
   * One line: what was found and how sure it is, or what was covered, or why nothing can be said. Below it, what a
   * property explains.
   */
  readonly message: string
  /** How it was found, before it was examined; `null` where nothing was. */
  readonly discovery: Discovery | null
  /** A live execution that leaves `schedule` just before the critical transition. */
  readonly closestLive: readonly string[] | null
  readonly coverage: Coverage
  readonly met: Met
  /** One line for each thing that was found once and did not repeat: what, and where it diverged. */
  readonly notRepeated: readonly string[]
  /** The schedule of the first of these; `null` where everything repeated. */
  readonly unsteady: Unsteady | null
  /** One line for each thing that a reader has to know to trust the verdict: what could not be done, what was assumed. */
  readonly notes: readonly string[]
}

/** A schedule that did not do the same twice. */
export interface Unsteady {
  readonly schedule: readonly string[]
  readonly variant: number
}

/** The execution in which a violation was first seen. */
export interface Discovery {
  /** What led it there. */
  readonly by: SearchName
  /** Counted from 1. */
  readonly execution: number
  /** Steps to the violation, or to the end of the walk that did not become live. */
  readonly steps: number
  /** Since the search began. */
  readonly seconds: number
}

/** The step after which recovery is impossible. */
export interface CriticalTransition {
  /** Counted from 1; 0: the initial state is dead. */
  readonly step: number
  readonly label: string
  /** `C1`: dead from there on. `C2`: the walks were too short to tell. */
  readonly case: 'C1' | 'C2'
  /** Walks from the state after it, none of which recovered, and the most steps that each had; 0 where none was needed. */
  readonly walks: number
  readonly walkLength: number
}

/** What a search looked at, and what it left out. */
export interface Coverage {
  /** The bounded search, by depth. */
  readonly levels: readonly Level[]
  /** What each search has looked at, in the same words. */
  readonly searches: readonly SearchCoverage[]
  /** Schedules not searched beyond, because they led to a state known already. */
  readonly pruned: number
  /** By what these states were taken for known; `null` where none was. */
  readonly prunedBy: Abstraction | null
  /** How many of them were gone on from both ways with the same choices, and came to the same. */
  readonly audited: number
  /** Whether the bounded search came to its end because no schedule goes on: every state was seen. */
  readonly exhausted: boolean
  /** Executions that were carried to their end. */
  readonly completed: number
  /** Executions that went on, or began, as a random walk. */
  readonly walks: number
  /** The most steps that a live state was away. */
  readonly stepsToLive: number
  /** How many walks had to go 0, 1, 2-3, 4-7, 8-15 … steps to a live state. */
  readonly walksToLive: readonly number[]
  /** Walks that were not live for their whole length, and recovered when given more. */
  readonly transient: number
  /** Executions that do not count, because the network was not faithful in them. */
  readonly unfaithful: number
  /** Schedules that could be executed once and never again: nothing after them was searched. */
  readonly givenUp: number
  /** What a local search did; null where there was none, absent in older traces. */
  readonly local?: LocalCoverage | null
}

/** How far a search was at some time. */
export interface Sample {
  /** Since it began. */
  readonly seconds: number
  readonly executions: number
  readonly states: number
}

/** A verdict as a trace ends with it. */
export interface RecordedVerdict extends Verdict {
  /** How the search went on; absent in older traces, and where nothing was searched for. */
  readonly growth?: readonly Sample[]
}

/** What is added to a line where some executions do not count, and why the first of them does not; nothing for none. */
export const describeUnfaithful = (executions: number, why: string | undefined): string =>
  why === undefined ? '' : `; ${executions} do not count: ${why}`

/** One line for a search that found nothing. */
export const describeCoverage = (
  searched: Pick<Verdict, 'executions' | 'steps' | 'states' | 'depth'> & {
    coverage: Pick<Coverage, 'exhausted' | 'unfaithful' | 'givenUp' | 'pruned' | 'prunedBy' | 'audited' | 'local'>
    /** Why the first execution that does not count does not. */
    disturbance?: string | undefined
  },
): string => {
  const { executions, steps, states, coverage, disturbance } = searched
  const unfaithful = describeUnfaithful(coverage.unfaithful, disturbance)
  const givenUp =
    coverage.givenUp > 0 ? `; ${coverage.givenUp} did not repeat, and what comes after them was not searched` : ''
  return `no violation in ${executions} executions with ${steps} steps and ${states} states${describeAmong(searched)}${describeLocal(coverage)}${unfaithful}${givenUp}`
}

const describeLocal = ({ local }: Pick<Coverage, 'local'>): string => {
  if (!local) return ''
  const { transitions, localStates, systemStates, soundnessChecks, exhausted } = local
  const all = exhausted ? ', and no input was left' : ''
  return `; nodes alone took ${transitions} inputs to ${localStates} states${all}; of these ${systemStates} states of the system were combined, and ${soundnessChecks} orders of events looked for`
}

/** What can be said of all schedules, and what was left out of them. */
const describeAmong = ({
  depth,
  coverage: { exhausted, pruned, prunedBy, audited },
}: Parameters<typeof describeCoverage>[0]): string => {
  if (!exhausted && depth === 0) return ''
  const all = exhausted ? 'every schedule to its end' : `every schedule of up to ${depth} steps`
  if (pruned === 0 || prunedBy === null || prunedBy === 'whole') return `; among them ${all}`
  const looked = audited > 0 ? `, ${audited} of which were gone on from and came to the same` : ''
  const times = pruned === 1 ? 'once' : `${pruned} times`
  return `; among them ${all}, but for what follows a state that ${taken[prunedBy]} (${times}${looked})`
}

const taken = {
  observed: 'looks like one met before',
  history: 'comes of the same inputs to each node as one met before',
} as const
