import { z } from 'zod'
import { nodeVerbs } from '../../checker/happening/happenings.ts'
import type { TopologySummary } from '../../topologies/summary/summary.ts'
import { type ErrorCode, errorCodes } from '../command/exit-code.ts'
import type { ProgramCalls } from '../doctor/program-calls.ts'
import type { Ability } from '../session/machine.ts'
import { outcome } from './check.ts'
import { amount, count, path } from './common.ts'
import { emulated, running } from './emulate.ts'
import { plotted, seeds } from './plot.ts'
import { bisected, campaigned, confirmation, regressed } from './schedules.ts'
import { repeated, replayed, tried, verified } from './traces.ts'

const law = z
  .strictObject({ exponent: z.number(), factor: z.number(), correlation: z.number() })
  .nullable()
  .describe('null if there are too few degrees')

const topology: z.ZodType<TopologySummary & { readonly out: string | null; readonly svg: string | null }> =
  z.strictObject({
    name: z.string().nullable(),
    nodes: z.strictObject({ transit: count, stub: count, client: count }),
    links: count,
    linksWithoutLimit: count.describe('links whose bandwidth has no limit, because a file does not say it'),
    degrees: z.strictObject({
      mean: amount,
      largest: count,
      degreeOneShare: amount.describe('share of nodes with one link'),
      rankLaw: law.describe('degree by rank'),
      ccdfLaw: law.describe('share of nodes with a higher degree, by degree'),
      ccdf: z.array(z.tuple([count, amount])).describe('degree, and the share of nodes with a higher degree'),
    }),
    routes: z
      .strictObject({
        ends: count.describe('number of nodes between which paths were measured, each to each'),
        hops: z.strictObject({ mean: amount, most: count }),
        roundTripMs: z.strictObject({ mean: amount, least: amount, most: amount }),
      })
      .nullable(),
    out: path.describe('the file that was written'),
    svg: path.describe('the picture that was written'),
  })

const abilities: z.ZodType<{ readonly abilities: readonly Ability[] }> = z.strictObject({
  abilities: z.array(
    z.strictObject({
      name: z.string(),
      isNeeded: z.boolean(),
      isThere: z.boolean(),
      detail: z.string().describe('what was found; or what is missing, and the remedy'),
    }),
  ),
})

const counts = z.record(z.string(), count)
const calls: z.ZodType<ProgramCalls> = z.strictObject({
  calls: z
    .strictObject({ held: counts, native: counts, ignored: counts, refused: counts })
    .describe('how often each system call was made, by its treatment'),
  notes: z.array(z.string()).describe('what could not be held'),
  findings: z.array(z.string()).describe('what ended the program or went wrong'),
  steps: count.describe('timers that were fired'),
})

const written = z.strictObject({ file: z.string().describe('path of the file that was written') })
const kept = written.extend({ times: count.describe('how often this violation was kept by now') })
const executed = z.strictObject({ exitCode: z.int(), stdout: z.string(), stderr: z.string() })

const failed = z
  .strictObject({
    error: z.strictObject({
      code: z.enum(Object.keys(errorCodes) as [ErrorCode, ...ErrorCode[]]).describe(
        Object.entries(errorCodes)
          .map(([name, says]) => `${name}: ${says}`)
          .join('; '),
      ),
      exitCode: count,
      message: z.string(),
    }),
  })
  .describe('instead of the object of any command, if it could not do its work')

/** Verbs of `control` that print the run as it is afterwards. */
const verbs = [
  ...nodeVerbs.map(({ verb }) => verb),
  'reset',
  'clock',
  'name',
  'disk',
  'preempt',
  'calls',
  'partition',
  'heal',
  'set',
  'link',
  'list',
  'add',
] as const
type Verb = `control ${(typeof verbs)[number]}`

/** The object that each command prints with `--json` in the last line of stdout. */
export const printed = {
  check: outcome,
  shrink: outcome,
  replay: replayed,
  repeat: repeated,
  try: tried,
  regress: regressed,
  bisect: bisected,
  confirm: confirmation,
  campaign: campaigned,
  emulate: emulated,
  'emulate --seeds': seeds,
  plot: plotted,
  verify: verified,
  ...(Object.fromEntries(verbs.map(verb => [`control ${verb}`, running])) as Record<Verb, typeof running>),
  'control exec': executed,
  keep: kept,
  report: written,
  init: written,
  topology,
  doctor: abilities,
  'doctor --program': calls,
  error: failed,
} as const satisfies Readonly<Record<string, z.ZodType>>

/** The same as JSON Schema (draft 2020-12), by command. */
export const printedSchemas = (): Readonly<Record<string, object>> =>
  Object.fromEntries(Object.entries(printed).map(([command, schema]) => [command, z.toJSONSchema(schema)]))
