import { Diverged } from '../checker/errors.ts'
import { replay } from '../checker/replay.ts'
import { readTrace } from '../checker/trace/read.ts'
import type { RecordedStep, Trace } from '../checker/trace/trace.ts'
import { inSession } from './session.ts'

export interface ReplayOutcome {
  /** `same`: the execution ended as the trace did. */
  readonly outcome: 'violated' | 'held'
  readonly property: string | null
  readonly steps: number
  readonly message: string
}

/**
 * Executes a trace again.
 *
 * @throws Diverged where the system offers other choices than it recorded, or does not violate what it violated
 */
export const runReplay = async (path: string, to: number | undefined): Promise<ReplayOutcome> => {
  const trace = readTrace(path)
  const labels = labelsOf(trace).slice(0, to)
  return inSession(trace.header.config.path, trace.header.seed, async ({ cluster, system }) => {
    const { violation, diverged, steps } = await replay(cluster, system.properties, labels)
    if (diverged) throw diverged
    const expected = violationOf(trace)
    const isWhole = labels.length === labelsOf(trace).length
    if (
      isWhole &&
      expected !== undefined &&
      expected.kind !== 'liveness' &&
      violation?.property !== (expected.property ?? undefined)
    )
      throw new Diverged(
        steps,
        `a violation of ${expected.property ?? expected.kind}`,
        cluster.enabled().map(choice => choice.label),
      )
    const isDead = isWhole && expected?.kind === 'liveness'
    return {
      outcome: violation || isDead ? 'violated' : 'held',
      property: violation?.property ?? (isDead ? expected.property : null),
      steps,
      message: violation?.message ?? `executed ${steps} steps as recorded`,
    }
  })
}

export const labelsOf = ({ steps }: { steps: readonly RecordedStep[] }): string[] =>
  steps.flatMap(({ choice }) => choice?.label ?? [])

interface RecordedViolation {
  readonly verdict: string
  readonly property: string | null
  readonly kind: string
}

/** What the recorded execution violated, if anything. */
export const violationOf = ({ end }: Trace): RecordedViolation | undefined => {
  const verdict = end?.verdict as RecordedViolation | undefined
  return verdict?.verdict === 'violated' ? verdict : undefined
}
