import { z } from 'zod'
import { violationKinds } from '../../checker/cells/violation.ts'

/** The file format of schedules that this version writes, and the newest that it reads. */
export const format = 1

const count = z.int().min(0)
const text = z.string()

const isObjectAsJson = (json: string): boolean => {
  try {
    return z.record(z.string(), z.unknown()).safeParse(JSON.parse(json)).success
  } catch {
    return false
  }
}

const finding = z.strictObject({
  at: z.iso.datetime().describe('time in UTC'),
  commit: text.nullable().describe('commit of the configuration’s repository; null outside of one'),
})

/**
 * A schedule that violated a property, as `schedules/NAME.json` keeps it in a repository. Each field and step has a
 * line of its own, so that people can read it and git can merge it.
 */
export const scheduleSchema = z.strictObject({
  format: z.literal(format),
  system: text.min(1),
  config: text.min(1).describe('path of the configuration, relative to this file’s directory'),
  property: text.nullable().describe('null for a crash or divergence'),
  kind: z.enum(violationKinds),
  message: text.describe('one line: what was found'),
  seed: count,
  variant: count.describe('the nodes’ seed is the sum of seed and variant'),
  bucket: text.min(1).describe('equal for all schedules of the same bug: a hash of how the schedule ends'),
  criticalTransition: z
    .strictObject({ step: count, label: text, case: z.enum(['C1', 'C2']), walks: count, walkLength: count })
    .nullable()
    .describe('for liveness: the step after which recovery is impossible'),
  found: z.strictObject({ first: finding, last: finding, times: count }),
  programs: z.record(text, text).describe('versions, and the hash of the configuration, when it was found'),
  timing: text
    .refine(isObjectAsJson, 'expected an object as JSON')
    .optional()
    .describe(
      'JSON, for a schedule of an emulated run: its pipes, plans and inputs, without which its steps are not enabled',
    ),
  longTurns: z
    .boolean()
    .optional()
    .describe('whether a thread that computes had turns of up to 5 s: with shorter ones it did not repeat'),
  clocksStart: z.iso
    .datetime()
    .optional()
    .describe('what the nodes’ clocks show first, in UTC; 2026-01-01 in a file without it'),
  labels: z.array(text).describe('the steps'),
})

export type Schedule = z.output<typeof scheduleSchema>
export type KeptFinding = z.output<typeof finding>
