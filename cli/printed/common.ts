import { z } from 'zod'
import { violationKinds } from '../../checker/cells/violation.ts'
import type { Quantiles } from '../emulate/summary.ts'

export const count = z.int().min(0)
export const amount = z.number().min(0)
export const verdict = z
  .enum(['violated', 'held', 'undetermined'])
  .describe('held: within the budget; undetermined: the message or a note says why')
export const property = z.string().nullable().describe('null for a crash or divergence, and if nothing was found')
export const kind = z.enum(violationKinds).nullable()
export const message = z.string().describe('one line, then the explanation of the property')
export const schedule = z.array(z.string()).describe('labels of the steps')
export const path = z.string().nullable()

export const clocksStart = z.iso.datetime().describe('what the nodes’ clocks showed first, in UTC')

export const sometimes = z
  .record(z.string(), count)
  .describe('by property made by sometimes(…), the number of executions in which it was met')

export const delayMs = amount
  .nullable()
  .describe('how long a message must be in flight for the schedule to violate; 0 if it violates in a prompt network')
export const skewMs = amount
  .nullable()
  .describe('how far clocks must be apart for such a violation; 0 if every timer may fire when it is due')

export const distribution: z.ZodType<Quantiles> = z
  .strictObject({ count, p50: amount, p90: amount, p99: amount, max: amount })
  .describe('milliseconds')
