import type { Executor } from '../../checker/cells/executor.ts'
import { beHealthy, goOnHealthy, isHealthy } from '../../checker/cells/healthy.ts'
import { walk } from '../../checker/cells/walk.ts'
import { chooserOf } from '../../checker/choosers/named.ts'
import { Surprises } from '../../checker/choosers/surprise.ts'
import type { Weights } from '../../checker/choosers/weights.ts'
import type { Random } from '../../checker/system/random.ts'
import type { Choice } from '../../checker/system/system.ts'
import { likeness } from './shape.ts'

/** How an execution deviates from its schedule: at one step only, if the system allows it. */
export interface Perturbation {
  /** Index in the schedule, from 0. */
  readonly at: number
  readonly how: (typeof perturbations)[number]
}

/** The step is left out; executed after the next one; or preceded by one or two other enabled steps. */
export const perturbations = ['left out', 'later', 'after another', 'after two others'] as const

/** The n-th perturbation of a schedule of this length: each step in turn, in each manner. */
export const perturbation = (ordinal: number, steps: number): Perturbation => ({
  at: ordinal % steps,
  how: perturbations[Math.floor(ordinal / steps) % perturbations.length]!,
})

/** An execution came near if it executed this share of the schedule's steps. */
const nearShare = 0.75

/** One execution around a schedule. */
export interface Nearby {
  readonly isNear: boolean
  /** Steps of the schedule that were executed. */
  readonly executed: number
}

/**
 * Executes a schedule perturbed at one step, followed by a walk of the same length. A property of a healthy network is judged
 * in one that is healthy then, or from the step of the schedule on that made it so. Afterwards, the executor knows
 * whether anything was violated.
 *
 * @param variant which random numbers the nodes draw
 */
export const executeNear = async <State>(
  executor: Executor<State>,
  labels: readonly string[],
  { at, how }: Perturbation,
  { variant, weights, random }: { readonly variant: number; readonly weights: Weights; readonly random: Random },
): Promise<Nearby> => {
  await executor.reset(variant)
  const others = how === 'after another' ? 1 : how === 'after two others' ? 2 : 0
  let executed = 0
  for (const [index, label] of orderOf(labels, at, how).entries()) {
    if (index === at) for (let other = 0; other < others; other++) await executeAnother(executor, label, random)
    if (await executeLike(executor, label)) executed += 1
  }
  const chooser = chooserOf(
    { chooser: 'swarm', seed: random.seed(), length: labels.length },
    weights,
    new Surprises([]),
  )
  if (!isHealthy(executor)) await walk(executor, chooser, labels.length, () => isOver(executor))
  await beHealthy(executor, executor.judgedHealthy)
  await goOnHealthy(executor)
  return { isNear: executed >= nearShare * labels.length && executor.undecided.size === 0, executed }
}

const isOver = <State>({ violation, broken }: Executor<State>) => violation !== undefined || broken

const orderOf = (labels: readonly string[], at: number, how: Perturbation['how']): readonly string[] => {
  if (how === 'left out') return labels.toSpliced(at, 1)
  if (how !== 'later' || at + 1 >= labels.length) return labels
  return labels.toSpliced(at, 2, labels[at + 1]!, labels[at]!)
}

const executeAnother = async <State>(executor: Executor<State>, label: string, random: Random): Promise<void> => {
  if (isOver(executor)) return
  const others = executor.enabled().filter(each => each.label !== label)
  if (others.length > 0) await executor.execute(random.pick(others))
}

/** Below this similarity, a step counts as another one. */
const likenessMin = 0.15

const executeLike = async <State>(executor: Executor<State>, label: string): Promise<boolean> => {
  if (isOver(executor)) return false
  const choice = mostAlike(executor.enabled(), label)
  if (choice) await executor.execute(choice)
  return choice !== undefined
}

const mostAlike = (offered: readonly Choice[], label: string): Choice | undefined => {
  const rated = offered.map(choice => (choice.label === label ? 2 : likeness(choice.label, label)))
  const best = Math.max(likenessMin, ...rated)
  return offered[rated.indexOf(best)]
}

/**
 * Upper end of the 95 % confidence interval of a probability, after this many independent tries without a hit (Clopper
 * and Pearson, 1934; for many tries about 3 divided by their number).
 */
export const boundOfNone = (tries: number): number => (tries === 0 ? 1 : 1 - 0.05 ** (1 / tries))
