import { z } from 'zod'
import { violationKinds } from '../../checker/cells/violation.ts'
import type { CampaignOutcome } from '../campaign/campaign.ts'
import type { BisectedSchedule } from '../schedules/bisect.ts'
import type { Confirmed } from '../schedules/confirm-schedule.ts'
import type { Regressed } from '../schedules/regress.ts'
import { amount, count, kind, message, path, property, sometimes, verdict } from './common.ts'
import { met } from './met.ts'

export const regressed = z.strictObject({
  schedules: z.array(
    z.strictObject({
      file: z.string(),
      property,
      outcome: z
        .enum(['fails', 'passes', 'no longer applies'])
        .describe('passes: executed to its end without a violation'),
      executed: count.describe('steps of the schedule that were executed'),
      of: count,
      adapted: z
        .array(
          z.strictObject({
            step: count.describe('of the schedule, from 1'),
            was: z.string().nullable().describe('null if a step was inserted before it'),
            is: z.string().nullable().describe('null if the step was left out'),
          }),
        )
        .describe('what was done instead of steps that were not enabled'),
      message,
    }),
  ),
}) satisfies z.ZodType<{ readonly schedules: readonly Regressed[] }>

export const bisected = z.strictObject({
  file: z.string(),
  first: z.string().nullable().describe('the first bad commit; null if skipped commits leave several candidates'),
  candidates: z.array(z.string()).describe('commits of which one is the first bad one'),
  tried: z.array(z.strictObject({ commit: z.string(), is: z.enum(['good', 'bad', 'skip']), why: z.string() })),
}) satisfies z.ZodType<BisectedSchedule>

export const confirmation = z.strictObject({
  file: z.string(),
  property,
  outcome: z
    .enum(['fails', 'passes', 'no longer applies'])
    .describe(
      'no longer applies: no execution came near the schedule, or one violated something that new processes did not repeat',
    ),
  executions: count,
  near: count.describe('executions that took at least three quarters of the schedule’s steps'),
  bound: z
    .number()
    .nullable()
    .describe(
      'upper end of the 95 % interval of the chance that such an execution violates it; null if one did, or if one does not repeat',
    ),
  seconds: amount,
  trace: path,
  message,
}) satisfies z.ZodType<Confirmed>

export const campaigned = z.strictObject({
  verdict,
  property: property.describe('property of the first bug'),
  kind,
  executions: count,
  steps: count,
  states: count.describe('sum of the distinct states of each round'),
  rounds: count.describe('checks, each with other random numbers'),
  seconds: amount,
  bugs: z.array(
    z.strictObject({
      system: z.string(),
      property,
      kind: z.enum(violationKinds),
      message,
      bucket: z.string().describe('equal for all schedules of the same bug'),
      times: count.describe('rounds that found it'),
      file: path.describe('the kept schedule'),
      trace: path,
      report: path,
    }),
  ),
  notes: z.array(z.string()),
  met: z.record(z.string(), met).describe('by system'),
  sometimes,
}) satisfies z.ZodType<CampaignOutcome>
