import type { ViolationKind } from '../cells/violation.ts'
import type { Level } from '../searches/bounded.ts'
import type {
  DeviationCoverage,
  ExploredCoverage,
  LocalCoverage,
  SearchCoverage,
  SearchName,
} from '../searches/search.ts'
import { counted } from '../system/brief.ts'
import type { Abstraction } from '../system/system.ts'
import type { Met } from './sights.ts'

/** The result of a check. */
export interface Verdict {
  /**
   * `held`: nothing was found within the budget; `coverage` says what was executed. `undetermined`: `message` says why.
   */
  readonly verdict: 'violated' | 'held' | 'undetermined'
  /** The violated or suspected property; `null` for a crash or divergence, and if nothing was found. */
  readonly property: string | null
  readonly kind: ViolationKind | null
  readonly executions: number
  readonly spent: Spent
  readonly steps: number
  /** Distinct fingerprints; 0 if the system has none. */
  readonly states: number
  readonly seconds: number
  readonly stepsPerSecond: number
  /** Depth up to which every schedule was executed, or left out as `coverage` says. */
  readonly depth: number
  readonly seed: number
  /** Which random numbers the nodes drew. Their seed is the sum of the check's seed and this. */
  readonly variant: number
  /**
   * Labels of the shortest violating schedule found; for liveness, up to its critical transition. Of a suspect that could
   * not be decided, all of its execution. Empty for `held`.
   */
  readonly schedule: readonly string[]
  readonly criticalTransition: CriticalTransition | null
  /**
   * The longest time, in milliseconds, that a message must be in flight for `schedule` to violate, by the clock of a
   * node whose timer fires meanwhile: 0 if all messages arrive before time passes. `null` for liveness, and if nothing
   * is violated.
   */
  readonly delayMs: number | null
  /**
   * How far clocks must be apart for such a violation, in milliseconds: the least bound with which it was met again. 0 if
   * it was met with one clock for all nodes. `null` for liveness, if it was met with no bound, and if nothing is violated.
   */
  readonly skewMs: number | null
  /** Whether the schedule was executed again from the start and violated the same at the same step. */
  readonly repeated: boolean
  /**
   * One line: what was found and how certain it is, or what was covered, or why nothing can be said. Further lines hold
   * the property's explanation.
   */
  readonly message: string
  /** Of a death: the end of `message`, which says what it rests on. */
  readonly evidence?: string
  /** How it was found, before it was examined; `null` if nothing was found. */
  readonly discovery: Discovery | null
  /**
   * What came before a message that had waited longer, where the violation depends on that; empty if it depends on no such
   * order. Absent in an older trace, of a verdict that names no violation, and if the time for it was over.
   */
  readonly overtakings?: readonly Overtaking[]
  /** From states of `schedule`, the share of walks that end badly; absent as `overtakings` is. */
  readonly curve?: Curve
  /** A live execution that leaves `schedule` just before the critical transition. */
  readonly closestLive: readonly string[] | null
  readonly coverage: Coverage
  readonly met: Met
  /** A line for each finding that did not repeat: the finding, and the step where it diverged. */
  readonly notRepeated: readonly string[]
  /** The schedule of the first of these; `null` if everything repeated. */
  readonly unsteady: Unsteady | null
  /**
   * Of an undetermined verdict about no property: the execution that could not be decided, or one to look at; `null` if
   * none was done.
   */
  readonly inDoubt: Unsteady | null
  /** What a reader must know to trust the verdict, one line each: what could not be done, and what was assumed. */
  readonly notes: readonly string[]
}

/** What the executions were for. They add up to `executions`. */
export interface Spent {
  readonly search: number
  /** On the way to the goal, and whatever was executed before to examine it. */
  readonly goal: number
  /** To see whether what was suspected repeats, or whether a system recovers, and to find the shortest schedule to it. */
  readonly examination: number
  /** To compare the futures of two states that look alike. */
  readonly audit: number
}

/** A schedule that had different results, or whose result is in doubt. */
export interface Unsteady {
  readonly schedule: readonly string[]
  readonly variant: number
}

