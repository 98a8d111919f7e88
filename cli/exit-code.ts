import { QueueLacks, QueueRefused } from '../campaign/queue/error.ts'
import { BudgetSpent } from '../checker/budget.ts'
import { Diverged, DoesNotStart, UsageError } from '../checker/errors.ts'
import { isDefect, placeInConfiguration } from '../checker/frames.ts'
import { thrown } from '../checker/show.ts'
import { TraceError } from '../checker/trace/error.ts'
import { EngineLacks } from '../docker/error.ts'
import { ConfigError } from '../harness/config.ts'
import { UnsafeRunRoot } from '../harness/files/run-root.ts'
import { SystemError } from '../proxy/libc.ts'
import { ReportError } from '../report/error.ts'
import { TopologyError } from '../topologies/error.ts'
import { Differs } from './traces/comparison.ts'

/** The command's exit codes. */
export const exitCode = {
  held: 0,
  violated: 1,
  undetermined: 2,
  diverged: 3,
  usage: 64,
  machineLacks: 69,
  defect: 70,
} as const

/** This machine lacks something needed. The message says what, and the remedy. */
export class MachineLacks extends Error {
  override readonly name = 'MachineLacks'
}

/** The exit code for an error, and the lines to print. */
export interface Explanation {
  readonly code: number
  readonly lines: readonly string[]
}

/** An error in a worker process, which has explained it already. */
export class WorkerFailed extends Error {
  override readonly name = 'WorkerFailed'
  readonly explanation: Explanation

  constructor(explanation: Explanation) {
    super(explanation.lines.join('\n'))
    this.explanation = explanation
  }
}

const outputLines = (output: readonly string[]): string[] =>
  output.length === 0 ? ['it printed nothing'] : ['its last output:', ...output.map(line => `    ${line}`)]

/** Only a defect of ours shows its stack. */
export const explainError = (error: unknown): Explanation => {
  if (error instanceof WorkerFailed) return error.explanation
  if (error instanceof ConfigError || error instanceof TopologyError)
    return { code: exitCode.usage, lines: [...error.problems] }
  if (error instanceof DoesNotStart)
    return { code: exitCode.usage, lines: [error.message, ...outputLines(error.output)] }
  if (error instanceof UsageError || error instanceof TraceError || error instanceof ReportError)
    return { code: exitCode.usage, lines: [error.message] }
  if (error instanceof BudgetSpent) return { code: exitCode.undetermined, lines: ['interrupted'] }
  if (error instanceof Diverged || error instanceof Differs) return { code: exitCode.diverged, lines: [error.message] }
  if (error instanceof QueueRefused) return { code: exitCode.usage, lines: [error.message] }
  if (error instanceof MachineLacks || error instanceof EngineLacks || error instanceof QueueLacks)
    return { code: exitCode.machineLacks, lines: error.message.split('\n') }
  if (error instanceof SystemError || error instanceof UnsafeRunRoot)
    return { code: exitCode.machineLacks, lines: [error.message] }
  const place = isDefect(error) ? undefined : placeInConfiguration(error)
  // Includes functions that the configuration passed to us: a dissector, a function of a node.
  if (place !== undefined) return { code: exitCode.usage, lines: [`${place}: threw ${thrown(error)}`] }
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return { code: exitCode.defect, lines: ['a defect of lastnail:', detail] }
}
