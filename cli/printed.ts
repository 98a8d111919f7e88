import { z } from 'zod'
import { violationKinds } from '../checker/cells/violation.ts'
import { nodeVerbs } from '../checker/happening/happenings.ts'
import { type SearchName, searchNames } from '../checker/searches/search.ts'
import { packetKinds } from '../proxy/forwarding/counters.ts'
import type { TopologySummary } from '../topologies/summary/summary.ts'
import type { CampaignOutcome } from './campaign/campaign.ts'
import type { WhatWasMet } from './check/met.ts'
import type { CheckOutcome } from './check/outcome.ts'
import type { TriedByHand } from './check/try.ts'
import { type ErrorCode, errorCodes } from './command/exit-code.ts'
import type { ProgramCalls } from './doctor/program-calls.ts'
import { linkChange, way } from './emulate/asked.ts'
import type { RunState } from './emulate/control.ts'
import type { Quantiles, RunSummary } from './emulate/summary.ts'
import type { BisectedSchedule } from './schedules/bisect.ts'
import type { Confirmed } from './schedules/confirm-schedule.ts'
import type { Regressed } from './schedules/regress.ts'
import type { Ability } from './session/machine.ts'
import type { RepeatOutcome } from './traces/repeat.ts'
import type { Difference } from './traces/repetition.ts'
import type { Replayed } from './traces/replay.ts'
import type { Verified } from './verify/verify.ts'

const count = z.int().min(0)
const amount = z.number().min(0)
const verdict = z
  .enum(['violated', 'held', 'undetermined'])
  .describe('held: within the budget; undetermined: the message or a note says why')
const property = z.string().nullable().describe('null for a crash or divergence, and if nothing was found')
const kind = z.enum(violationKinds).nullable()
const message = z.string().describe('one line, then the explanation of the property')
const schedule = z.array(z.string()).describe('labels of the steps')
const path = z.string().nullable()

const clocksStart = z.iso.datetime().describe('what the nodes’ clocks showed first, in UTC')

const call = z.strictObject({
  text: z.string().describe('the call, its arguments and its result'),
  stack: z.array(z.string()).describe('addresses of code on the stack, the innermost first'),
})

const difference: z.ZodType<Difference> = z
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

const sometimes = z
  .record(z.string(), count)
  .describe('by property made by sometimes(…), the number of executions in which it was met')

const delayMs = amount
  .nullable()
  .describe('how long a message must be in flight for the schedule to violate; 0 if it violates in a prompt network')
const skewMs = amount
  .nullable()
  .describe('how far clocks must be apart for such a violation; 0 if every timer may fire when it is due')

const values = z
  .array(z.strictObject({ value: z.string(), times: count }))
  .describe('results, and how often each was returned: the most frequent first')

const explored = {
  transitions: count.describe('steps of nodes that were taken in memory'),
  executed: count.describe('inputs that processes were given for that'),
  localStates: count.describe('distinct states of single nodes'),
  states: count.describe('distinct states of the system that were put together of them'),
  depth: count.describe('steps of the longest way'),
  exhausted: z.boolean().describe('whether every way was followed, and nothing was left out'),
}

const met: z.ZodType<WhatWasMet> = z
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

