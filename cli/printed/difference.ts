import { z } from 'zod'
import type { Difference } from '../traces/repetition.ts'
import { count } from './common.ts'

const call = z.strictObject({
  text: z.string().describe('the call, its arguments and its result'),
  stack: z.array(z.string()).describe('addresses of code on the stack, the innermost first'),
})

export const difference: z.ZodType<Difference> = z
  .strictObject({
    step: count.describe('counted from 1; 0 is the start'),
    label: z.string().describe('of the choice that began the step; empty for the start'),
    seen: z.string().describe('how it differs for an observer'),
    node: z.string().nullable(),
    thread: count.nullable().describe('counted from 0; null if no system call differed'),
    call: z.string().nullable().describe('the first system call that differs'),
    was: call.nullable(),
    is: call.nullable(),
    recorded: count.describe('executions that were compared call by call'),
  })
  .describe('where executions of one schedule differed')
