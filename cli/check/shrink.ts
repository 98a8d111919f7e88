import { resolve } from 'node:path'
import type { Observer } from '../../checker/cells/executor.ts'
import { type Progress, select } from '../../checker/check.ts'
import { UsageError } from '../../checker/errors.ts'
import { scheduleOf } from '../../checker/trace/again.ts'
import { readTrace } from '../../checker/trace/read.ts'
import { type Shrunk, shrink } from '../../checker/verdict/shrink.ts'
import type { Verdict } from '../../checker/verdict/verdict.ts'
import { showProgress } from '../progress.ts'
import { inSession } from '../session/session.ts'
import { recordConfirmed } from '../traces/confirm.ts'
import { sessionOf, violationOf } from '../traces/recorded.ts'
import { configOfTrace } from '../traces/replay.ts'
import type { Checked } from './checked.ts'
import { isAboutBeginning } from './goals.ts'
import { aboutCallsLeft } from './notes.ts'
import { tryReport } from './record-found.ts'

/**
 * Writes the shortest schedule with a trace's violation to a trace beside it. If interrupted, the shortest one found so
 * far.
 *
 * @param milliseconds without it, continues until no step can be dropped
 *
 * @throws UsageError if the trace records no violation, or its schedule does not violate any more
 *
 * @throws Diverged if the schedule cannot be executed
 */
export const shrinkTrace = async (path: string, milliseconds?: number): Promise<Checked> => {
  const trace = readTrace(path)
  const recorded = violationOf(trace)
  if (recorded === undefined) throw new UsageError(`${path} records no violation to shrink`)
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
    const { schedule } = shrunk
    const criticalTransition = criticalOf(shrunk)
    const before = aboutCallsLeft(system, recorded)
    const verdict: Verdict = {
      ...recorded,
      ...counts.taken(),
      // The trace's seed already includes the variant.
      ...{ seed, variant: 0 },
      schedule,
      criticalTransition,
      notes: [
        // How executions of the check began says nothing of the shorter schedule.
        ...recorded.notes.filter(note => !before.includes(note) && !isAboutBeginning(note)),
        ...aboutCallsLeft(system, { ...recorded, schedule, criticalTransition }),
      ],
      message: shrunk.message,
      // The recorded live execution belongs to the longer schedule.
      closestLive: null,
    }
    const shorter = resolve(path.replace(/(\.shrunk)?(\.trace)?$/, '.shrunk.trace'))
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

/** Counts executions and steps, and reports progress. */
class Counts implements Observer<unknown> {
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

/** The last step is the critical transition only if the step before was shown to recover. */
const criticalOf = ({ critical, schedule }: Shrunk): Verdict['criticalTransition'] =>
  critical
    ? {
        ...{ step: critical.step, label: schedule.at(-1) ?? '(initial state)', case: 'C1' },
        ...{ walks: critical.walks, walkLength: critical.walkLength },
      }
    : null
