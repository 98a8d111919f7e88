import { z } from 'zod'
import type { WhatWasMet } from '../check/met.ts'
import { count, sometimes } from './common.ts'

const values = z
  .array(z.strictObject({ value: z.string(), times: count }))
  .describe('results, and how often each was returned: the most frequent first')

export const met: z.ZodType<WhatWasMet> = z
  .strictObject({
    clients: z.record(
      z.string(),
      z.strictObject({
        calls: count,
        returned: count,
        threw: count,
        refused: count.describe('calls that returned although their last HTTP response had a status of 400 or more'),
        firstError: z.string().nullable().describe('the first error that was thrown'),
        firstRefusal: z.string().nullable().describe('the first of these responses'),
        values,
      }),
    ),
    operations: z.record(z.string(), z.strictObject({ times: count, values })).describe('operations of the history'),
    faults: z
      .record(
        z.string(),
        z.strictObject({ times: count, executions: count.describe('executions in which it was taken') }),
      )
      .describe('by fault with a budget'),
    eventually: z.record(
      z.string(),
      z.strictObject({
        wasFalse: count.describe('executions in which it was false at some time'),
        again: count.describe('how often it came to hold after it had been false'),
        againAfterEnd: count.describe('how often a node that had been up meanwhile was down by then'),
        againAfterEndOf: z.record(z.string(), count).describe('how often each node was such a one'),
      }),
    ),
    sometimes,
    heldBack: z
      .partialRecord(
        z.enum(['delay', 'clocks']),
        z.record(
          z.string(),
          z.strictObject({
            states: count.describe('states in which the node’s earliest timer was held back'),
            fired: count.describe('how often a timer of the node fired'),
            example: z.string().describe('in how many milliseconds the first of them was due'),
          }),
        ),
      )
      .describe('by bound of the configuration and node: timers that the bound held back'),
    always: z
      .record(z.string(), z.record(z.string(), count))
      .describe('what each reads of the state, and the number of executions at whose end that was present'),
  })
  .describe('what the search met: nothing else was put to the test')
