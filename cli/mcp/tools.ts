import { execa } from 'execa'
import { z } from 'zod'
import { UsageError } from '../../checker/system/errors.ts'
import { readTrace } from '../../checker/trace/read.ts'
import { ShownExecution } from '../../report/model/execution.ts'
import { checkOptions } from '../command/check-options.ts'
import { withTimeline } from '../debug/timeline.ts'
import { stepLabelOf, viewDiff, viewList, viewStates, viewStep } from '../debug/views.ts'
import { boundedJson } from './bounded.ts'

/** A tool that a client can call. */
export interface Tool {
  readonly description: string
  readonly input: z.ZodType
  /** The answer; an error says why there is none. */
  readonly answer: (asked: unknown, signal: AbortSignal) => Promise<string> | string
}

const tool = <Asked>(
  description: string,
  input: z.ZodType<Asked>,
  answer: (asked: Asked, signal: AbortSignal) => Promise<string> | string,
): Tool => ({ description, input, answer: (asked, signal) => answer(input.parse(asked), signal) })

const trace = z.string().describe('path of a trace, as returned by check')
const step = z.int().min(0).describe('counted from 1; 0 is the start')

/** Limit on the lines of a list of steps. */
const stepsMax = 200

export const tools = {
  check: tool(
    'Checks the system of a configuration by executing its real processes; a violation comes with a schedule, a trace and a report.',
    z.strictObject({
      config: z.string().optional().describe('a configuration; by default the only one of the current directory'),
      for: z.string().default('60s').describe('time for the check, such as 30s or 5m'),
      executions: z.int().min(1).optional().describe(checkOptions.executions.says),
      property: z.string().optional().describe(checkOptions.property.says),
      seed: z.int().min(0).default(1).describe(checkOptions.seed.says),
    }),
    ({ config, for: time, executions, property, seed }, signal) =>
      ownCommand(
        [
          ...['check', '--for', time, '--seed', String(seed)],
          ...(executions === undefined ? [] : ['--executions', String(executions)]),
          ...(property === undefined ? [] : ['--property', property]),
        ],
        config,
        signal,
      ),
  ),
  replay: tool(
    'Executes a trace again with new processes and says whether it violates again, or where it diverged.',
    z.strictObject({ trace, to: step.optional().describe('stops after this step') }),
    ({ trace, to }, signal) => ownCommand(['replay', ...(to === undefined ? [] : ['--to', String(to)])], trace, signal),
  ),
  steps: tool(
    `Lists the labels of a trace’s steps, at most ${stepsMax}.`,
    z.strictObject({ trace, from: step.default(0) }),
    ({ trace, from }) => {
      const execution = executionOf(trace)
      const { end } = execution
      const last = Math.min(end, from + stepsMax - 1)
      const listed = Array.from({ length: Math.max(0, last - from + 1) }, (_, index) => from + index)
      return [...viewList(execution, listed, -1), `the last step is ${end}`].join('\n')
    },
  ),
  state: tool(
    'Says what a step of a trace did, and the states of all nodes after it.',
    z.strictObject({ trace, step }),
    ({ trace, step }) => {
      const execution = withStep(executionOf(trace), step)
      return [...viewStep(execution, step), '', ...viewStates(execution, execution.nodes, step)].join('\n')
    },
  ),
  compare: tool(
    'Says where two traces of a system diverge, and how the states of their nodes differ there.',
    z.strictObject({ trace, other: trace }),
    ({ trace, other }) => compare(executionOf(trace), executionOf(other)),
  ),
  run: tool(
    'Executes a trace up to a step with new processes, then runs a program inside one of its nodes.',
    z.strictObject({ trace, step, node: z.string(), program: z.array(z.string()).min(1) }),
    async ({ trace, step, node, program }) => {
      let found = ''
      await withTimeline(trace, async timeline => {
        await timeline.goTo(step)
        const { exitCode, stdout, stderr } = await timeline.run(node, program)
        found = [stdout, stderr, `exit code ${exitCode}`].filter(Boolean).join('\n')
      })
      return found
    },
  ),
} as const satisfies Readonly<Record<string, Tool>>

/**
 * Output of this same command with `--json`. It runs as another process, which has its own CPU and can be ended.
 *
 * @param file its operand, which is none of its options even if it begins like one
 */
const ownCommand = async (
  options: readonly string[],
  file: string | undefined,
  cancelSignal: AbortSignal,
): Promise<string> => {
  const args = [...options, '--json', '--', ...(file === undefined ? [] : [file])]
  const { stdout, stderr } = await execa(process.execPath, [process.argv[1]!, ...args], {
    cancelSignal,
    reject: false,
    stdin: 'ignore',
  })
  const line = stdout.slice(stdout.trimEnd().lastIndexOf('\n') + 1)
  if (line === '') throw new UsageError(stderr.trimEnd() || 'it was interrupted')
  const printed = JSON.parse(line) as { error?: { message: string } }
  if (printed.error) throw new UsageError(printed.error.message)
  return boundedJson(printed)
}

const executionOf = (path: string): ShownExecution => new ShownExecution(readTrace(path, { torn: 'accept' }))

const withStep = (execution: ShownExecution, step: number): ShownExecution => {
  if (step <= execution.end) return execution
  throw new UsageError(`there is no step ${step}: the last is ${execution.end}`)
}

const compare = (one: ShownExecution, other: ShownExecution): string => {
  const common = Math.min(one.end, other.end)
  for (let step = 0; step <= common; step++) {
    const [label, otherLabel] = [stepLabelOf(one, step), stepLabelOf(other, step)]
    if (label !== otherLabel) return parting(step, [`the first has   ${label}`, `the second has  ${otherLabel}`])
    const differences = viewDiff(one.nodes, { execution: one, step }, { execution: other, step })
    if (differences[0] !== 'no difference') return parting(step, [label, ...differences])
  }
  if (one.end === other.end) return `they have the same ${one.end} steps and states`
  return `they have the same ${common} steps and states; the ${one.end > common ? 'first' : 'second'} goes on`
}

const parting = (step: number, lines: readonly string[]) => [`they diverge at step ${step}:`, ...lines].join('\n')
