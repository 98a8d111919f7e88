import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { UsageError } from '../checker/errors.ts'
import { readTrace } from '../checker/trace/read.ts'
import { labelsOf, violationOf } from './recorded.ts'

/**
 * Writes the violation of a trace as a test of vitest, which fails as long as its schedule violates anything.
 *
 * @param out `schedules/PROPERTY.test.ts` beside the configuration, by default
 * @returns the path of the test
 * @throws UsageError where the trace records no violation, or the file cannot be written, or is there already
 */
export const keepAsTest = (tracePath: string, out?: string): string => {
  const trace = readTrace(tracePath)
  const verdict = violationOf(trace)
  if (verdict === undefined)
    throw new UsageError(`${tracePath} records no violation that a test could keep from coming back`)
  const { config, seed } = trace.header
  if (config.path === '')
    throw new UsageError(`${tracePath} was recorded of a definition in a program, which a test cannot name`)
  const name = verdict.property ?? verdict.kind
  const path = resolve(out ?? join(dirname(config.path), 'schedules', `${fileNameOf(name)}.test.ts`))
  if (existsSync(path)) throw new UsageError(`expected no ${path} yet, and would not overwrite it`)
  const configuration = relative(dirname(path), config.path)
  write(path, testOf({ name, configuration, seed, schedule: labelsOf(trace) }))
  return path
}

const fileNameOf = (name: string) => name.replaceAll(/[^\w.-]/g, '-')

interface Kept {
  readonly name: string
  /** Path of the configuration, from the directory of the test. */
  readonly configuration: string
  readonly seed: number
  readonly schedule: readonly string[]
}

const testOf = ({ name, configuration, seed, schedule }: Kept) => `import { join } from 'node:path'
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
