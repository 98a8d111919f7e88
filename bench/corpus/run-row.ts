import { join } from 'node:path'
import { execa } from 'execa'
import { readTrace } from '../../checker/trace/read.ts'
import type { Discovery, Verdict } from '../../checker/verdict/verdict.ts'
import type { CheckOutcome } from '../../cli/check/outcome.ts'
import { cpuOfChildren } from './cpu.ts'
import { configOf, packageRoot } from './package-root.ts'
import type { PlainResult } from './plain.ts'
import type { Result } from './results.ts'
import type { Bug } from './rows.ts'

export interface RowOptions {
  /** Of the search, in seconds. */
  readonly seconds: number
  /** As of `lastnail check`, or `plain`: without control. */
  readonly search: string
  readonly workers: string | undefined
  readonly out: string
}

/** Checks one system as its users would: with one bug switched on, the property that it violates; else all properties. */
export const runRow = async (system: string, bug: Bug | null, options: RowOptions): Promise<Result> => {
  const [begun, cpuBefore] = [performance.now(), cpuOfChildren()]
  const config = configOf(system)
  const found = await (options.search === 'plain' ? testPlainly : check)(config, bug, options)
  const seconds = rounded((performance.now() - begun) / 1000)
  const cpuSeconds = rounded(cpuOfChildren() - cpuBefore)
  return { system, bug: bug?.id ?? null, seconds, cpuSeconds, ...found }
}

const rounded = (seconds: number) => Number(seconds.toFixed(1))

type Came = Omit<Result, 'system' | 'bug' | 'seconds' | 'cpuSeconds'>

const check = async (config: string, bug: Bug | null, options: RowOptions): Promise<Came> => {
  const { seconds, search, workers, out } = options
  const args = ['--json', '--for', `${seconds}s`, '--search', search, '--out', join(out, bug?.id ?? 'correct')]
  const property = bug?.property ? ['--property', bug.property] : []
  const { exitCode, stdout, stderr } = await execa(
    process.execPath,
    [
      join(packageRoot, 'bin/lastnail.js'),
      'check',
      config,
      ...args,
      ...property,
      ...(workers ? ['--workers', workers] : []),
    ],
    { env: { BUG: bug?.id ?? '' }, reject: false, stdin: 'ignore' },
  )
  const outcome = outcomeIn(stdout)
  const message = stderr.trimEnd().split('\n').at(-1) ?? ''
  return { exitCode: exitCode ?? -1, outcome, plain: null, discovery: discoveryIn(outcome), message }
}

const testPlainly = async (config: string, bug: Bug | null, { seconds }: RowOptions): Promise<Came> => {
  const { exitCode, stdout, stderr } = await execa(
    process.execPath,
    [
      join(import.meta.dirname, 'run-plain.js'),
      config,
      String(seconds * 1000),
      ...(bug?.property ? [bug.property] : []),
    ],
    { env: { BUG: bug?.id ?? '' }, reject: false, stdin: 'ignore' },
  )
  const plain: PlainResult | null = exitCode === 0 ? JSON.parse(stdout) : null
  const message = plain ? `${plain.violated ?? 'nothing'} violated in ${plain.rounds} rounds` : stderr
  return { exitCode: exitCode ?? -1, outcome: null, plain, discovery: null, message }
}

const outcomeIn = (stdout: string): CheckOutcome | null => {
  const last = stdout.trimEnd().split('\n').at(-1)
  return last?.startsWith('{') ? JSON.parse(last) : null
}

const discoveryIn = (outcome: CheckOutcome | null): Discovery | null => {
  if (!outcome?.trace) return null
  const { end } = readTrace(outcome.trace)
  return (end?.verdict as Verdict | undefined)?.discovery ?? null
}
