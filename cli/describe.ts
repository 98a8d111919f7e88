import type { Discovery } from '../checker/verdict.ts'
import type { GlobalState } from '../harness/config.ts'
import type { Checked } from './check.ts'
import type { Replayed } from './replay.ts'

/** What a check or a shrinking came to, for a person: the schedule, and in the end, where it is seen, what counts. */
export const describe = ({ verdict, trace, report, reportProblem }: Checked): string[] => {
  const { executions, steps, seconds, depth, criticalTransition: critical, schedule, notRepeated, discovery } = verdict
  const times = `${executions} executions, ${steps} steps in ${seconds.toFixed(1)} s`
  return [
    ...briefly(numbered(schedule)),
    `${verdict.verdict}${what(verdict)}`,
    verdict.message,
    ...(critical ? [`critical transition: step ${critical.step}, ${critical.label} (${critical.case})`] : []),
    ...notRepeated.map(line => `not repeated: ${line}`),
    ...(discovery ? [describeDiscovery(discovery)] : []),
    depth === 0 ? times : `${times}; every schedule of up to ${depth} steps`,
    ...(trace ? [`trace: ${trace}`, `again: lastnail replay ${trace}`] : []),
    ...(report ? [`report: ${report}`] : []),
    ...(reportProblem ? [`no report: ${reportProblem}`] : []),
  ]
}

const describeDiscovery = ({ by, execution, steps, seconds }: Discovery) =>
  `found after ${seconds.toFixed(1)} s in execution ${execution}, by ${searches[by]}, in ${steps} steps`

const searches: Readonly<Record<Discovery['by'], string>> = {
  straight: 'the way that the system is built for',
  race: 'a walk towards races',
  late: 'a walk towards races with slow ways, or late in a run',
  weighted: 'a weighted walk',
  priority: 'a walk by priorities',
  bounded: 'the bounded search',
}

/** What became of a trace that was executed again, for a person. */
export const describeReplay = (replayed: Replayed, state: GlobalState): string[] => [
  ...numbered(replayed.schedule),
  ...state.nodes.map(({ name, alive, state }) => `${name}: ${alive ? (JSON.stringify(state) ?? 'up') : 'down'}`),
  `${replayed.verdict}${what(replayed)}`,
  replayed.message,
]

const shownMax = 40
const firstShown = 3

/** The beginning and the end of what is long: all of it is in the report. */
const briefly = (lines: readonly string[]): readonly string[] => {
  const hidden = lines.length - shownMax
  if (hidden <= 0) return lines
  return [...lines.slice(0, firstShown), `      … ${hidden} more`, ...lines.slice(firstShown + hidden)]
}

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
          `await expect(system).toHold({ schedule: ${JSON.stringify(failure.schedule, null, 2)} })`,
        ]
      : []),
  ].join('\n')

interface Failure {
  readonly message: string
  readonly schedule: readonly string[]
  readonly state: GlobalState | undefined
  /** Of what a search found. */
  readonly trace?: string | null
}

const linesShown = 5

const described = ({ name, output }: GlobalState['nodes'][number]): string[] =>
  (['stdout', 'stderr'] as const).flatMap(stream => {
    const lines = output[stream].trimEnd().split('\n').slice(-linesShown)
    return output[stream] === '' ? [] : [`${name}, the end of its ${stream}:`, ...lines.map(line => `    ${line}`)]
  })
