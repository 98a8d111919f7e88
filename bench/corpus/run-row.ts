import { join } from 'node:path'
import { execa } from 'execa'
import { readTrace } from '../../checker/trace/read.ts'
import type { Discovery, Verdict } from '../../checker/verdict.ts'
import type { Outcome } from '../../cli/outcome.ts'
import type { Result } from './results.ts'

const root = join(import.meta.dirname, '../../..')

export interface RowOptions {
  /** Of the search, such as `5m`. */
  readonly duration: string
  readonly search: string
  readonly workers: string | undefined
  readonly out: string
}

/** Checks one system as its users would, with one bug switched on or none. */
export const runRow = async (system: string, bug: string | null, options: RowOptions): Promise<Result> => {
  const { duration, search, workers, out } = options
  const config = join(root, 'examples', system, 'lastnail.config.ts')
  const begun = performance.now()
  const args = ['check', config, '--json', '--for', duration, '--search', search, '--out', join(out, bug ?? 'correct')]
  const { exitCode, stdout, stderr } = await execa(
    process.execPath,
    [join(root, 'bin/lastnail.js'), ...args, ...(workers ? ['--workers', workers] : [])],
    { env: { BUG: bug ?? '' }, reject: false, stdin: 'ignore' },
  )
  const outcome = outcomeIn(stdout)
  return {
    system,
    bug,
    seconds: Number(((performance.now() - begun) / 1000).toFixed(1)),
    exitCode: exitCode ?? -1,
    outcome,
    discovery: discoveryIn(outcome),
    message: stderr.trimEnd().split('\n').at(-1) ?? '',
  }
}

const outcomeIn = (stdout: string): Outcome | null => {
  const last = stdout.trimEnd().split('\n').at(-1)
  return last?.startsWith('{') ? JSON.parse(last) : null
}

const discoveryIn = (outcome: Outcome | null): Discovery | null => {
  if (!outcome?.trace) return null
  const { end } = readTrace(outcome.trace)
  return (end?.verdict as Verdict | undefined)?.discovery ?? null
}
