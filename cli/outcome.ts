import type { LocalCoverage } from '../checker/searches/search.ts'
import type { CriticalTransition, Verdict } from '../checker/verdict/verdict.ts'
import type { Checked } from './check.ts'
import type { Difference } from './repetition.ts'

/** What a check came to, as `--json` prints it and `check` of the package returns it. */
export interface Outcome
  extends Pick<
    Verdict,
    | 'verdict'
    | 'property'
    | 'kind'
    | 'executions'
    | 'steps'
    | 'states'
    | 'seconds'
    | 'stepsPerSecond'
    | 'depth'
    | 'seed'
    | 'variant'
    | 'schedule'
    | 'delayMs'
    | 'repeated'
    | 'notes'
  > {
  /** Path of the trace of the violating execution. */
  readonly trace: string | null
  /** Path of its report. */
  readonly report: string | null
  readonly criticalTransition: Omit<CriticalTransition, 'walkLength'> | null
  /** The first system call in which executions of one schedule differed, where the verdict is undetermined for that. */
  readonly differs: Difference | null
  /** In how many executions each property `sometimes` was met. */
  readonly sometimes: Readonly<Record<string, number>>
  /** What a local search did; absent where another was asked for. */
  readonly local?: LocalCoverage | undefined
}

/** The part of a verdict that others rely on: these fields and no more. */
export const outcomeOf = ({ verdict, trace, report, explanation, sometimes = {} }: Checked): Outcome => {
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
    sometimes,
    notes: verdict.notes,
    ...(verdict.coverage.local && { local: verdict.coverage.local }),
  }
}
