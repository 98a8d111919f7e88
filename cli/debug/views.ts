import { showOperations } from '../../checker/history/show.ts'
import type { Choice } from '../../checker/system/system.ts'
import type { RecordedMessage } from '../../checker/trace/trace.ts'
import { diffOf, shortly, showState } from '../../report/model/changes.ts'
import type { ShownExecution } from '../../report/model/execution.ts'
import { printableText } from '../../report/model/payload.ts'

/** The debugger's views of an execution, as lines of text. */

const number = (step: number) => String(step).padStart(5)

export const stepLabelOf = ({ steps }: ShownExecution, step: number): string => steps[step]!.choice?.label ?? '(start)'

/** One line for each step, with `>` at the present step and `!` at the first dead one. */
export const viewList = (
  execution: ShownExecution,
  steps: readonly number[],
  at: number,
  critical?: number,
): string[] =>
  steps.map(step => {
    const mark = step === at ? '>' : step === critical ? '!' : ' '
    return `${mark}${number(step)}  ${stepLabelOf(execution, step)}`
  })

/** A step and everything that it changed. */
export const viewStep = (execution: ShownExecution, step: number): string[] => {
  const { started = [], messages, lost, outputs, findings, operations, properties, clocks } = execution.steps[step]!
  return [
    `${number(step)}  ${stepLabelOf(execution, step)}`,
    ...started.map(label => `       happened ${label}`),
    ...clocks.map(({ node, elapsedMs }) => `       ${node} clock +${elapsedMs} ms`),
    ...execution
      .changesIn(step)
      .map(
        ({ node, name, before, after }) =>
          `       ${name ? `${node} ${name}` : node}: ${shortly(before)} → ${shortly(after)}`,
      ),
    ...messages.map(message => `       sent ${message.label}${payloadOf(message)}`),
    ...lost.map(label => `       lost ${label}`),
    ...outputs
      .filter(({ stream }) => stream === 'stderr')
      .flatMap(({ node, bytes }) => linesOf(bytes).map(line => `       ${node} stderr: ${line}`)),
    ...showOperations(operations).map(line => `       ${line}`),
    ...properties.map(({ name, holds }) => `       ${name} ${holds ? 'holds' : 'does not hold'}`),
    ...findings.map(({ message }) => `       ${message}`),
  ]
}

const payloadMax = 100

const payloadOf = ({ bytes, length }: RecordedMessage): string => {
  const text = printableText(bytes)?.trim()
  if (!length) return ''
  if (text === undefined) return `  (${length} bytes)`
  return `  ${text.length > payloadMax ? `${text.slice(0, payloadMax - 1)}…` : text}`
}

const linesOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes).trimEnd().split('\n')

/** The states of nodes after a step. */
export const viewStates = (execution: ShownExecution, nodes: readonly string[], step: number): string[] =>
  nodes.flatMap(node => {
    const state = execution.isDownAfter(node, step) ? 'down' : showState(execution.stateAfter(node, step))
    const [first, ...others] = state.split('\n')
    return [`${node}: ${first}`, ...others]
  })

/** A step of an execution. */
export interface ShownStep {
  readonly execution: ShownExecution
  readonly step: number
}

/** A diff of the node states that differ. */
export const viewDiff = (nodes: readonly string[], one: ShownStep, other: ShownStep): string[] => {
  const lines = nodes.flatMap(node => {
    const [before, after] = [one, other].map(({ execution, step }) =>
      execution.isDownAfter(node, step) ? '(down)' : execution.stateAfter(node, step),
    )
    const diff = diffOf(before, after)
    return diff.every(({ sign }) => sign === ' ')
      ? []
      : [`${node}:`, ...diff.map(({ sign, text }) => `${sign} ${text}`)]
  })
  return lines.length > 0 ? lines : ['no difference']
}

/** The enabled choices, numbered for `take`. */
export const viewChoices = (choices: readonly Choice[], taken: string | undefined): string[] =>
  choices.length === 0
    ? ['nothing is enabled']
    : choices.map(({ label }, index) => `${label === taken ? '>' : ' '}${number(index + 1)}  ${label}`)
