import { OwnCell } from '../../checker/cells/cell.ts'
import { Cells } from '../../checker/cells/cells.ts'
import { Executor } from '../../checker/cells/executor.ts'
import type { Violation } from '../../checker/cells/violation.ts'
import { counted } from '../../checker/system/brief.ts'
import type { SearchLimits } from '../../checker/system/budget.ts'
import { Diverged } from '../../checker/system/errors.ts'
import { labelsOf } from '../../checker/system/labels.ts'
import { type Hastened, hasten } from '../../checker/verdict/hasten.ts'
import { leastSkewMs } from '../../checker/verdict/skew.ts'
import type { GlobalState } from '../../harness/config/config.ts'
import type { LoadedConfig } from '../config/load-config.ts'
import { inSession, type Session } from '../session/session.ts'
import { record } from '../traces/record.ts'
import { stepsOf } from './step-pattern.ts'

/** The result of steps chosen by hand. */
export interface TriedByHand {
  readonly verdict: 'violated' | 'held'
  readonly property: string | null
  readonly kind: Violation['kind'] | null
  readonly message: string
  /** The longest that a message must be in flight, and that clocks must be apart, for such a violation: see `Verdict`. */
  readonly delayMs: number | null
  readonly skewMs: number | null
  /** Full labels of the executed steps. */
  readonly schedule: readonly string[]
  /** Labels of the choices enabled next. */
  readonly enabled: readonly string[]
  readonly state: GlobalState
  /** Lines about the start, if nodes waited for each other in it. */
  readonly started: readonly string[]
  /** Why there is no trace, if one was asked for. */
  readonly unwritten?: readonly string[]
}

/**
 * Executes steps that are given by unambiguous parts of their labels or by patterns (see `StepPattern`), up to the first
 * violation.
 *
 * @param out file for the trace, if any
 *
 * @throws UsageError if a name matches no enabled step, or more than one
 */
export const tryByHand = (
  config: LoadedConfig,
  names: readonly string[],
  { seed, out }: { readonly seed?: number | undefined; readonly out?: string | undefined },
): Promise<TriedByHand> =>
  inSession(config, { seed }, async session => {
    const { cluster, system } = session
    const executor = new Executor(cluster, system.properties)
    await executor.reset()
    const { started } = cluster.details
    for (const name of names) {
      for (const choice of stepsOf(
        name,
        () => executor.offered(),
        () => executor.schedule.length + 1,
      )) {
        if (executor.violation) break
        await executor.execute(choice)
      }
      if (executor.violation) break
    }
    const { violation, delayMs } = executor
    const schedule = [...executor.schedule]
    const seen = { enabled: labelsOf(executor.offered()), state: cluster.state(), started }
    executor.end()
    const needs = violation && (await leastNeeds(session, { schedule, delayMs, message: violation.message }, violation))
    const found = {
      verdict: violation ? 'violated' : 'held',
      property: violation?.property ?? null,
      kind: violation?.kind ?? null,
      message: violation?.message ?? `no violation in ${counted(schedule.length, 'step')}`,
      delayMs: needs?.delayMs ?? null,
      skewMs: needs?.skewMs ?? null,
      schedule: labelsOf(schedule),
    } as const
    const tried = { ...found, ...seen }
    if (out === undefined) return tried
    const { unwritten } = await record(session, out, found.schedule, {
      options: { tried: names },
      conclude: () => found,
    })
    return unwritten === undefined ? tried : { ...tried, unwritten: [unwritten] }
  })

/** Limit on each of the two questions that follow a violation. */
const needsLimits: SearchLimits = { milliseconds: 10_000 }

/** How slow the network must be, and how far clocks apart, for such a violation: that of the steps by hand need not be least. */
const leastNeeds = async (
  { cluster, system, signal }: Session,
  met: Hastened,
  violation: Violation,
): Promise<Pick<TriedByHand, 'delayMs' | 'skewMs'>> => {
  const cell = new OwnCell(cluster, system.properties)
  try {
    const cells = Cells.of([cell])
    const limits = { ...needsLimits, signal }
    const { schedule, delayMs } = await hasten(cells, met, violation, limits)
    return { delayMs, skewMs: await leastSkewMs(cells.within(limits), schedule, violation) }
  } catch (error) {
    if (!(error instanceof Diverged)) throw error
    // An execution that does not repeat is known only by its record.
    return { delayMs: met.delayMs, skewMs: null }
  } finally {
    await cell.end()
  }
}
