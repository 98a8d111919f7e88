import { median } from '../table.ts'
import type { Result } from './results.ts'
import type { Bug } from './rows.ts'

/** Found: the property of the row is violated, and was violated again (which plain testing cannot check). */
export const isFound = ({ property, kind }: Bug, { outcome, plain }: Result): boolean =>
  (plain !== null && plain.violated === property) ||
  (outcome?.verdict === 'violated' && outcome.repeated && outcome.kind === kind && outcome.property === property)

/** Whether the critical transition is the one that the paper names; `undefined` if it names none. */
export const isNamed = ({ expected }: Bug, { outcome }: Result): boolean | undefined =>
  expected?.test(outcome?.criticalTransition?.label ?? '')

/** The result of a row, for a program. */
export const figuresOf = (bug: Bug | null, result: Result) => {
  const { outcome, plain, discovery, seconds, cpuSeconds, message } = result
  return {
    property: bug ? bug.property : null,
    verdict: outcome?.verdict ?? (plain?.violated ? 'violated' : plain ? 'held' : null),
    found: bug ? isFound(bug, result) : null,
    foundBy: discovery?.by ?? null,
    executions: outcome?.executions ?? plain?.rounds ?? null,
    steps: outcome?.steps ?? null,
    seconds,
    cpuSeconds,
    secondsToViolation: discovery?.seconds ?? null,
    stepsToViolation: discovery?.steps ?? null,
    shrunkTo: outcome?.verdict === 'violated' ? outcome.schedule.length : null,
    criticalTransition: outcome?.criticalTransition ?? null,
    isTheOneThatThePaperNames: (bug && isNamed(bug, result)) ?? null,
    repeated: outcome?.repeated ?? null,
    message,
  }
}

const heading = [
  'bug',
  'property',
  'verdict',
  'found by',
  'seconds',
  'executions',
  'steps',
  'in steps',
  'shrunk to',
  'repeated',
  'critical transition',
]

/** A table for a person; rows that were not run are left out. */
export const table = (rows: readonly { bug: Bug; result: Result }[]): string => {
  const lines = rows.map(({ bug, result }) => {
    const { outcome, plain, discovery, seconds } = result
    const found = isFound(bug, result)
    const critical = outcome?.criticalTransition
    const named = isNamed(bug, result)
    const mark = named === undefined ? '' : named ? ', as the paper names it' : ', not the one that the paper names'
    return [
      bug.id,
      bug.property ?? bug.kind,
      found ? 'found' : `not found: ${outcome ? outcome.verdict : result.message}`,
      found ? (discovery?.by ?? '') : '',
      String(seconds),
      String(outcome?.executions ?? plain?.rounds ?? ''),
      String(outcome?.steps ?? ''),
      found ? String(discovery?.steps ?? '') : '',
      found ? String(outcome?.schedule.length ?? '') : '',
      // Plain testing cannot repeat it.
      found ? (outcome ? 'yes' : 'no') : '',
      critical ? `${critical.step} ${critical.label} (${critical.case}, ${critical.walks} walks${mark})` : '',
    ]
  })
  return aligned([heading, ...lines])
}

/** One line about all rows that were run. */
export const summary = (rows: readonly { bug: Bug; result: Result }[], correct: readonly Result[]): string => {
  const found = rows.filter(({ bug, result }) => isFound(bug, result))
  const time = found.length > 0 ? `, in ${median(found.map(({ result }) => result.seconds))} s (median)` : ''
  const accused = correct.filter(({ outcome }) => outcome?.verdict === 'violated').map(({ system }) => system)
  const clean = accused.length === 0 ? 'none accused' : `accused: ${accused.join(', ')}`
  return `${found.length} of ${rows.length} bugs found${time}; ${correct.length} correct systems, ${clean}`
}

/** By row, how many seconds of CPU and executions each search needs to find the bug; without that, what it did in vain. */
export const comparison = (
  searches: readonly string[],
  rows: readonly { bug: Bug; results: readonly (Result | undefined)[] }[],
) => {
  const cell = (bug: Bug, result: Result | undefined) =>
    result === undefined ? '' : `${isFound(bug, result) ? '' : '– '}${result.cpuSeconds} s, ${executionsOf(result)}`
  const found = searches.map((_, index) =>
    rows.filter(({ bug, results: { [index]: result } }) => result && isFound(bug, result)),
  )
  return aligned([
    ['CPU and executions', ...searches],
    ...rows.map(({ bug, results }) => [bug.id, ...results.map(result => cell(bug, result))]),
    ['found', ...found.map(each => `${each.length} of ${rows.length}`)],
    [
      'median',
      ...found.map((each, index) =>
        each.length === 0 ? '' : `${median(each.map(({ results }) => results[index]!.cpuSeconds))} s`,
      ),
    ],
  ])
}

const executionsOf = ({ outcome, plain }: Result): number => outcome?.executions ?? plain?.rounds ?? 0

const aligned = (lines: readonly (readonly string[])[]): string => {
  const widths = lines[0]!.map((_, column) => Math.max(...lines.map(line => line[column]!.length)))
  return lines
    .map(line =>
      line
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
