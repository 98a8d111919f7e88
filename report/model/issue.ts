import { isFault } from '../../checker/happening/kinds.ts'
import { counted, shortened } from '../../checker/system/brief.ts'
import { readLabel } from '../../checker/system/labels.ts'
import type { ChoiceKind } from '../../checker/system/system.ts'
import type { RecordedVerdict } from '../../checker/verdict/verdict.ts'
import { type Call, describeCall } from './calls.ts'
import { shortly } from './changes.ts'
import type { ShownExecution } from './execution.ts'
import { happenedIn, stepSaid } from './happened.ts'
import { type EqualSteps, runsOf } from './runs.ts'

/** Lines of steps in an issue: more than these are not read. */
const stepsMax = 6
const changesMax = 3
const messageLinesMax = 3

/**
 * Some ten lines for the issue of a project whose maintainers do not know the tool: what does not hold, what happened, the
 * steps that matter with what calls returned, what the last step changed, and how to see it again.
 *
 * @param again the command that executes it again
 */
export const issueOf = (execution: ShownExecution, verdict: RecordedVerdict, again: string): readonly string[] => {
  const { schedule, property, kind, message } = verdict
  const { system } = execution.trace.header
  const [head = '', ...explained] = message.split('\n')
  const what = property === null ? `${kind} in ${system}` : `${property} does not hold in ${system}`
  const happened = happenedIn(verdict)
  const runs = decisiveRuns(verdict)
  const left = schedule.length - runs.reduce((sum, { from, to }) => sum + to - from + 1, 0)
  return [
    `### ${what}`,
    '',
    ...(happened ? [`What happened: ${happened}.`, ''] : []),
    ...runs.map(run => `- ${runSaid(run, execution)}`),
    '',
    [shortened(head, 300), ...explained.slice(0, messageLinesMax)].join('\n'),
    `Found by lastnail in an execution of ${counted(schedule.length, 'step')}${left > 0 ? `, of which ${left} are left out above` : ''}: the real programs, with the order of messages and timers chosen. It repeats: \`${again}\``,
  ]
}

/** `ann returned "yours"; n1 chosen: null → "red"`: what the last step changed. `undefined` if that was nothing. */
export const lastSeen = (execution: ShownExecution): string | undefined => {
  const { calls, end } = execution
  const ended = calls.filter(({ to }) => to === end).map(call => shortened(describeCall(call), 200))
  const changed = execution
    .changesIn(end)
    .map(
      ({ node, name, before, after }) =>
        `${[node, name].filter(Boolean).join(' ')}: ${shortly(before)} → ${shortly(after)}`,
    )
  const more = changed.length - changesMax
  const seen = [...ended, ...changed.slice(0, changesMax), ...(more > 0 ? [`and ${counted(more, 'more field')}`] : [])]
  return seen.length === 0 ? undefined : seen.join('; ')
}

/** One step, or the same one several times, in words, and what came of it. */
const runSaid = ({ label, from, to }: EqualSteps, execution: ShownExecution): string => {
  const { calls, end } = execution
  const step = from === to ? `step ${from}` : `steps ${from} to ${to}`
  const times = from === to ? '' : `, ${to - from + 1} times`
  const begun = readLabel(label).kind === 'client' ? calls.find(call => call.from === from) : undefined
  const answered = begun?.to !== undefined && begun.to < end ? `; ${answerSaid(begun)}` : ''
  const seen = to === end ? lastSeen(execution) : undefined
  return `${step}: ${stepSaid(label)}${times}${answered}${seen ? `; then ${seen}` : ''}`
}

const answerSaid = (call: Call): string => `in step ${call.to} ${shortened(describeCall(call), 120)}`

/** The last step, those that overtook and were overtaken, then steps with a fault, and calls and overlaps, as far as there is room. */
const decisiveRuns = ({ schedule, overtakings = [] }: RecordedVerdict): readonly EqualSteps[] => {
  const runs = runsOf(schedule)
  const placeOf = (step: number) => runs.findIndex(({ to }) => to >= step)
  const last = runs.length - 1
  const inOvertakings = overtakings.flatMap(({ step, delivered }) => [
    placeOf(step),
    ...(delivered === null ? [] : [placeOf(delivered)]),
  ])
  const placesOf = (isWanted: (kind: ChoiceKind) => boolean) =>
    runs.flatMap(({ label }, place) => {
      const { kind } = readLabel(label)
      return kind !== undefined && isWanted(kind) ? [place] : []
    })
  const faults = placesOf(isFault)
  const others = placesOf(kind => !isFault(kind) && kind !== 'deliver' && kind !== 'timer')
  const chosen = new Set([last, ...inOvertakings, ...faults, ...others].slice(0, stepsMax))
  for (let place = last; place >= 0 && chosen.size < Math.min(stepsMax, runs.length); place--) chosen.add(place)
  return [...chosen].sort((one, other) => one - other).flatMap(place => runs[place] ?? [])
}
