import { Diverged, UsageError } from '../checker/errors.ts'
import { TraceError } from '../checker/trace/error.ts'
import { EngineLacks } from '../docker/error.ts'
import { ConfigError } from '../harness/config.ts'
import { SystemError } from '../proxy/libc.ts'
import { ReportError } from '../report/error.ts'
import { TopologyError } from '../topologies/error.ts'
import { Differs } from './comparison.ts'

/** What the command's exit says (interface.md). */
export const exitCode = {
  held: 0,
  violated: 1,
  undetermined: 2,
  diverged: 3,
  usage: 64,
  machineLacks: 69,
  defect: 70,
} as const

/** Thrown where this machine lacks something needed; the message says what, and the remedy. */
export class MachineLacks extends Error {
  override readonly name = 'MachineLacks'
}

/** The exit code that an error is worth, and what is printed. */
export interface Explanation {
  readonly code: number
  readonly lines: readonly string[]
}

/** Thrown for an error in a worker, which has explained it. */
export class WorkerFailed extends Error {
  override readonly name = 'WorkerFailed'
  readonly explanation: Explanation

  constructor(explanation: Explanation) {
    super(explanation.lines.join('\n'))
    this.explanation = explanation
  }
}

/** A defect of ours alone shows its stack. */
export const explainError = (error: unknown): Explanation => {
  if (error instanceof WorkerFailed) return error.explanation
  if (error instanceof ConfigError || error instanceof TopologyError)
    return { code: exitCode.usage, lines: [...error.problems] }
  if (error instanceof UsageError || error instanceof TraceError || error instanceof ReportError)
    return { code: exitCode.usage, lines: [error.message] }
  if (error instanceof Diverged || error instanceof Differs) return { code: exitCode.diverged, lines: [error.message] }
  if (error instanceof MachineLacks || error instanceof EngineLacks)
    return { code: exitCode.machineLacks, lines: error.message.split('\n') }
  if (error instanceof SystemError) return { code: exitCode.machineLacks, lines: [error.message] }
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return { code: exitCode.defect, lines: ['a defect of lastnail:', detail] }
}
