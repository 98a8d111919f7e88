import type { Trace } from '../../checker/trace/trace.ts'
import { verdictOf } from './story.ts'

/** A shell command that executes a trace again. */
export const replayCommand = (path: string): string => `npx lastnail replay ${quotedForShell(path)}`

const quotedForShell = (word: string) => (/^[\w./@:=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)

/**
 * A vitest test that fails while the trace's schedule violates something. Undefined for a trace without a violation.
 */
export const testOf = (trace: Trace): string | undefined => {
  const { header, steps } = trace
  const verdict = verdictOf(trace)
  if (verdict?.verdict !== 'violated' || header.config.path === '') return undefined
  const schedule = steps.flatMap(({ choice }) => choice?.label ?? [])
  return `import { expect, test } from 'vitest'
import 'lastnail/vitest'

test(${quoted(verdict.property ?? verdict.kind ?? 'it holds')}, { timeout: 60_000 }, async () => {
  await expect(${quoted(header.config.path)}).toHold({
    seed: ${header.seed},
    schedule: [
${schedule.map(label => `      ${quoted(label)},`).join('\n')}
    ],
  })
})
`
}

const quoted = (text: string) => `'${text.replaceAll(/['\\]/g, '\\$&').replaceAll('\n', '\\n')}'`
