import { z } from 'zod'

/** The newest format of a schedule's file that this version reads, and the one that it writes. */
export const format = 1

const count = z.int().min(0)
const text = z.string()
const finding = z.strictObject({
  at: z.iso.datetime().describe('when, in UTC'),
  commit: text.nullable().describe('of the repository of the configuration; null outside of one'),
})

/**
 * A schedule that violated a property, as `schedules/NAME.json` keeps it in a repository: a line for each field and each
 * step, so that people can read it and git can merge it.
 */
export const scheduleSchema = z.strictObject({
  format: z.literal(format),
  system: text.min(1),
  config: text.min(1).describe('path of the configuration, from the directory of the file'),
  property: text.nullable().describe('null for a crash or a divergence, which no property names'),
  kind: z.enum(['safety', 'liveness', 'divergence', 'crash']),
  message: text.describe('one line: what was found'),
  seed: count,
  variant: count.describe('the nodes draw random numbers by the seed and this, added'),
  bucket: text.min(1).describe('the same for each schedule of one bug: a hash of how the schedule ends'),
  criticalTransition: z
    .strictObject({ step: count, label: text, case: z.enum(['C1', 'C2']), walks: count, walkLength: count })
    .nullable()
    .describe('of liveness: the step after which recovery is impossible'),
  found: z.strictObject({ first: finding, last: finding, times: count }),
  programs: z.record(text, text).describe('versions, and the hash of the configuration, when it was found'),
  timing: text
    .optional()
    .describe(
      'JSON, of a run that time went through: its pipes, plans and inputs, without which its steps are not on offer',
    ),
  labels: z.array(text).describe('the steps'),
})

export type Schedule = z.output<typeof scheduleSchema>
export type Finding = z.output<typeof finding>
