import { readLabel } from '../checker/labels.ts'
import { type SearchCoverage, searchNames } from '../checker/searches/search.ts'
import { slowMs } from '../checker/verdict/hasten.ts'
import type { Discovery, Verdict } from '../checker/verdict/verdict.ts'
import type { GlobalState } from '../harness/config.ts'
import type { Checked } from './check.ts'
import { describeExplanation } from './describe-repeated.ts'
import type { Replayed } from './replay.ts'
import type { TriedByHand } from './try.ts'

/** What a check or a shrinking came to, for a person: the schedule, and in the end, where it is seen, what counts. */
export const describe = ({
  verdict,
  trace,
  report,
  reportProblem,
  explanation,
  met = [],
  deeper,
}: Checked): string[] => {
  const { executions, steps, seconds, depth, criticalTransition: critical, schedule, notRepeated, discovery } = verdict
  const times = `${executions} executions, ${steps} steps in ${seconds.toFixed(1)} s`
  return [
    ...briefly(schedule),
    `${verdict.verdict}${what(verdict)}${condition(verdict)}`,
    verdict.message,
    ...(critical ? [`critical transition: step ${critical.step}, ${critical.label} (${critical.case})`] : []),
    ...notRepeated.map(line => `not repeated: ${line}`),
    ...(explanation ? describeExplanation(explanation) : []),
    ...(discovery ? [describeDiscovery(discovery)] : []),
    ...(verdict.verdict === 'held' ? verdict.coverage.searches.flatMap(describeSearched) : []),
    ...met.map(line => `met: ${line}`),
    ...verdict.notes.map(note => `note: ${note}`),
    depth === 0 ? times : `${times}; the bounded search came to depth ${depth}`,
    ...(trace
      ? [
          `trace: ${trace}`,
          `again: npx lastnail replay ${trace}`,
          ...(verdict.verdict === 'violated' ? [`keep it: npx lastnail keep ${trace}`] : []),
        ]
      : []),
    ...(deeper ? [`deeper: ${deeper}`] : []),
    ...(report ? [`report: ${report}`] : []),
    ...(reportProblem ? [`no report: ${reportProblem}`] : []),
  ]
}

/** What a violation needs that a usual network does not do. */
const condition = ({ verdict, delayMs }: Verdict): string =>
  verdict === 'violated' && delayMs !== null && delayMs > slowMs
    ? `, only where a message is on its way for ${(delayMs / 1000).toFixed(1)} s`
    : ''

const describeDiscovery = ({ by, execution, steps, seconds }: Discovery) =>
  `found after ${seconds.toFixed(1)} s in execution ${execution}, by ${searchNames[by]}, in ${steps} steps`

const describeSearched = ({ name, executions, steps, states }: SearchCoverage): string[] =>
  executions === 0
    ? []
    : [`searched: ${searchNames[name]}, in ${executions} executions of ${steps} steps, to ${states} states first`]

/** What became of a trace that was executed again, for a person. */
export const describeReplay = (replayed: Replayed, state: GlobalState): string[] => [
  ...numbered(replayed.schedule),
  ...state.nodes.map(({ name, alive, state }) => `${name}: ${alive ? (JSON.stringify(state) ?? 'up') : 'down'}`),
  `${replayed.verdict}${what(replayed)}`,
  replayed.message,
]

/** What came of steps that were chosen by hand, with what could come next. */
export const describeTried = (tried: Omit<TriedByHand, 'state'>, state: GlobalState): string[] => [
  ...numbered(tried.schedule),
  ...tried.enabled.map(label => `   or  ${label}`),
  ...state.nodes.map(({ name, alive, state }) => `${name}: ${alive ? (JSON.stringify(state) ?? 'up') : 'down'}`),
  `${tried.verdict}${what(tried)}`,
  tried.message,
]

const shownMax = 40
const firstShown = 3

/** Of what is long the beginning, the end, and whatever is more than a message or a timer: all of it is in the report. */
const briefly = (schedule: readonly string[]): readonly string[] => {
  const lines = numbered(schedule)
  const hidden = lines.length - shownMax
  if (hidden <= 0) return lines
  const isShown = (index: number) => index < firstShown || index >= firstShown + hidden || isDecisive(schedule[index]!)
  return lines.flatMap((line, index) => {
    if (isShown(index)) return [line]
    const isFirst = isShown(index - 1)
    return isFirst ? [`      … ${countHidden(lines.length, index, isShown)} more`] : []
  })
}

/** Hidden ones in a row, from this one on. */
const countHidden = (length: number, from: number, isShown: (index: number) => boolean): number => {
  let end = from
  while (end < length && !isShown(end)) end++
  return end - from
}

/** Faults, what ends them, calls and overlaps. */
const isDecisive = (label: string) => !['deliver', 'timer', undefined].includes(readLabel(label).kind)

/** A schedule with the numbers of its steps. */
export const numbered = (schedule: readonly string[]): string[] =>
  schedule.map((label, index) => `${String(index + 1).padStart(4)}  ${label}`)

const what = ({ kind, property }: { readonly kind: string | null; readonly property: string | null }): string => {
  const words = [kind, property].filter(word => word !== null).join(' ')
  return words === '' ? '' : `: ${words}`
}

/** What a test says that expected a system to hold: what is violated, how to get there, and what the nodes wrote. */
export const describeFailure = (name: string, failure: Failure): string =>
  [
    `expected ${name} to hold, but ${failure.message}`,
    ...numbered(failure.schedule),
    '',
    ...(failure.state?.nodes.flatMap(described) ?? []),
    ...(failure.trace
      ? [
          `trace: ${failure.trace}`,
          'as a test of its own:',
          `await expect(system).toHold({ ${drawnBy(failure)}schedule: ${JSON.stringify(failure.schedule, null, 2)} })`,
        ]
      : []),
  ].join('\n')

interface Failure {
  readonly message: string
  readonly schedule: readonly string[]
  readonly state: GlobalState | undefined
  /** Of what a search found. */
  readonly trace?: string | null
  readonly seed?: number
  readonly variant?: number
}

/** Which random numbers the nodes drew, where they are not those that are drawn anyway. */
const drawnBy = ({ seed = 1, variant = 0 }: Failure): string =>
  `${seed === 1 ? '' : `seed: ${seed}, `}${variant === 0 ? '' : `variant: ${variant}, `}`

const linesShown = 5

const described = ({ name, output }: GlobalState['nodes'][number]): string[] =>
  (['stdout', 'stderr'] as const).flatMap(stream => {
    const lines = output[stream].trimEnd().split('\n').slice(-linesShown)
    return output[stream] === '' ? [] : [`${name}, the end of its ${stream}:`, ...lines.map(line => `    ${line}`)]
  })
