import type { Verdict } from '../checker/verdict/verdict.ts'
import type { Checked } from './check.ts'
import type { Difference } from './repetition.ts'

/** What a check came to, as `--json` prints it and `check` of the package returns it. */
export interface Outcome {
  readonly verdict: Verdict['verdict']
  readonly property: string | null
  readonly kind: Verdict['kind']
  readonly executions: number
  readonly steps: number
  /** Distinct ones; 0 where the configuration wants none to be told apart. */
  readonly states: number
  readonly seconds: number
  readonly stepsPerSecond: number
  /** Depth up to which every schedule was executed. */
  readonly depth: number
  readonly seed: number
  /** Which random numbers the nodes drew: a seed, and this, make an execution. */
  readonly variant: number
  /** Path of the trace of the violating execution. */
  readonly trace: string | null
  /** Path of its report. */
  readonly report: string | null
  /** Labels of the shortest violating schedule found. */
  readonly schedule: readonly string[]
  readonly criticalTransition: {
    /** Counted from 1; 0: the initial state is dead. */
    readonly step: number
    readonly label: string
    readonly case: 'C1' | 'C2'
    /** Walks from the state after it, none of which recovered. */
    readonly walks: number
  } | null
  /** The longest that a message has to be on its way for `schedule` to violate; `null` for liveness and where nothing is violated. */
  readonly delayMs: number | null
  /** Whether the schedule was executed again, from the start, and violated the same. */
  readonly repeated: boolean
  /** The first system call in which executions of one schedule differed, where the verdict is undetermined for that. */
  readonly differs: Difference | null
  /** What the verdict does not say, and whoever relies on it should know: a line each. */
  readonly notes: readonly string[]
}

/** The part of a verdict that others rely on: these fields and no more. */
export const outcomeOf = ({ verdict, trace, report, explanation }: Checked): Outcome => {
  const { criticalTransition: critical } = verdict
  return {
    verdict: verdict.verdict,
    property: verdict.property,
    kind: verdict.kind,
    executions: verdict.executions,
    steps: verdict.steps,
    states: verdict.states,
    seconds: verdict.seconds,
    stepsPerSecond: verdict.stepsPerSecond,
    depth: verdict.depth,
    seed: verdict.seed,
    variant: verdict.variant,
    trace,
    report,
    schedule: verdict.schedule,
    criticalTransition: critical && {
      step: critical.step,
      label: critical.label,
      case: critical.case,
      walks: critical.walks,
    },
    delayMs: verdict.delayMs,
    repeated: verdict.repeated,
    differs: explanation?.differs ?? null,
    notes: verdict.notes,
  }
}
