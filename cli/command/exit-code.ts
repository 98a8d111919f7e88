import { QueueLacks, QueueRefused } from '../../campaign/queue/error.ts'
import { BudgetSpent } from '../../checker/system/budget.ts'
import { Differs, Diverged, DoesNotStart, UsageError } from '../../checker/system/errors.ts'
import { isDefect, placeInConfiguration } from '../../checker/system/frames.ts'
import { thrown } from '../../checker/system/show.ts'
import { TraceError } from '../../checker/trace/error.ts'
import { EngineLacks } from '../../docker/error.ts'
import { ConfigError } from '../../harness/config/config.ts'
import { NoSpace, requireSpace, UnsafeRunRoot } from '../../harness/files/run-root.ts'
import { SystemError } from '../../linux/libc.ts'
import { ReportError } from '../../report/error.ts'
import { TopologyError } from '../../topologies/error.ts'

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

/** The exit code of work of which something could not be written. That is said after the result, which is not lost. */
export const unlessUnwritten = (code: number, unwritten: readonly string[] = []): number => {
  for (const line of unwritten) process.stderr.write(`lastnail: ${line}\n`)
  return unwritten.length > 0 ? exitCode.usage : code
}

/** This machine lacks something needed. The message says what, and the remedy. */
export class MachineLacks extends Error {
  override readonly name = 'MachineLacks'
}

/** What kind of error it is, for programs that run the command. These names do not change. */
export const errorCodes = {
  usage: 'wrong arguments, a property or label that does not exist, or a file that cannot be written',
  configuration: 'a mistake in a configuration or topology, or an error that one of its functions threw',
  serviceDoesNotStart: 'a node ends, or does not open its ports, before anything else happened',
  trace: 'a trace that cannot be read',
  diverged: 'an execution was not as recorded',
  interrupted: 'the command was interrupted',
  machineLacks: 'this machine lacks something needed',
  defect: 'a defect of lastnail',
} as const

export type ErrorCode = keyof typeof errorCodes

/** The exit code for an error, and the lines to print. */
export interface ErrorExplanation {
  readonly code: number
  readonly error: ErrorCode
  readonly lines: readonly string[]
}

/** An error in a worker process, which has explained it already. */
export class WorkerFailed extends Error {
  override readonly name = 'WorkerFailed'
  readonly explanation: ErrorExplanation

  constructor(explanation: ErrorExplanation) {
    super(explanation.lines.join('\n'))
    this.explanation = explanation
  }
}

const outputLines = (output: readonly string[]): string[] =>
  output.length === 0 ? ['it printed nothing'] : ['its last output:', ...output.map(line => `    ${line}`)]

const isOfNoDirectory = (error: unknown): boolean =>
  error instanceof Error && (error as NodeJS.ErrnoException).syscall === 'uv_cwd'

/** What the kernel says of disks, memory and limits, whatever a program did. */
const machineSays: ReadonlySet<unknown> = new Set(['ENOSPC', 'EDQUOT', 'EROFS', 'EIO', 'EMFILE', 'ENFILE', 'ENOMEM'])

const isOfTheMachine = (error: unknown): error is Error =>
  error instanceof Error &&
  machineSays.has((error as NodeJS.ErrnoException).code) &&
  (isDefect(error) || placeInConfiguration(error) === undefined)

/** An error of a write names no path; most of what is written is what nodes write. */
const machineLine = (error: Error): string => {
  try {
    requireSpace()
    return error.message
  } catch (full) {
    return full instanceof NoSpace ? full.message : error.message
  }
}

/** Only a defect of ours shows its stack. */
export const explainError = (error: unknown): ErrorExplanation => {
  if (error instanceof WorkerFailed) return error.explanation
  if (error instanceof ConfigError || error instanceof TopologyError)
    return { code: exitCode.usage, error: 'configuration', lines: [...error.problems] }
  if (error instanceof DoesNotStart)
    return {
      code: exitCode.usage,
      error: 'serviceDoesNotStart',
      lines: [error.message, ...outputLines(error.output)],
    }
  if (error instanceof TraceError) return { code: exitCode.usage, error: 'trace', lines: [error.message] }
  if (error instanceof UsageError || error instanceof ReportError || error instanceof QueueRefused)
    return { code: exitCode.usage, error: 'usage', lines: [error.message] }
  if (error instanceof BudgetSpent) return { code: exitCode.undetermined, error: 'interrupted', lines: ['interrupted'] }
  if (error instanceof Diverged || error instanceof Differs)
    return { code: exitCode.diverged, error: 'diverged', lines: [error.message] }
  if (error instanceof MachineLacks || error instanceof EngineLacks || error instanceof QueueLacks)
    return { code: exitCode.machineLacks, error: 'machineLacks', lines: error.message.split('\n') }
  if (error instanceof SystemError || error instanceof UnsafeRunRoot || error instanceof NoSpace)
    return { code: exitCode.machineLacks, error: 'machineLacks', lines: [error.message] }
  if (isOfNoDirectory(error))
    return { code: exitCode.usage, error: 'usage', lines: ['the current directory does not exist any more'] }
  if (isOfTheMachine(error)) return { code: exitCode.machineLacks, error: 'machineLacks', lines: [machineLine(error)] }
  const place = isDefect(error) ? undefined : placeInConfiguration(error)
  // Includes functions that the configuration passed to us: a dissector, a function of a node.
  if (place !== undefined)
    return { code: exitCode.usage, error: 'configuration', lines: [`${place}: threw ${thrown(error)}`] }
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return { code: exitCode.defect, error: 'defect', lines: ['a defect of lastnail:', detail] }
}
