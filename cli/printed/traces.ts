import { z } from 'zod'
import type { TriedByHand } from '../check/try.ts'
import type { RepeatOutcome } from '../traces/repeat.ts'
import type { Replayed } from '../traces/replay.ts'
import type { Verified } from '../verify/verify.ts'
import { amount, count, delayMs, distribution, kind, message, property, schedule, skewMs, verdict } from './common.ts'
import { difference } from './difference.ts'

export const replayed: z.ZodType<Replayed> = z.strictObject({
  verdict,
  property,
  kind,
  steps: count,
  seed: count,
  trace: z.string(),
  schedule,
  walks: count.describe('walks from its end that looked for a live state'),
  message,
})

export const repeated: z.ZodType<RepeatOutcome> = z.strictObject({
  times: count.describe('executions'),
  same: count.describe('how many equal the first, including itself'),
  differs: difference.nullable(),
  steps: count.describe('steps of the schedule'),
  seed: count,
})

export const tried: z.ZodType<Omit<TriedByHand, 'state' | 'started'>> = z.strictObject({
  verdict: z.enum(['violated', 'held']),
  property,
  kind,
  message,
  delayMs,
  skewMs,
  schedule,
  enabled: z.array(z.string()).describe('labels of the choices enabled next'),
})

const step = count.describe('counted from 1; 0 is the start')
const moment = amount.nullable().describe('milliseconds since the start; null if the trace has no times')

export const verified = z.strictObject({
  verdict: z
    .enum(['violated', 'held', 'undetermined'])
    .describe('undetermined: an eventually property did not hold at the end, or a note says why'),
  violations: z
    .array(
      z.strictObject({
        property,
        step,
        atMs: moment,
        message,
        state: z
          .record(z.string(), z.unknown())
          .describe('the observed state of each node, by name; null if it was down'),
      }),
    )
    .describe('the first violation of each property, and crashes'),
  evaluations: count.describe('calls of predicates'),
  seconds: amount,
  steps: count,
  properties: z.array(
    z.strictObject({
      name: z.string(),
      kind: z.enum(['always', 'eventually', 'sometimes']),
      holds: z.boolean().nullable().describe('at the end, or where it was first violated; null if undecided'),
      outages: z
        .array(
          z.strictObject({
            fromStep: step,
            fromMs: moment,
            untilStep: count.nullable().describe('null if it did not hold at the end'),
            untilMs: moment,
          }),
        )
        .describe('for an eventually property, the periods in which it did not hold'),
      again: distribution.optional().describe('time from when it stopped holding until it held again'),
    }),
  ),
  notes: z.array(z.string()),
}) as z.ZodType<Verified>
