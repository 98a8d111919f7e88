import { relative } from 'node:path'
import { type SearchCoverage, searchNames } from '../../checker/searches/search.ts'
import { counted } from '../../checker/system/brief.ts'
import { farTimersIn } from '../../checker/system/far-timers.ts'
import { readLabel } from '../../checker/system/labels.ts'
import { scheduleOf } from '../../checker/trace/again.ts'
import { readTrace } from '../../checker/trace/read.ts'
import type { Trace } from '../../checker/trace/trace.ts'
import { slowMs } from '../../checker/verdict/slow-network.ts'
import type { Curve, Discovery, Spent, Verdict } from '../../checker/verdict/verdict.ts'
import type { GlobalState } from '../../harness/config/config.ts'
import { holdOf, replayCommand } from '../../report/model/again.ts'
import { ShownExecution } from '../../report/model/execution.ts'
import { happenedIn, waysPart } from '../../report/model/happened.ts'
import { lastSeen } from '../../report/model/issue.ts'
import { quoted, quotedForShell } from '../../report/model/quoted.ts'
import { type EqualSteps, runsOf } from '../../report/model/runs.ts'
import type { Replayed } from '../traces/replay.ts'
import { type Checked, isSearched } from './checked.ts'
import { describeExplanation } from './describe-repeated.ts'
import { describeMet } from './met.ts'
import type { TriedByHand } from './try.ts'

/**
 * The result of a check or of shrinking, as lines for a person. The most important lines come last, where a terminal
 * shows them.
 */
export const describeCheck = (checked: Checked): string[] => {
  const { verdict, trace, report, reportProblem, issue, explanation, met, deeper, sample, notAmong } = checked
  const { executions, steps, seconds, depth, criticalTransition: critical, schedule, notRepeated, discovery } = verdict
  const isViolated = verdict.verdict === 'violated'
  const recorded = trace && (schedule.length > 0 || isViolated) ? readTrace(trace) : undefined
  const times = `${counted(executions, 'execution')}, ${counted(steps, 'step')} in ${seconds.toFixed(1)} s`
  return [
    ...(schedule.length > 0 && recorded ? startOf(recorded) : []),
    // Without a trace the schedule is nowhere else.
    ...(trace ? briefly(schedule) : numberedSteps(schedule)),
    `${verdict.verdict}${what(verdict)}${condition(verdict)}`,
    ...(isViolated ? describeHappened(verdict) : []),
    withoutEvidence(verdict),
    ...(isViolated && recorded ? describeSeen(recorded) : []),
    ...(notAmong ? [`not among them: ${notAmong.join('; ')}`] : []),
    ...(critical ? [`critical transition: step ${critical.step}, ${critical.label} (${critical.case})`] : []),
    ...(critical && isViolated ? describeParting(verdict) : []),
    ...(verdict.curve ? [describeCurve(verdict.curve, verdict)] : []),
    ...(hasEvidence(verdict) ? [`details: ${verdict.evidence}`] : []),
    ...notRepeated.map(line => `not repeated: ${line}`),
    ...(explanation ? describeExplanation(explanation) : []),
    ...(discovery ? [describeDiscovery(discovery)] : []),
    ...(met && isSearched(verdict) ? describeMet(met, executions).map(line => `met: ${line}`) : []),
    ...(verdict.verdict === 'held' ? verdict.coverage.searches.flatMap(describeSearched) : []),
    ...verdict.notes.map(note => `note: ${note}`),
    describeSpent(verdict.spent),
    depth === 0 ? times : `${times}; the bounded search came to depth ${depth}`,
    ...(trace ? describeTrace(trace, isViolated ? recorded : undefined) : []),
    ...(sample && sample !== trace ? [`sample: ${sample}`] : []),
    ...(deeper ? [`deeper: ${deeper}`] : []),
    ...(issue ? [`for an issue: ${issue}`] : []),
    ...(report ? [`report: ${report}`] : []),
    ...(reportProblem ? [`no report: ${reportProblem}`] : []),
  ]
}

const describeHappened = (verdict: Verdict): string[] => {
  const happened = happenedIn(verdict)
  return happened === undefined ? [] : [`what happened: ${happened}`]
}