const outcome: z.ZodType<CheckOutcome> = z.strictObject({
  verdict,
  property,
  kind,
  executions: count,
  spent: z
    .strictObject({
      search: count,
      goal: count.describe('on the way to the goal, with all that was examined there'),
      examination: count.describe('to see whether what was suspected repeats or recovers, and to shorten it'),
      audit: count.describe('to compare the futures of two states that look alike'),
    })
    .describe('what the executions were for; they add up to executions'),
  steps: count,
  states: count.describe('distinct states; 0 if no node has a state'),
  seconds: amount.describe('of all of the check'),
  stepsPerSecond: amount,
  depth: count.describe('the depth up to which every schedule was executed'),
  seed: count,
  variant: count.describe('the nodes’ seed is the sum of seed and variant'),
  clocksStart,
  trace: path.describe('path of the violating execution’s trace, or of that which could not be decided'),
  sample: path.describe(
    'path of the trace of one execution of a check that held; the same as trace of an undetermined one',
  ),
  report: path.describe('path of the report of either trace'),
  schedule: schedule.describe('labels of the shortest violating schedule found, or of the suspect; empty for held'),
  criticalTransition: z
    .strictObject({
      step: count.describe('counted from 1; 0 if the initial state is dead'),
      label: z.string(),
      case: z.enum(['C1', 'C2']).describe('C1: dead from there on; C2: the walks were too short to tell'),
      walks: count.describe('walks from the state after it, none of which recovered'),
    })
    .nullable()
    .describe('the step after which recovery is impossible'),
  overtakings: z
    .array(
      z.strictObject({
        step: count.describe('the step that came first, counted from 1'),
        label: z.string(),
        overtaken: z.string().describe('label of the message to the same node that had waited longer'),
        since: count.describe('the step after which it could have been delivered; 0 is the start'),
        delivered: count.nullable().describe('the step that delivered it; null if it was in flight at the end'),
      }),
    )
    .optional()
    .describe('of a violation: what came before a message that had waited longer, where the violation depends on that'),
  curve: z
    .strictObject({
      walks: count.describe('walks from each state'),
      length: count.describe('most steps of each'),
      points: z.array(
        z.strictObject({
          step: count.describe('the state after this step of the schedule; 0 is the start'),
          bad: count.describe(
            'how many of these walks came to such a violation, or to no state in which the property holds',
          ),
        }),
      ),
    })
    .optional()
    .describe('of a violation: from states of its schedule, how many walks end badly too'),
  issue: path.describe('path of a text for an issue, some ten lines long; null if nothing is violated'),
  delayMs,
  skewMs,
  repeated: z.boolean().describe('whether the schedule was executed again and violated the same at the same step'),
  differs: difference.nullable(),
  met: met.optional(),
  sometimes,
  notes: z.array(z.string()).describe('what a reader must know to trust the verdict'),
  notAmong: z
    .array(z.string())
    .optional()
    .describe('where every schedule was executed to its end: the kinds of events that none of them has'),
  searches: z
    .array(
      z.strictObject({
        name: z.enum(Object.keys(searchNames) as SearchName[]),
        executions: count,
        steps: count,
        states: count.describe('distinct states that it was the first to meet'),
        longest: count.describe('steps of its longest execution'),
      }),
    )
    .describe('what each search covered'),
  local: z
    .strictObject({
      transitions: count.describe('inputs of states of single nodes'),
      executed: count.describe('those of them that processes were given'),
      localStates: count.describe('distinct states of single nodes'),
      systemStates: count.describe('combinations of them for which a property was evaluated'),
      soundnessChecks: count.describe('combinations for which an order of events was looked for'),
      exhausted: z.boolean().describe('whether every input was given to every state, and no combination was left out'),
    })
    .optional()
    .describe('with --search local'),
  deviations: z
    .strictObject({
      ...explored,
      deviations: count.describe('by how many deviations the latest ways differ from what a prompt network does'),
    })
    .optional()
    .describe('of the search by deviations, where it had a turn'),
  consequence: z.strictObject(explored).optional().describe('with --search consequence'),
})

const replayed: z.ZodType<Replayed> = z.strictObject({
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

const repeated: z.ZodType<RepeatOutcome> = z.strictObject({
  times: count.describe('executions'),
  same: count.describe('how many equal the first, including itself'),
  differs: difference.nullable(),
  steps: count.describe('steps of the schedule'),
  seed: count,
})

const tried: z.ZodType<Omit<TriedByHand, 'state' | 'started'>> = z.strictObject({
  verdict: z.enum(['violated', 'held']),
  property,
  kind,
  message,
  delayMs,
  skewMs,
  schedule,
  enabled: z.array(z.string()).describe('labels of the choices enabled next'),
})

const regressed = z.strictObject({
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

const bisected = z.strictObject({
  file: z.string(),
  first: z.string().nullable().describe('the first bad commit; null if skipped commits leave several candidates'),
  candidates: z.array(z.string()).describe('commits of which one is the first bad one'),
  tried: z.array(z.strictObject({ commit: z.string(), is: z.enum(['good', 'bad', 'skip']), why: z.string() })),
}) satisfies z.ZodType<BisectedSchedule>

const confirmed = z.strictObject({
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

const campaigned = z.strictObject({
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

const distribution: z.ZodType<Quantiles> = z
  .strictObject({ count, p50: amount, p90: amount, p99: amount, max: amount })
  .describe('milliseconds')

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

const emulated: z.ZodType<RunSummary> = z.strictObject({
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

const step = count.describe('counted from 1; 0 is the start')
const moment = amount.nullable().describe('milliseconds since the start; null if the trace has no times')

const verified = z.strictObject({
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

const running: z.ZodType<RunState> = z.strictObject({
  system: z.string(),
  directory: z.string(),
  elapsedMs: amount,
  nodes: z.array(z.strictObject({ name: z.string(), address: z.string(), isAlive: z.boolean(), isCut: z.boolean() })),
  ways: z.array(way).describe('settings on links that were set and not cleared'),
  links: z.array(linkChange).describe('how links of the topology differ from what they were at the start'),
  groups: z.array(z.array(z.string())).nullable().describe('groups of a partition; null if there is none'),
})

const law = z
  .strictObject({ exponent: z.number(), factor: z.number(), correlation: z.number() })
  .nullable()
  .describe('null if there are too few degrees')

const topology: z.ZodType<TopologySummary & { readonly out: string | null; readonly svg: string | null }> =
  z.strictObject({
    name: z.string().nullable(),
    nodes: z.strictObject({ transit: count, stub: count, client: count }),
    links: count,
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
  'disk',
  'preempt',
  'calls',
  'partition',
  'heal',
  'set',
  'link',
  'list',
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
  confirm: confirmed,
  campaign: campaigned,
  emulate: emulated,
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
