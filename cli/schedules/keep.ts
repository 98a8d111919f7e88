import { existsSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { commitOf } from '../../campaign/git.ts'
import { addSchedule, type Kept } from '../../campaign/schedules/corpus.ts'
import { headline } from '../../checker/cells/violation.ts'
import { UsageError } from '../../checker/system/errors.ts'
import { makeDirectories, NotWritten, writeWhole } from '../../checker/system/written.ts'
import { clocksStartOf, hadLongTurns, scheduleOf } from '../../checker/trace/again.ts'
import { readTrace } from '../../checker/trace/read.ts'
import type { Trace } from '../../checker/trace/trace.ts'
import { testOf } from '../../report/model/again.ts'
import { fileNameOf } from '../command/file-name.ts'
import { timingToKeep, type ViolatedVerdict, violationOf } from '../traces/recorded.ts'

/** Default directory for schedules, beside the configuration. */
const directoryName = 'schedules'

/**
 * Keeps a trace's violation as a schedule in a directory. A schedule that is there already is counted.
 *
 * @param out by default `schedules/` beside the configuration
 *
 * @throws UsageError if the trace records no violation, or the schedule cannot be written
 */
export const keepSchedule = async (tracePath: string, out?: string): Promise<Kept> => {
  const trace = readTrace(tracePath)
  const { property, kind, message, variant, criticalTransition: critical } = requireViolation(tracePath, trace)
  const { config, seed, system, versions } = trace.header
  const directory = resolve(out ?? join(dirname(config.path), directoryName))
  const timing = timingToKeep(trace)
  const found = {
    ...{ system, property, kind, variant: variant ?? 0 },
    // A trace's seed is the sum of both.
    seed: seed - (variant ?? 0),
    config: relative(directory, config.path),
    message: headline(message),
    criticalTransition: critical ?? null,
    programs: { ...versions, configuration: config.sha256 },
    ...(timing && { timing: JSON.stringify(timing) }),
    ...(hadLongTurns(trace) && { longTurns: true }),
    clocksStart: clocksStartOf(trace),
    labels: scheduleOf(trace),
  }
  return addSchedule(directory, found, { at: new Date().toISOString(), commit: await commitOf(dirname(config.path)) })
}

/**
 * Writes a trace's violation as a vitest test, which fails while its schedule violates something.
 *
 * @param out by default `schedules/PROPERTY.test.ts` beside the configuration
 *
 * @returns the path of the test
 *
 * @throws UsageError if the trace records no violation, or the file exists or cannot be written
 */
export const keepAsTest = (tracePath: string, out?: string): string => {
  const trace = readTrace(tracePath)
  const { property, kind } = requireViolation(tracePath, trace)
  const { config } = trace.header
  const path = resolve(out ?? join(dirname(config.path), directoryName, `${fileNameOf(property ?? kind)}.test.ts`))
  const test = testOf(trace, relative(dirname(path), config.path))
  if (test === undefined)
    throw new UsageError(
      `${tracePath} was recorded of an emulated run, whose times a test cannot repeat: keep it as a schedule, without --test`,
    )
  if (existsSync(path)) throw new UsageError(`expected no ${path} yet: it would be overwritten`)
  write(path, test)
  return path
}

/** @throws UsageError if the trace records no violation, or its system is not defined by a file */
const requireViolation = (tracePath: string, trace: Trace): ViolatedVerdict => {
  const verdict = violationOf(trace)
  if (verdict === undefined) throw new UsageError(`${tracePath} records no violation to keep`)
  if (trace.header.config.path === '')
    throw new UsageError(`${tracePath} was recorded of a system defined in a program, which a file cannot name`)
  return verdict
}

const write = (path: string, content: string) => {
  try {
    makeDirectories(dirname(path))
  } catch (cause) {
    throw new NotWritten('the test', path, cause)
  }
  writeWhole('the test', path, content)
}
