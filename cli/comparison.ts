import type { Observer } from '../checker/executor.ts'
import { show } from '../checker/history/show.ts'
import type { RecordedStep } from '../checker/trace/trace.ts'
import type { GlobalState } from '../harness/config.ts'
import type { StepReader } from './step-reader.ts'

/** An execution that takes the recorded choices, and does not do with them what was recorded. */
export class Differs extends Error {
  override readonly name = 'Differs'
}

/** Throws `Differs` at the first step that is not as it was recorded. */
export const compareWith = (recorded: readonly RecordedStep[], reader: StepReader): Observer<GlobalState> =>
  reader.observer(found => requireSame(recorded[found.index]!, found))

/** @throws Differs where a step is not as it was recorded */
export const requireSame = (recorded: RecordedStep, found: RecordedStep): void => {
  const difference = differenceOf(recorded, found)
  if (difference === undefined) return
  const { index, choice } = found
  throw new Differs(`diverged at ${choice ? `step ${index} (${choice.label})` : 'the start'}: ${difference}`)
}

/** What a service means to others: what becomes of it, its states, what it answers, what it sends. Not what it prints beside. */
const differenceOf = (recorded: RecordedStep, found: RecordedStep): string | undefined =>
  difference(recorded.findings.map(showFinding), found.findings.map(showFinding)) ??
  difference(recorded.states.map(showState), found.states.map(showState)) ??
  difference(show(recorded.operations), show(found.operations)) ??
  difference(recorded.messages.map(showMessage), found.messages.map(showMessage))

const difference = (recorded: readonly string[], found: readonly string[]): string | undefined => {
  const missing = recorded.filter(each => !found.includes(each))
  const added = found.filter(each => !recorded.includes(each))
  if (missing.length === 0 && added.length === 0) return undefined
  return `expected, as recorded, ${missing.join(', ') || 'nothing'}, but found ${added.join(', ') || 'nothing'}`
}

const showFinding = ({ kind, node }: RecordedStep['findings'][number]) => `a ${kind} of ${node}`
const showState = ({ node, state }: RecordedStep['states'][number]) => `${node} in state ${JSON.stringify(state)}`
const showMessage = ({ label }: RecordedStep['messages'][number]) => `the message "${label}"`