/** The execution in which a violation was first seen. */
export interface Discovery {
  /** The search that requested it. */
  readonly by: SearchName
  /** Index of the execution, from 1. */
  readonly execution: number
  /** Steps to the violation, or to the end of the walk that did not become live. */
  readonly steps: number
  /** Seconds since the search began. */
  readonly seconds: number
}

/** The step after which recovery is impossible. */
export interface CriticalTransition {
  /** Counted from 1; 0 if the initial state is dead. */
  readonly step: number
  readonly label: string
  /** `C1`: dead from there on. `C2`: the walks were too short to tell. */
  readonly case: 'C1' | 'C2'
  /** Number and length limit of walks from the state after it, none of which recovered; 0 if none was needed. */
  readonly walks: number
  readonly walkLength: number
}

/**
 * A step that came before a message which had waited longer for the same node, and that what was found depends on: with
 * the message delivered just before the step, the same schedule does not come to it.
 */
export interface Overtaking {
  /** The step that came first, counted from 1, and its label. */
  readonly step: number
  readonly label: string
  /** Label of the message that had waited longer. */
  readonly overtaken: string
  /** The step after which it could have been delivered; 0 is the start. */
  readonly since: number
  /** The step that delivered it; `null` if it was in flight at the end. */
  readonly delivered: number | null
}

/** From states of a violating schedule, the share of random walks that end badly too. */
export interface Curve {
  /** Walks from each state. */
  readonly walks: number
  /** Most steps of each walk. */
  readonly length: number
  readonly points: readonly CurvePoint[]
}

export interface CurvePoint {
  /** The state after this step; 0 is the start. */
  readonly step: number
  /** How many of the walks from there came to such a violation or, for liveness, to no state in which the property holds. */
  readonly bad: number
}

/** What a search executed, and what it left out. */
export interface Coverage {
  /** The bounded search, by depth. */
  readonly levels: readonly Level[]
  /** The coverage of each search, in the same words. */
  readonly searches: readonly SearchCoverage[]
  /** Schedules after which the search stopped because they led to a known state. */
  readonly pruned: number
  /** What told states apart when schedules were pruned; `null` if none was pruned. */
  readonly prunedBy: Abstraction | null
  /** How many pruned states were audited: the same choices after both schedules came to the same. */
  readonly audited: number
  /** Whether the bounded search ended because every schedule was executed to its end. */
  readonly exhausted: boolean
  /** Executions that came to their end. */
  readonly completed: number
  /** Executions that contained a random walk. */
  readonly walks: number
  /** The most steps that a walk needed to reach a live state. */
  readonly stepsToLive: number
  /** How many walks needed 0, 1, 2-3, 4-7, 8-15 … steps to reach a live state. */
  readonly walksToLive: readonly number[]
  /** Walks that were not live for their whole length, but recovered when given more steps. */
  readonly transient: number
  /** Executions that do not count, because something around the system failed. */
  readonly unfaithful: number
  /** Schedules that could be executed once and never again. Nothing after them was searched. */
  readonly givenUp: number
  /** Executions that ended by a crash or divergence although only a property was looked for. Nothing after it was searched. */
  readonly broken: number
  /** Figures of a local search; null if there was none, absent in older traces. */
  readonly local?: LocalCoverage | null
  /** Figures of a search by deviations; null if there was none, absent in older traces. */
  readonly deviations?: DeviationCoverage | null
  /** Figures of consequence prediction; null if there was none, absent in older traces. */
  readonly consequence?: ExploredCoverage | null
}

/** The progress of a search at one time. */
export interface Sample {
  /** Seconds since it began. */
  readonly seconds: number
  readonly executions: number
  readonly states: number
}

/** A verdict as stored at the end of a trace. */
export interface RecordedVerdict extends Verdict {
  /** Progress of the search; absent in older traces, and if nothing was searched for. */
  readonly growth?: readonly Sample[]
  /** What was predicted from states of a run; absent in an older trace, and if nothing was. */
  readonly predicted?: readonly RecordedPrediction[]
}