/** Answers to calls, and changes of states, in the last step. */
const describeSeen = (recorded: Trace): string[] => {
  const seen = lastSeen(new ShownExecution(recorded))
  return seen === undefined ? [] : [`then: ${seen}`]
}

/** Where a critical transition only made visible what an earlier step had decided. */
const describeParting = (verdict: Verdict): string[] => {
  const parting = waysPart(verdict)
  return parting === undefined ? [] : [`its cause: ${parting}`]
}

const hasEvidence = ({ message, evidence }: Verdict): boolean =>
  evidence !== undefined && message.endsWith(`: ${evidence}`)

/** The message without what it rests on, which has a line of its own. */
const withoutEvidence = (verdict: Verdict): string =>
  hasEvidence(verdict) ? verdict.message.slice(0, -(verdict.evidence!.length + 2)) : verdict.message

/** `curve: of 20 walks from each state 0, 0, 12, 17, 10 and 20 …`: only states in which the number changes. */
const describeCurve = ({ walks, points }: Curve, { kind }: Verdict): string => {
  const end = kind === 'liveness' ? 'did not recover' : 'violated it too'
  const changes = points.filter(({ bad }, index) => bad !== points[index - 1]?.bad)
  const shown = changes.length > curveShownMax ? [changes[0]!, ...changes.slice(1 - curveShownMax)] : changes
  return `curve: of ${counted(walks, 'walk')} from each state ${end}: ${shown.map(({ step, bad }) => `${bad} after step ${step}`).join(', ')}`
}

const curveShownMax = 6

/** Commands to use the trace with. */
const describeTrace = (path: string, violated: Trace | undefined): string[] => {
  const again = [`trace: ${path}`, `again: ${replayCommand(path)}`]
  return violated ? [...asTest(path, violated), ...again, `keep it: npx lastnail keep ${quotedForShell(path)}`] : again
}

/** A test to paste, or for a long schedule the command that writes it. An emulated run cannot be repeated by a test. */
const asTest = (path: string, trace: Trace): string[] => {
  const test = holdOf(trace, quoted(relative('', trace.header.config.path)))
  if (test === undefined) return []
  return scheduleOf(trace).length > shownMax
    ? [`as a test: npx lastnail keep --test ${quotedForShell(path)}`]
    : ['as a test:', ...test.map(line => `  ${line}`)]
}

/** The condition for a violation that usual networks and machines do not meet. */
const condition = ({
  verdict,
  schedule,
  delayMs,
  skewMs,
}: Pick<Verdict, 'verdict' | 'schedule' | 'delayMs' | 'skewMs'>): string => {
  if (verdict !== 'violated') return ''
  const needs = [
    ...farTimersIn(schedule).map(timer => `${timer} fires`),
    ...(isLong(delayMs) ? [`a message is in flight for ${(delayMs / 1000).toFixed(1)} s`] : []),
    ...(isLong(skewMs) ? [`the clocks of nodes run ${(skewMs / 1000).toFixed(1)} s apart`] : []),
  ]
  return needs.length === 0 ? '' : `, only where ${needs.join(' and ')}`
}

const isLong = (milliseconds: number | null): milliseconds is number => milliseconds !== null && milliseconds > slowMs

/** The purpose of the executions, and how many had it. */
const describeSpent = ({ search, goal, examination, audit }: Spent): string => {
  const others = [
    ...(goal > 0 ? [`${goal} on the way to the goal`] : []),
    ...(examination > 0 ? [`${examination} to examine what was found or suspected`] : []),
    ...(audit > 0 ? [`${audit} to compare states that look alike`] : []),
  ]
  return [`spent: ${counted(search, 'execution')} to search`, ...others].join(', ')
}

const describeDiscovery = ({ by, execution, steps, seconds }: Discovery) =>
  `found after ${seconds.toFixed(1)} s in execution ${execution}, by ${searchNames[by]}, in ${counted(steps, 'step')}`

const describeSearched = ({ name, executions, steps, states }: SearchCoverage): string[] =>
  executions === 0
    ? []
    : [
        `searched: ${searchNames[name]}, in ${counted(executions, 'execution')} of ${counted(steps, 'step')}, to ${counted(states, 'state')} first`,
      ]

