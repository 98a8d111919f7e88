import { clocksStartOf, hadLongTurns, hadTimes, scheduleOf } from '../../checker/trace/again.ts'
import type { Trace } from '../../checker/trace/trace.ts'
import { quoted, quotedForShell } from './quoted.ts'
import { verdictOf } from './story.ts'

/** A shell command that executes a trace again. */
export const replayCommand = (path: string): string => `npx lastnail replay ${quotedForShell(path)}`

/**
 * A vitest test that fails while the trace's schedule violates something. Undefined where no test can repeat it, as for
 * `holdOf`.
 *
 * @param beside path of the configuration, relative to the test's directory; by default it is named by its absolute path
 */
export const testOf = (trace: Trace, beside?: string): string | undefined => {
  const { path } = trace.header.config
  const isNamed = beside === undefined
  const hold = holdOf(trace, isNamed ? quoted(path) : `join(import.meta.dirname, ${quoted(beside)})`)
  if (hold === undefined || path === '') return undefined
  const verdict = verdictOf(trace)
  return `${isNamed ? '' : "import { join } from 'node:path'\n"}import { expect, test } from 'vitest'
import 'lastnail/vitest'

test(${quoted(verdict?.property ?? verdict?.kind ?? 'it holds')}, { timeout: 60_000 }, async () => {
${hold.map(line => `  ${line}`).join('\n')}
})
`
}

/**
 * The lines of a test that expect the trace's schedule to violate nothing any more. Undefined for a trace without a
 * violation, and for an emulated run, whose times no test repeats.
 *
 * @param system as JavaScript
 */
export const holdOf = (trace: Trace, system: string): string[] | undefined => {
  if (verdictOf(trace)?.verdict !== 'violated' || hadTimes(trace)) return undefined
  return [
    `await expect(${system}).toHold({`,
    // The seed that a trace records is the sum of the check's seed and the variant.
    `  seed: ${trace.header.seed},`,
    `  clocksStart: ${quoted(clocksStartOf(trace))},`,
    ...(hadLongTurns(trace) ? ['  longTurns: true,'] : []),
    '  schedule: [',
    ...scheduleOf(trace).map(label => `    ${quoted(label)},`),
    '  ],',
    '})',
  ]
}
