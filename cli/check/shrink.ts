import { resolve } from 'node:path'
import type { ExecutionObserver } from '../../checker/cells/executor.ts'
import { select } from '../../checker/cells/select.ts'
import type { Progress } from '../../checker/check.ts'
import { counted } from '../../checker/system/brief.ts'
import { UsageError } from '../../checker/system/errors.ts'
import { scheduleOf } from '../../checker/trace/again.ts'
import { readTrace } from '../../checker/trace/read.ts'
import type { Trace } from '../../checker/trace/trace.ts'
import { shrink } from '../../checker/verdict/shrink-recorded.ts'
import type { Coverage, Verdict } from '../../checker/verdict/verdict.ts'
import { showProgress } from '../command/progress.ts'
import { propertiesFor, reachesGoal } from '../config/goal.ts'
import { inSession } from '../session/session.ts'
import { recordConfirmed } from '../traces/confirm.ts'
import { sessionOf, violationOf } from '../traces/recorded.ts'
import { configOfTrace } from '../traces/replay.ts'
import type { Checked } from './checked.ts'
import { describeTrace, isAboutBeginning, keepWay, type WayToGoal } from './goals.ts'
import { aboutCallsLeft } from './notes.ts'
import { tryReport } from './record-found.ts'

/**
 * Writes the shortest schedule with a trace's violation, or the shortest way to its goal, to a trace beside it. If
 * interrupted, the shortest one found so far.
 *
 * @param milliseconds without it, continues until no step can be dropped
 *
 * @throws UsageError if the trace records neither, or its schedule does not violate any more
 *
 * @throws Diverged if the schedule cannot be executed
 */
export const shrinkTrace = async (path: string, milliseconds?: number): Promise<Checked> => {
  const trace = readTrace(path)
  const { goal } = (trace.header.options ?? {}) as Partial<WayToGoal>
  if (goal !== undefined) return shrinkWay(path, trace, goal, milliseconds)
  const recorded = violationOf(trace)
  if (recorded === undefined) throw new UsageError(`${path} records no violation to shrink, and is no way to a goal`)
  const config = await configOfTrace(path, trace)
  const how = sessionOf(trace, 'moving')
  return inSession(config, how, async session => {
    const { cluster, system, signal, seed, clocksStart } = session
    const { walks, walkLength } = recorded.criticalTransition ?? {}
    const progress = showProgress(milliseconds)
    const counts = new Counts(progress.update)
    // Violations of other properties on the way do not count.
    const property = recorded.property ?? undefined
    const shrunk = await shrink(cluster, select(system.properties, property), scheduleOf(trace), recorded, {
      ...{ walks, walkLength, milliseconds, signal, seed, weights: system.weights },
      observer: counts,
    }).finally(progress.end)
    const { executions: _, minimal: __, ...found } = shrunk
    const { evidence: ___, ...others } = recorded
    const before = aboutCallsLeft(system, recorded)
    const verdict: Verdict = {
      ...others,
      ...counts.taken(),
      // The trace's seed already includes the variant.
      ...{ seed, variant: 0 },
      ...found,
      notes: [
        // How executions of the check began says nothing of the shorter schedule.
        ...recorded.notes.filter(note => !before.includes(note) && !isAboutBeginning(note)),
        ...aboutCallsLeft(system, { ...recorded, ...found }),
      ],
    }
    const shorter = shorterOf(path)
    const { confirmed, unwritten } = await recordConfirmed(session, shorter, verdict, {
      options: {
        shrunk: path,
        property,
        ...(how.timing && { timing: how.timing }),
      },
      property,
    })
    const came = { verdict: confirmed, clocksStart, state: cluster.state() }
    return unwritten === undefined
      ? { ...came, trace: shorter, ...tryReport(shorter) }
      : { ...came, trace: null, report: null, unwritten: [unwritten] }
  })
}

const shorterOf = (path: string): string => resolve(path.replace(/(\.shrunk)?(\.trace)?$/, '.shrunk.trace'))

/** Shrinks the way to a goal, which violates nothing. */
const shrinkWay = async (path: string, trace: Trace, goal: number, milliseconds?: number): Promise<Checked> => {
  const config = await configOfTrace(path, trace)
  return inSession(config, sessionOf(trace, 'moving'), async session => {
    const { cluster, system, signal, seed, clocksStart } = session
    const name = system.goals[goal]?.name
    if (name === undefined)
      throw new UsageError(`${path} is a way to goal ${goal + 1} of its configuration, which has no such goal any more`)
    const progress = showProgress(milliseconds)
    const counts = new Counts(progress.update)
    const { schedule, minimal } = await shrink(
      cluster,
      propertiesFor(system, { goal }),
      scheduleOf(trace),
      reachesGoal,
      { milliseconds, signal, seed, weights: system.weights, observer: counts },
    ).finally(progress.end)
    const shorter = shorterOf(path)
    const { repeated, unwritten } = await keepWay(session, shorter, { schedule, variant: 0, goal })
    const isKept = repeated && unwritten.length === 0
    const verdict: Verdict = {
      ...{ verdict: repeated ? 'held' : 'undetermined', property: null, kind: null },
      ...counts.taken(),
      ...{ seed, variant: 0, schedule, repeated, criticalTransition: null, delayMs: null, skewMs: null },
      message: `"${name}" holds after ${counted(schedule.length, 'step')}${repeated ? '' : '; executed again, it did not'}`,
      ...{
        discovery: null,
        closestLive: null,
        coverage: nothingCovered,
        met: { steps: {}, executions: {}, timers: {}, sights: [] },
      },
      ...{ notRepeated: [], unsteady: null, inDoubt: null },
      notes: describeTrace(shorter, { name, isKept, minimal }),
    }
    const came = { verdict, clocksStart, state: cluster.state(), unwritten }
    return isKept ? { ...came, trace: shorter, ...tryReport(shorter) } : { ...came, trace: null, report: null }
  })
}

const nothingCovered: Coverage = {
  ...{ levels: [], searches: [], pruned: 0, prunedBy: null, audited: 0, exhausted: false, completed: 0 },
  ...{ walks: 0, stepsToLive: 0, walksToLive: [], transient: 0, unfaithful: 0, givenUp: 0, broken: 0 },
}

/** Counts executions and steps, and reports progress. */
class Counts implements ExecutionObserver<unknown> {
  readonly #begun = performance.now()
  readonly #tell: (progress: Progress) => void
  #executions = 0
  #steps = 0

  constructor(tell: (progress: Progress) => void) {
    this.#tell = tell
  }

  onReset(): void {
    this.#executions += 1
    this.#tell({ phase: 'shrinking', ...this.taken() })
  }

  onStep(): void {
    this.#steps += 1
  }

  /** In the form of a verdict. Shrinking tells no states apart and covers no depth. */
  taken() {
    const seconds = (performance.now() - this.#begun) / 1000
    const stepsPerSecond = Math.round(this.#steps / seconds)
    return {
      ...{ executions: this.#executions, steps: this.#steps, states: 0, depth: 0 },
      ...{ seconds: Number(seconds.toFixed(3)), stepsPerSecond },
      spent: { search: 0, goal: 0, examination: this.#executions, audit: 0 },
    }
  }
}