/** A violation that was predicted, and told. */
export interface RecordedPrediction {
  /** Of the run, from which the violation is ahead. */
  readonly step: number
  /** `safety neverOversold`. */
  readonly what: string
  /** On the way there. */
  readonly steps: number
  /** From what a prompt network does; absent if it was predicted by consequence. */
  readonly deviations?: number
}

/** `in 4 steps, 2 deviations`. */
export const describePrediction = ({ steps, deviations }: Pick<RecordedPrediction, 'steps' | 'deviations'>): string =>
  `in ${counted(steps, 'step')}, ${deviations === undefined ? 'by consequence' : counted(deviations, 'deviation')}`

/** Addition to a line if some executions do not count, with the reason of the first; empty if all count. */
export const describeUnfaithful = (executions: number, why: string | undefined): string =>
  why === undefined ? '' : `; ${executions} do not count: ${why}`

/** One line for a search that found nothing. */
export const describeCoverage = (
  searched: Pick<Verdict, 'executions' | 'steps' | 'states' | 'depth'> & {
    coverage: Pick<
      Coverage,
      | 'exhausted'
      | 'unfaithful'
      | 'givenUp'
      | 'broken'
      | 'pruned'
      | 'prunedBy'
      | 'audited'
      | 'local'
      | 'deviations'
      | 'consequence'
    >
    /** Why the first execution that does not count does not. */
    disturbance?: string | undefined
  },
): string => {
  const { executions, steps, states, coverage, disturbance } = searched
  const unfaithful = describeUnfaithful(coverage.unfaithful, disturbance)
  const givenUp =
    coverage.givenUp > 0 ? `; ${coverage.givenUp} did not repeat, and what comes after them was not searched` : ''
  const broken =
    coverage.broken > 0
      ? `; ${coverage.broken} ended by a crash or divergence, and what comes after it was not searched`
      : ''
  return `no violation in ${counted(executions, 'execution')} with ${counted(steps, 'step')} and ${counted(states, 'state')}${describeAmong(searched)}${describeLocal(coverage)}${describeExplored(coverage)}${unfaithful}${givenUp}${broken}`
}

const describeExplored = ({
  deviations: ordered,
  consequence,
}: Pick<Coverage, 'deviations' | 'consequence'>): string => {
  const found = ordered ?? consequence
  if (!found) return ''
  const { transitions, executed, localStates, states, depth, exhausted } = found
  const how = ordered ? 'by deviations' : 'by consequence'
  const far = ordered ? `, to ${ordered.deviations} deviations from a prompt network` : ''
  const all = exhausted ? (ordered ? ' (all that there are)' : ', with no consequence left') : far
  return `; ${how} ${transitions} steps of nodes to ${states} states of the system${all}, at most ${depth} steps away: nodes took ${executed} inputs for that, to ${localStates} states of their own`
}

const describeLocal = ({ local }: Pick<Coverage, 'local'>): string => {
  if (!local) return ''
  const { transitions, localStates, systemStates, soundnessChecks, exhausted } = local
  const all = exhausted ? ', with no input left to try' : ''
  return `; nodes alone took ${transitions} inputs to ${localStates} states${all}; they were combined into ${systemStates} states of the system, and for ${soundnessChecks} of these an order of events was looked for`
}

/** How far all schedules were covered, and what was left out. */
const describeAmong = ({
  depth,
  coverage: { exhausted, pruned, prunedBy, audited },
}: Parameters<typeof describeCoverage>[0]): string => {
  if (!exhausted && depth === 0) return ''
  const all = exhausted ? 'every schedule to its end' : `every schedule of up to ${counted(depth, 'step')}`
  if (pruned === 0 || prunedBy === null || prunedBy === 'whole') return `; among them ${all}`
  const looked = audited > 0 ? `, ${audited} of which were audited and had the same future` : ''
  const times = pruned === 1 ? 'once' : `${pruned} times`
  return `; among them ${all}, except after a state that ${taken[prunedBy]} (${times}${looked})`
}

const taken = {
  observed: 'looks like a known one',
  history: 'has the same inputs of each node as a known one',
} as const