/** The result of executing a trace again, as lines for a person. */
export const describeReplay = (replayed: Replayed, state: GlobalState): string[] => [
  ...startOf(readTrace(replayed.trace)),
  ...numberedSteps(replayed.schedule),
  ...state.nodes.map(({ name, alive, state }) => `${name}: ${alive ? (JSON.stringify(state) ?? 'up') : 'down'}`),
  `${replayed.verdict}${what(replayed)}`,
  replayed.message,
]

/** The result of steps chosen by hand, with the choices enabled next. */
export const describeTried = ({ state, started, ...tried }: TriedByHand): string[] => [
  ...describeStart(started),
  ...numberedSteps(tried.schedule),
  ...tried.enabled.map(label => `   or  ${label}`),
  ...state.nodes.map(({ name, alive, state }) => `${name}: ${alive ? (JSON.stringify(state) ?? 'up') : 'down'}`),
  `${tried.verdict}${what(tried)}${condition(tried)}`,
  tried.message,
]

const shownMax = 40
const firstShown = 3

/**
 * Of a long schedule: its beginning, its end, and all steps other than messages and timers. The report has the whole.
 */
const briefly = (schedule: readonly string[]): readonly string[] => {
  const runs = runsOf(schedule)
  const hidden = runs.length - shownMax
  if (hidden <= 0) return runs.map(numbered)
  const isShown = (place: number) =>
    place < firstShown || place >= firstShown + hidden || isDecisive(runs[place]!.label)
  return runs.flatMap((run, place) => {
    if (isShown(place)) return [numbered(run)]
    if (!isShown(place - 1)) return []
    const next = runs.find((_, later) => later > place && isShown(later))!
    return [`      … ${next.from - run.from} more`]
  })
}

/** Faults and their ends, calls and overlaps. */
const isDecisive = (label: string) => !['deliver', 'timer', undefined].includes(readLabel(label).kind)

/** Lines about the start of a recorded execution. */
const startOf = ({ steps }: Trace): string[] => describeStart(steps[0]?.started ?? [])

/** A start in which nodes waited for each other, as step 0. Of a long one, its beginning and its end. */
const describeStart = (started: readonly string[]): string[] => {
  if (started.length === 0) return []
  const hidden = started.length - 2 * firstShown
  const lines = started.map(label => `        ${label}`)
  if (hidden > 1) lines.splice(firstShown, hidden, `        … ${hidden} more`)
  return ['   0  the start, in which nodes waited for each other:', ...lines]
}

/** A schedule with step numbers. The same step many times in a row is one line. */
export const numberedSteps = (schedule: readonly string[]): string[] => runsOf(schedule).map(numbered)

const numbered = ({ label, from, to }: EqualSteps): string => {
  const times = to > from ? ` (${to - from + 1} times, to step ${to})` : ''
  return `${String(from).padStart(4)}  ${label}${times}`
}

const what = ({ kind, property }: { readonly kind: string | null; readonly property: string | null }): string => {
  const words = [kind, property].filter(word => word !== null).join(' ')
  return words === '' ? '' : `: ${words}`
}

/** The message of a test that expected a system to hold: the violation, how to repeat it, and the nodes' output. */
export const describeFailure = (name: string, failure: Failure): string =>
  [
    `expected ${name} to hold, but ${failure.message}`,
    ...numberedSteps(failure.schedule),
    '',
    ...(failure.state?.nodes.flatMap(described) ?? []),
    ...(failure.trace
      ? [`trace: ${failure.trace}`, 'as a test of its own:', ...(holdOf(readTrace(failure.trace), 'system') ?? [])]
      : []),
  ].join('\n')

interface Failure {
  readonly message: string
  readonly schedule: readonly string[]
  readonly state: GlobalState | undefined
  /** Path of the trace, if a search found the failure. */
  readonly trace?: string | null
}

const linesShown = 5

const described = ({ name, output }: GlobalState['nodes'][number]): string[] =>
  (['stdout', 'stderr'] as const).flatMap(stream => {
    const lines = output[stream].trimEnd().split('\n').slice(-linesShown)
    return output[stream] === '' ? [] : [`${name}, the end of its ${stream}:`, ...lines.map(line => `    ${line}`)]
  })
