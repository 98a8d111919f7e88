import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { commitOf } from '../campaign/git.ts'
import { type Kept, keep } from '../campaign/schedules/corpus.ts'
import { headline } from '../checker/cells/violation.ts'
import { UsageError } from '../checker/errors.ts'
import { readTrace } from '../checker/trace/read.ts'
import type { Trace } from '../checker/trace/trace.ts'
import { scheduleOf, timingOf, timingToKeep, type Violated, violationOf } from './recorded.ts'

/** Beside the configuration. */
const directoryName = 'schedules'

/**
 * Keeps the violation of a trace as a schedule in a directory; one that is there already is counted.
 *
 * @param out `schedules/` beside the configuration, by default
 * @throws UsageError where the trace records no violation, or the schedule cannot be written
 */
export const keepSchedule = async (tracePath: string, out?: string): Promise<Kept> => {
  const trace = readTrace(tracePath)
  const { property, kind, message, variant, criticalTransition: critical } = requireViolation(tracePath, trace)
  const { config, seed, system, versions } = trace.header
  const directory = resolve(out ?? join(dirname(config.path), directoryName))
  const timing = timingToKeep(trace)
  const found = {
    ...{ system, property, kind, variant: variant ?? 0 },
    // A trace has both, added.
    seed: seed - (variant ?? 0),
    config: relative(directory, config.path),
    message: headline(message),
    criticalTransition: critical ?? null,
    programs: { ...versions, configuration: config.sha256 },
    ...(timing && { timing: JSON.stringify(timing) }),
    labels: scheduleOf(trace),
  }
  return keep(directory, found, { at: new Date().toISOString(), commit: await commitOf(dirname(config.path)) })
}

/**
 * Writes the violation of a trace as a test of vitest, which fails as long as its schedule violates anything.
 *
 * @param out `schedules/PROPERTY.test.ts` beside the configuration, by default
 * @returns the path of the test
 * @throws UsageError where the trace records no violation, or the file cannot be written, or is there already
 */
export const keepAsTest = (tracePath: string, out?: string): string => {
  const trace = readTrace(tracePath)
  const verdict = requireViolation(tracePath, trace)
  if (timingOf(trace, 'moving'))
    throw new UsageError(
      `${tracePath} is of a run that time went through, which a test does not bring back: keep it as a schedule, without --test`,
    )
  const { config, seed } = trace.header
  const name = verdict.property ?? verdict.kind
  const path = resolve(out ?? join(dirname(config.path), directoryName, `${fileNameOf(name)}.test.ts`))
  if (existsSync(path)) throw new UsageError(`expected no ${path} yet, and would not overwrite it`)
  const configuration = relative(dirname(path), config.path)
  write(path, testOf({ name, configuration, seed, schedule: scheduleOf(trace) }))
  return path
}

/** @throws UsageError where there is none, or of a system that no file defines */
const requireViolation = (tracePath: string, trace: Trace): Violated => {
  const verdict = violationOf(trace)
  if (verdict === undefined) throw new UsageError(`${tracePath} records no violation that could be kept`)
  if (trace.header.config.path === '')
    throw new UsageError(`${tracePath} was recorded of a definition in a program, which a file cannot name`)
  return verdict
}

const fileNameOf = (name: string) => name.replaceAll(/[^\w.-]/g, '-')

interface Test {
  readonly name: string
  /** Path of the configuration, from the directory of the test. */
  readonly configuration: string
  readonly seed: number
  readonly schedule: readonly string[]
}

const testOf = ({ name, configuration, seed, schedule }: Test) => `import { join } from 'node:path'
import { expect, test } from 'vitest'
import 'lastnail/vitest'

test(${quoted(name)}, { timeout: 60_000 }, async () => {
  await expect(join(import.meta.dirname, ${quoted(configuration)})).toHold({
    seed: ${seed},
    schedule: [
${schedule.map(label => `      ${quoted(label)},`).join('\n')}
    ],
  })
})
`

const quoted = (text: string) => `'${text.replaceAll(/['\\]/g, '\\$&').replaceAll('\n', '\\n')}'`

const write = (path: string, content: string) => {
  try {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content)
  } catch (cause) {
    throw new UsageError(`cannot write the test ${path}: ${(cause as Error).message}`, { cause })
  }
}
