import type {
  DeviationCoverage,
  ExploredCoverage,
  LocalCoverage,
  SearchCoverage,
} from '../../checker/searches/search.ts'
import type { CriticalTransition, Curve, Overtaking, Verdict } from '../../checker/verdict/verdict.ts'
import type { Difference } from '../traces/repetition.ts'
import type { Checked } from './checked.ts'
import type { WhatWasMet } from './met.ts'

/** The result of a check, as `--json` prints it and the package's `check` returns it. */
export interface CheckOutcome
  extends Pick<
    Verdict,
    | 'verdict'
    | 'property'
    | 'kind'
    | 'executions'
    | 'spent'
    | 'steps'
    | 'states'
    | 'seconds'
    | 'stepsPerSecond'
    | 'depth'
    | 'seed'
    | 'variant'
    | 'schedule'
    | 'delayMs'
    | 'skewMs'
    | 'repeated'
    | 'notes'
  > {
  /** What nodes' clocks showed first, as an ISO date and time. */
  readonly clocksStart: string
  /** Path of the violating execution's trace, or of that which could not be decided. */
  readonly trace: string | null
  /**
   * Path of the trace of one execution, if the check held; null from the function `check`. Of an undetermined check the
   * trace of what could not be decided.
   */
  readonly sample: string | null
  /** Path of the report of either trace. */
  readonly report: string | null
  readonly criticalTransition: Omit<CriticalTransition, 'walkLength'> | null
  /** Absent in any other verdict than a violation, and where the time for it was over. */
  readonly overtakings?: readonly Overtaking[] | undefined
  readonly curve?: Curve | undefined
  /** Path of a text for an issue; `null` if nothing is violated. */
  readonly issue: string | null
  /**
   * The first system call that differed between executions of one schedule, if the verdict is undetermined for that
   * reason.
   */
  readonly differs: Difference | null
  /** Absent if nothing was searched. */
  readonly met?: WhatWasMet | undefined
  /** By `sometimes` property, the number of executions in which it was met: the same as in `met`. */
  readonly sometimes: Readonly<Record<string, number>>
  /** The kinds of events that every schedule to its end does not have; absent if not every one was executed. */
  readonly notAmong?: readonly string[] | undefined
  /** What each search covered. */
  readonly searches: readonly SearchCoverage[]
  /** Figures of a local search; absent for other searches. */
  readonly local?: LocalCoverage | undefined
  /** Figures of a search by deviations; absent if there was none. */
  readonly deviations?: DeviationCoverage | undefined
  /** Figures of consequence prediction; absent for other searches. */
  readonly consequence?: ExploredCoverage | undefined
}

/** The part of a verdict on which others may rely: exactly these fields. */
export const outcomeOf = (checked: Checked): CheckOutcome => {
  const { verdict, clocksStart, trace, sample, report, issue, explanation, met, unwritten = [], notAmong } = checked
  const { criticalTransition: critical } = verdict
  return {
    verdict: verdict.verdict,
    property: verdict.property,
    kind: verdict.kind,
    executions: verdict.executions,
    spent: verdict.spent,
    steps: verdict.steps,
    states: verdict.states,
    seconds: verdict.seconds,
    stepsPerSecond: verdict.stepsPerSecond,
    depth: verdict.depth,
    seed: verdict.seed,
    variant: verdict.variant,
    clocksStart,
    trace,
    sample: sample ?? null,
    report,
    schedule: verdict.schedule,
    criticalTransition: critical && {
      step: critical.step,
      label: critical.label,
      case: critical.case,
      walks: critical.walks,
    },
    ...(verdict.overtakings && { overtakings: verdict.overtakings }),
    ...(verdict.curve && { curve: verdict.curve }),
    issue: issue ?? null,
    delayMs: verdict.delayMs,
    skewMs: verdict.skewMs,
    repeated: verdict.repeated,
    differs: explanation?.differs ?? null,
    ...(met && { met }),
    sometimes: met?.sometimes ?? {},
    notes: [...verdict.notes, ...unwritten],
    ...(notAmong && { notAmong }),
    searches: verdict.coverage.searches,
    ...(verdict.coverage.local && { local: verdict.coverage.local }),
    ...(verdict.coverage.deviations && { deviations: verdict.coverage.deviations }),
    ...(verdict.coverage.consequence && { consequence: verdict.coverage.consequence }),
  }
}
