import type { ChoiceKind } from '../../checker/system/system.ts'
import type { RecordedStep } from '../../checker/trace/trace.ts'
import type { ShownExecution } from './execution.ts'

/** Which steps are shown. */
export interface StepFilter {
  /** `undefined`: of all nodes. */
  readonly node: string | undefined
  /** `undefined`: of all kinds. */
  readonly kind: ChoiceKind | undefined
  /** A regular expression, or a plain text if it is not a valid one. Case is ignored. */
  readonly text: string
}

export const noFilter: StepFilter = { node: undefined, kind: undefined, text: '' }

export const isFiltering = ({ node, kind, text }: StepFilter): boolean =>
  node !== undefined || kind !== undefined || text !== ''

/** Whether a step passes the filter: it concerns the node, is of the kind, and contains the text. */
export const matcher = ({ node, kind, text }: StepFilter): ((execution: ShownExecution, step: number) => boolean) => {
  const pattern = filterPatternOf(text)
  return (execution, step) => {
    const recorded = execution.steps[step]!
    if (kind !== undefined && recorded.choice?.kind !== kind) return false
    if (node !== undefined && !concerns(execution, step, node)) return false
    return text === '' || textsOf(recorded).some(each => pattern.test(each))
  }
}

const concerns = (execution: ShownExecution, step: number, node: string) =>
  execution.nodesTouchedBy(step).includes(node) ||
  execution.journeysEndedAt(step).some(({ message: { from, to } }) => from === node || to === node)

/** The texts of a step that a filter searches: its choice, messages, outputs and findings. */
const textsOf = ({ choice, messages, outputs, findings }: RecordedStep): string[] => [
  choice?.label ?? 'start',
  ...messages.map(({ label }) => label),
  ...outputs.map(({ bytes }) => new TextDecoder().decode(bytes)),
  ...findings.map(({ message }) => message),
]

/** A regular expression, or a plain text if it is not a valid one. Case is ignored. */
export const filterPatternOf = (text: string): RegExp => {
  try {
    return new RegExp(text, 'i')
  } catch {
    return new RegExp(text.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&'), 'i')
  }
}
