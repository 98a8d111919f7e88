import type { ExecutionObserver } from '../../checker/cells/executor.ts'
import { showOperations } from '../../checker/history/show.ts'
import { shownApart, shownList } from '../../checker/system/brief.ts'
import { Differs, DoesNotStart } from '../../checker/system/errors.ts'
import type { RecordedStep } from '../../checker/trace/trace.ts'
import type { GlobalState } from '../../harness/config/config.ts'
import type { StepReader } from './step-reader.ts'

/** An observer that throws `Differs` at the first step with another result than recorded. */
export const compareWith = (recorded: readonly RecordedStep[], reader: StepReader): ExecutionObserver<GlobalState> =>
  reader.observer(found => requireSame(recorded[found.index]!, found))

/** @throws Differs if a step has another result than recorded */
export const requireSame = (recorded: RecordedStep, found: RecordedStep): void => {
  const [crash] = found.choice ? [] : found.findings.filter(({ kind }) => kind === 'crash')
  if (crash && recorded.findings.length === 0) throw new DoesNotStart(crash)
  const difference = differenceOf(recorded, found)
  if (difference === undefined) return
  const { index, choice } = found
  throw new Differs(`diverged at ${choice ? `step ${index} (${choice.label})` : 'the start'}: ${difference}`)
}

/**
 * What matters to others: whether nodes live, their states, answers and messages. Other output does not matter. A step
 * that is kept in outline has neither states nor messages.
 */
const differenceOf = (recorded: RecordedStep, found: RecordedStep): string | undefined => {
  const isWhole = recorded.keeps === undefined
  return (
    difference(recorded.findings.map(showFinding), found.findings.map(showFinding)) ??
    difference((recorded.started ?? []).map(showStarted), (found.started ?? []).map(showStarted)) ??
    (isWhole ? difference(recorded.states.map(showState), found.states.map(showState)) : undefined) ??
    difference(showOperations(recorded.operations), showOperations(found.operations)) ??
    (isWhole ? difference(recorded.messages.map(showMessage), found.messages.map(showMessage)) : undefined)
  )
}

const difference = (recorded: readonly string[], found: readonly string[]): string | undefined => {
  const missing = recorded.filter(each => !found.includes(each))
  const added = found.filter(each => !recorded.includes(each))
  if (missing.length === 0 && added.length === 0) return undefined
  const [expected, instead] = shownApart(shownList(missing) || 'nothing', shownList(added) || 'nothing')
  return `expected, as recorded, ${expected}, but found ${instead}`
}

const showFinding = ({ kind, node }: RecordedStep['findings'][number]) => `a ${kind} of ${node}`
const showStarted = (label: string) => `"${label}" in the start`
const showState = ({ node, state }: RecordedStep['states'][number]) => `${node} in state ${JSON.stringify(state)}`
const showMessage = ({ label }: RecordedStep['messages'][number]) => `the message "${label}"`

/** How a step differs from an earlier execution of it in anything observable; undefined if it does not. */
export const exactDifference = (
  was: RecordedStep,
  is: RecordedStep,
): { readonly seen: string; readonly node: string | null } | undefined => {
  for (const [name, listOf] of Object.entries(lists)) {
    const [before, now] = [listOf(was), listOf(is)]
    const at = before.findIndex((each, index) => each.text !== now[index]?.text)
    const index = at === -1 && now.length > before.length ? before.length : at
    if (index === -1) continue
    const node = (before[index] ?? now[index])?.node ?? null
    const [first, second] = shownApart(before[index]?.text ?? 'nothing', now[index]?.text ?? 'nothing')
    return { node, seen: `${name}: ${first}, then ${second}` }
  }
  return undefined
}

interface Item {
  readonly node: string | null
  readonly text: string
}

const shownOf = (bytes: Uint8Array) => JSON.stringify(Buffer.from(bytes).toString('latin1'))

/** In causal order, as far as there is one. */
const lists: Readonly<Record<string, (step: RecordedStep) => Item[]>> = {
  'the start': step => (step.started ?? []).map(label => ({ node: null, text: `"${label}"` })),
  findings: step => step.findings.map(finding => ({ node: finding.node, text: `${finding.kind} of ${finding.node}` })),
  outputs: step =>
    step.outputs.map(({ node, stream, bytes }) => ({ node, text: `${node} wrote ${shownOf(bytes)} to ${stream}` })),
  messages: step =>
    step.messages.map(({ from, label, bytes }) => ({ node: from, text: `"${label}" ${shownOf(bytes)}` })),
  states: step => step.states.map(({ node, state }) => ({ node, text: `${node} in state ${JSON.stringify(state)}` })),
  operations: step => showOperations(step.operations).map(text => ({ node: null, text })),
  clocks: step => step.clocks.map(({ node, elapsedMs }) => ({ node, text: `${node} at ${elapsedMs} ms` })),
  timers: step =>
    step.timers.map(({ node, deadlinesMs }) => ({
      node,
      text: deadlinesMs.length === 0 ? `no timer of ${node}` : `a timer of ${node} in ${deadlinesMs.join(', ')} ms`,
    })),
  lost: step => step.lost.map(label => ({ node: null, text: `"${label}" lost` })),
  'what is offered': step => step.offered.map(({ node, label }) => ({ node, text: `"${label}"` })),
}
