import type { TaskOutcome, Watched } from '../cells/task.ts'
import { againOf } from '../choosers/again.ts'
import type { Walk } from '../choosers/chooser.ts'
import { Diverged } from '../errors.ts'
import { identityOf } from '../likeness.ts'
import type { Random } from '../random.ts'
import type { Choice } from '../system.ts'

/** Two schedules that led to states which were taken for the same. */
export interface Pair {
  readonly first: readonly string[]
  readonly second: readonly string[]
}

/** One of so many states that are pruned is looked at: each costs two executions. */
const sampleEvery = 8
const length = 24

/**
 * Looks whether states that are taken for the same have the same future: from a sample of those that were pruned it goes on
 * both ways with the same choices, and compares what is enabled, known and printed after each step. Where something
 * differs, the states were not the same: something hidden tells them apart.
 */
export class Audit {
  /** States that were gone on from both ways, and came to the same. */
  passed = 0
  /** In what the first two differed that did not, for a person. */
  refuted: string | undefined
  readonly #random: Random
  readonly #pairs: Pair[] = []
  #pruned = 0

  constructor(random: Random) {
    this.#random = random
  }

  /** Learns of a state that was pruned. */
  consider(pair: Pair): void {
    if (this.#pruned % sampleEvery === 0) this.#pairs.push(pair)
    this.#pruned += 1
  }

  /** A pair to be looked at next, and a walk from where its second schedule leads. */
  next(): { readonly pair: Pair; readonly walk: Walk } | undefined {
    const pair = this.refuted === undefined ? this.#pairs.shift() : undefined
    return pair && { pair, walk: { chooser: 'swarm', seed: this.#random.seed(), length } }
  }

  /** The same steps as a walk took, to be taken after the other schedule. */
  again(outcome: TaskOutcome): Walk {
    const steps = outcome.schedule
      .slice(outcome.arrival.steps)
      .map((choice, index) => againOf(choice, outcome.watched?.[index]?.enabled ?? []))
    return { chooser: 'again', seed: 0, length: steps.length, steps }
  }

  /** Compares what came of both. A schedule that could not be executed again says nothing here. */
  compare(one: TaskOutcome, other: TaskOutcome | Diverged): void {
    if (other instanceof Diverged) return
    const difference = firstDifference(one, other)
    if (difference === undefined) this.passed += 1
    else this.refuted ??= difference
  }
}

const firstDifference = (one: TaskOutcome, other: TaskOutcome): string | undefined => {
  const steps = one.schedule.slice(one.arrival.steps)
  const [seen, again] = [one.watched ?? [], other.watched ?? []]
  for (const [index, here] of seen.entries()) {
    const there = again[index]
    // What the two ways there printed says nothing of what comes.
    const what = there && (differenceOf(here, there) ?? (index > 0 ? printedOtherwise(here, there) : undefined))
    if (!what) continue
    const where =
      index === 0 ? 'at once' : `after ${index} more step${index === 1 ? '' : 's'} (${steps[index - 1]!.label})`
    return `${what} ${where}`
  }
  return undefined
}

const namesOfOthers = (one: Readonly<Record<string, string>>, other: Readonly<Record<string, string>>): string[] =>
  Object.keys({ ...one, ...other }).filter(name => one[name] !== other[name])

const namesShown = 3

const printedOtherwise = ({ printed }: Watched, other: Watched): string | undefined => {
  const [name] = namesOfOthers(printed, other.printed)
  return name && `${name} differed`
}

const differenceOf = (one: Watched, other: Watched): string | undefined => {
  const names = namesOfOthers(one.parts, other.parts)
  if (names.length > 0) return `${names.slice(0, namesShown).join(', ')} differed`
  const only = firstOutside(one.enabled, other.enabled) ?? firstOutside(other.enabled, one.enabled)
  if (only !== undefined) return `"${only.label}" was enabled in one of them alone`
  return one.enabled.length === other.enabled.length ? undefined : 'not the same was enabled'
}

const firstOutside = (some: readonly Choice[], others: readonly Choice[]): Choice | undefined => {
  const known = new Set(others.map(identityOf))
  return some.find(choice => !known.has(identityOf(choice)))
}
