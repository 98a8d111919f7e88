import type { Executor } from '../../checker/cells/executor.ts'
import { goOnHealthy, isHealthy } from '../../checker/cells/healthy.ts'
import { readLabel } from '../../checker/system/labels.ts'
import type { Choice } from '../../checker/system/system.ts'
import { likeness, shapeOf } from './shape.ts'

/** What was done instead of a step that was not enabled. */
export interface Change {
  /** Index of the step in the schedule, from 1. */
  readonly step: number
  /** The label in the schedule; null if a step was inserted before it. */
  readonly was: string | null
  /** The label executed instead; null if the step was left out. */
  readonly is: string | null
}

/** The step at which a schedule could not be followed. */
export interface Missing {
  /** Index in the schedule, from 1. */
  readonly step: number
  readonly label: string
  /** Labels that were enabled instead. */
  readonly offered: readonly string[]
}

/** How far a schedule was followed. */
export interface Followed {
  /** Steps of the schedule that were executed, exactly or replaced by similar ones. */
  readonly executed: number
  readonly changes: readonly Change[]
  /** The first step that nothing could replace. */
  readonly missing: Missing | undefined
  /** Labels of the executed steps. */
  readonly labels: readonly string[]
  /** Whether it led to a violation. */
  readonly isViolated: boolean
}

/**
 * At most this many steps may be inserted before a missing one: messages between the same nodes that did not exist when
 * it was recorded.
 */
const insertedMax = 3

/**
 * Executes a schedule. For a step that is not enabled, it looks for a similar one of its kind between the same nodes,
 * the most similar first. If that fails, the others are tried, each in an execution from the start, within a budget.
 *
 * @param executions limit on their number
 *
 * @returns the first execution with a violation, or else the one that got furthest with the fewest changes; the
 * executor is at the end of the last execution
 */
export const followSchedule = async <State>(
  executor: Executor<State>,
  labels: readonly string[],
  { variant = 0, executions }: { readonly variant?: number; readonly executions: number },
): Promise<Followed> => {
  let best: Followed | undefined
  let decisions: number[] | undefined = []
  for (let done = 0; decisions !== undefined && done < executions; done++) {
    await executor.reset(variant)
    const attempt = new Attempt(executor, labels, decisions)
    const followed = await attempt.follow()
    if (followed.isViolated || isUnchanged(followed)) return followed
    if (best === undefined || isBetter(followed, best)) best = followed
    decisions = following(attempt.taken)
  }
  return best!
}

const isUnchanged = ({ changes, missing }: Followed) => changes.length === 0 && missing === undefined

const isBetter = (one: Followed, other: Followed): boolean =>
  one.executed === other.executed ? one.changes.length < other.changes.length : one.executed > other.executed

/** A step that needed a replacement: which candidate was taken, out of how many. */
interface Decision {
  readonly index: number
  readonly of: number
}

/** The decisions of the next execution: the last step with untried candidates takes the next one. */
const following = (taken: readonly Decision[]): number[] | undefined => {
  const last = taken.findLastIndex(({ index, of }) => index + 1 < of)
  if (last === -1) return undefined
  return taken.slice(0, last + 1).map(({ index }, place) => (place === last ? index + 1 : index))
}

type Candidate =
  | { readonly does: 'replace' | 'insert'; readonly choice: Choice; readonly likeness: number }
  | { readonly does: 'leave out' }

/** One execution. */
class Attempt<State> {
  readonly taken: Decision[] = []
  readonly #executor: Executor<State>
  readonly #labels: readonly string[]
  readonly #decisions: readonly number[]
  readonly #changes: Change[] = []
  #missing: Missing | undefined
  #executed = 0

  constructor(executor: Executor<State>, labels: readonly string[], decisions: readonly number[]) {
    this.#executor = executor
    this.#labels = labels
    this.#decisions = decisions
  }

  async follow(): Promise<Followed> {
    for (let index = 0; index < this.#labels.length && !this.#executor.violation; index++) {
      if (this.#goesOnByItself(index)) {
        this.#executed += this.#labels.length - index
        break
      }
      await this.#step(index)
    }
    await goOnHealthy(this.#executor)
    return {
      executed: this.#executed,
      changes: this.#changes,
      missing: this.#missing,
      labels: this.#executor.labels(),
      isViolated: this.#executor.violation !== undefined,
    }
  }

  /** A healthy network goes on by itself, with other steps where the service was mended. */
  #goesOnByItself(index: number): boolean {
    return isHealthy(this.#executor) && !this.#executor.offered().some(({ label }) => label === this.#labels[index])
  }

  async #step(index: number): Promise<void> {
    const label = this.#labels[index]!
    for (let inserted = 0; !this.#executor.violation; inserted++) {
      const offered = this.#executor.offered()
      const exact = offered.find(each => each.label === label)
      if (exact) {
        await this.#executor.execute(exact)
        this.#executed += 1
        return
      }
      const candidate = this.#decide(candidatesFor(offered, label, this.#labels.slice(index + 1), inserted))
      if (candidate.does === 'leave out') return this.#leaveOut(index, offered)
      const is = candidate.choice.label
      this.#changes.push({ step: index + 1, was: candidate.does === 'insert' ? null : label, is })
      await this.#executor.execute(candidate.choice)
      if (candidate.does === 'insert') continue
      this.#executed += 1
      return
    }
  }

  #decide(candidates: readonly Candidate[]): Candidate {
    const index = this.#decisions[this.taken.length] ?? 0
    this.taken.push({ index, of: candidates.length })
    // If the system does not repeat, it may enable fewer candidates than in the execution before.
    return candidates[index] ?? { does: 'leave out' }
  }

  #leaveOut(index: number, offered: readonly Choice[]): void {
    const label = this.#labels[index]!
    this.#missing ??= { step: index + 1, label, offered: offered.map(each => each.label) }
    this.#changes.push({ step: index + 1, was: label, is: null })
  }
}

/** Below this share of common words, a message counts as another kind of message. */
const likenessMin = 0.15

const candidatesFor = (
  offered: readonly Choice[],
  label: string,
  later: readonly string[],
  inserted: number,
): Candidate[] => {
  const alike = offered
    .map(choice => ({ choice, likeness: likeness(choice.label, label) }))
    .filter(each => each.likeness > 0)
    // A step that occurs later in the schedule is needed there.
    .sort(
      (one, other) =>
        Number(later.includes(one.choice.label)) - Number(later.includes(other.choice.label)) ||
        other.likeness - one.likeness,
    )
  const replacing = alike.filter(each => each.likeness >= likenessMin)
  const inserting = inserted < insertedMax ? offered.filter(choice => isBefore(choice, label)) : []
  return [
    ...replacing.map(each => ({ does: 'replace' as const, ...each })),
    ...inserting.map(choice => ({ does: 'insert' as const, choice, likeness: 0 })),
    { does: 'leave out' },
  ]
}

/** Whether a message may have to arrive before the missing one: it goes between the same nodes. */
const isBefore = (choice: Choice, label: string): boolean =>
  readLabel(label).from !== undefined &&
  choice.kind === 'deliver' &&
  shapeOf(choice.label).frame === shapeOf(label).frame
