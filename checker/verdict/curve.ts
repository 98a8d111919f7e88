import type { Cells } from '../cells/cells.ts'
import type { Task, TaskOutcome } from '../cells/task.ts'
import type { Walk } from '../choosers/chooser.ts'
import { BudgetSpent, type SearchLimits } from '../system/budget.ts'
import { Diverged } from '../system/errors.ts'
import type { Random } from '../system/random.ts'
import { startAfter } from '../system/start.ts'
import { isAlike, type ViolationLike } from './shrink.ts'
import { slowMs } from './slow-network.ts'
import type { Curve } from './verdict.ts'

export interface CurveOptions {
  readonly found: ViolationLike
  /** Most steps of a walk. */
  readonly length: number
  readonly random: Random
  readonly limits: SearchLimits
}

/** With more states, a round would cost more than it shows. */
const pointsMax = 40
const walksMax = 20

/**
 * Samples what becomes of the states along a schedule. Each state is brought back exactly, and as many walks begin in
 * it as the limits allow: one from each state in turn, so that all have equally many. `undefined` if not even one from
 * each was done.
 *
 * The walks are fair to all steps and take no fault, so a state in which only a fault leads on counts as good for a
 * violation.
 */
export const curveOf = async (
  cells: Cells,
  schedule: readonly string[],
  { found, length, random, limits }: CurveOptions,
): Promise<Curve | undefined> => {
  const steps = sampled(schedule.length)
  const bad = new Map(steps.map(step => [step, 0]))
  const within = cells.within(limits)
  let walks = 0
  const curve = () =>
    walks === 0 ? undefined : { walks, length, points: steps.map(step => ({ step, bad: bad.get(step)! })) }
  try {
    while (walks < walksMax) {
      const round = await roundOf(within, steps, step =>
        taskOf(schedule.slice(0, step), found, { chooser: 'fair', seed: random.seed(), length }),
      )
      for (const [step, outcome] of round) if (isBad(outcome, found)) bad.set(step, bad.get(step)! + 1)
      walks += 1
    }
  } catch (error) {
    if (!(error instanceof BudgetSpent || error instanceof Diverged)) throw error
  }
  return curve()
}

/** All steps, or as many at equal distances, always with the first and the last. */
const sampled = (last: number): number[] => {
  const count = Math.min(last, pointsMax)
  return Array.from({ length: count + 1 }, (_, index) => Math.round((index * last) / Math.max(1, count)))
}

/** A walk from each state. Nothing of it counts unless all are done. */
const roundOf = async (
  cells: Cells,
  steps: readonly number[],
  taskAt: (step: number) => Task,
): Promise<readonly (readonly [number, TaskOutcome])[]> => {
  const tasks = steps.map(step => [step, taskAt(step)] as const).values()
  const round: (readonly [number, TaskOutcome])[] = []
  for await (const [[step], outcome] of cells.inOrder(
    () => tasks.next().value,
    ([, task], cells) => cells.run(task),
  ))
    round.push([step, outcome])
  return round
}

const taskOf = (labels: readonly string[], { kind, property }: ViolationLike, walk: Walk): Task => ({
  start: startAfter(labels),
  untilViolation: true,
  ...(kind === 'liveness'
    ? { untilLive: { properties: [property!], delayMsMax: slowMs, walks: [walk] } }
    : { walks: [walk] }),
})

const isBad = ({ toLive, violation }: TaskOutcome, found: ViolationLike): boolean =>
  found.kind === 'liveness' ? toLive?.end !== 'goal' : violation !== undefined && isAlike(violation, found)
