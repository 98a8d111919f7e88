import { z } from 'zod'
import { packetKinds } from '../../proxy/forwarding/counters.ts'
import { linkChange, way } from '../emulate/asked.ts'
import type { RunState } from '../emulate/control.ts'
import type { RunSummary } from '../emulate/summary.ts'
import { amount, clocksStart, count, distribution, kind, message, path, property, verdict } from './common.ts'

const foundBesides = z.array(
  z.strictObject({
    step: count.describe('the step of the run after which the search began'),
    atMs: amount,
    property,
    kind,
    message,
    trace: path.describe('trace of the violation, from the start of the run'),
    report: path,
  }),
)

export const emulated: z.ZodType<RunSummary> = z.strictObject({
  verdict,
  property,
  kind,
  message,
  hash: z
    .string()
    .nullable()
    .describe('hash over labels, times, outputs and states: equal for equal runs; null at the pace native'),
  pace: z.enum(['virtual', 'real', 'native']),
  seconds: amount.describe('real duration'),
  virtualSeconds: amount.describe('duration by the run’s clock'),
  steps: count.describe('steps of its schedule; 0 at the pace native'),
  late: distribution.optional().describe('how late steps were, in milliseconds, at the pace real'),
  seed: count,
  clocksStart,
  lookedAt: z
    .enum(['still', 'running'])
    .describe('running: nodes did not stop for looks, so a state that was seen may never have existed'),
  looks: count,
  inconsistent: count.describe('looks that found some property false'),
  still: distribution.optional().describe('how long everything stood still for a look, in milliseconds'),
  unseen: count.describe('how often the state of a running node could not be seen'),
  properties: z.array(
    z.strictObject({
      name: z.string(),
      kind: z.enum(['always', 'eventually', 'sometimes']),
      withinMs: amount.optional().describe('how long it may be false at most, if that is bounded'),
      looksWithout: count.describe('looks that found it false'),
      outages: count.describe('periods in which it did not hold'),
      longestMs: amount,
      again: distribution.optional().describe('time from when it stopped holding until it held again'),
      message: z.string(),
    }),
  ),
  faults: count,
  crashes: count,
  recovery: distribution.optional().describe('time from a fault until all properties held, in milliseconds'),
  notRecovered: count,
  harmless: count.describe('faults after which each look found all properties true'),
  joins: distribution.optional(),
  clients: z.array(
    z.strictObject({
      name: z.string(),
      calls: count,
      failed: count,
      callsPerSecond: amount,
      latency: distribution.optional(),
    }),
  ),
  packets: z.record(z.enum(packetKinds), count),
  predicted: count.describe('violations that were predicted'),
  steered: count.describe('what was done because of predictions'),
  immediate: count.describe('steps that would have violated a property, and were prevented by the immediate check'),
  missed: count.describe('steps that violated a property although the run was steered'),
  predictions: z
    .strictObject({
      rounds: count,
      inputs: count.describe('inputs that single nodes took'),
      transitions: count.describe('steps in memory'),
      seconds: amount,
      behindMs: amount.optional().describe('at the pace real: how far the predictor was behind the run at most'),
      filters: z
        .strictObject({
          inTime: count.describe('rounds whose filters were known before they were to be on'),
          late: count.describe('rounds whose filters were known later'),
          lateMs: amount.describe('by how much at most'),
        })
        .optional()
        .describe('at the pace real, if it was steered: the rounds that had something to prevent'),
      found: foundBesides,
    })
    .optional()
    .describe('with --predict or --steer: what may come from states of the run'),
  searched: z
    .strictObject({
      searches: count,
      executions: count,
      seconds: amount,
      found: foundBesides,
    })
    .optional()
    .describe('with --check-every: the results of searches from states of the run'),
  notes: z.array(z.string()).describe('what a reader must know to trust the verdict'),
  trace: path,
  plot: path,
  series: path,
}) as z.ZodType<RunSummary>

export const running: z.ZodType<RunState> = z.strictObject({
  system: z.string(),
  directory: z.string(),
  elapsedMs: amount,
  nodes: z.array(z.strictObject({ name: z.string(), address: z.string(), isAlive: z.boolean(), isCut: z.boolean() })),
  ways: z.array(way).describe('settings on links that were set and not cleared'),
  links: z.array(linkChange).describe('how links of the topology differ from what they were at the start'),
  planned: z
    .array(z.strictObject({ atMs: amount, happening: z.string() }))
    .describe('what control plan planned and has not happened'),
  groups: z.array(z.array(z.string())).nullable().describe('groups of a partition; null if there is none'),
})
