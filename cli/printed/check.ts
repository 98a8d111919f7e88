import { z } from 'zod'
import { type SearchName, searchNames } from '../../checker/searches/search.ts'
import type { CheckOutcome } from '../check/outcome.ts'
import {
  amount,
  clocksStart,
  count,
  delayMs,
  kind,
  path,
  property,
  schedule,
  skewMs,
  sometimes,
  verdict,
} from './common.ts'
import { difference } from './difference.ts'
import { met } from './met.ts'

const explored = {
  transitions: count.describe('steps of nodes that were taken in memory'),
  executed: count.describe('inputs that processes were given for that'),
  localStates: count.describe('distinct states of single nodes'),
  states: count.describe('distinct states of the system that were put together of them'),
  depth: count.describe('steps of the longest way'),
  exhausted: z.boolean().describe('whether every way was followed, and nothing was left out'),
}

export const outcome: z.ZodType<CheckOutcome> = z.strictObject({
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
