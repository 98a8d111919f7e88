import type { TaskOutcome, Watched } from '../cells/task.ts'
import { againOf } from '../choosers/again.ts'
import type { Walk } from '../choosers/chooser.ts'
import { Diverged } from '../system/errors.ts'
import { identityOf } from '../system/likeness.ts'
import type { Random } from '../system/random.ts'
import type { Choice } from '../system/system.ts'

/** Two schedules that reached states with the same fingerprint. */
export interface Pair {
  readonly first: readonly string[]
  readonly second: readonly string[]
}

/**
 * One of this many pruned states is audited. Each audit costs two executions: a smaller number makes the search slower,
 * a larger one finds hidden state later.
 */
const sampleEvery = 8
const length = 24

/**
 * Tests whether states with equal fingerprints have equal futures. From a sample of the pruned states it continues both
 * ways with the same choices, and compares what is enabled, observed and printed after each step. A difference proves
 * that the fingerprint misses something hidden.
 */
export class Audit {
  /** Pruned states whose two continuations came to the same. */
  passed = 0
  /** What differed in the first pair that did not, in words for the verdict. */
  refuted: string | undefined
  readonly #random: Random
  readonly #pairs: Pair[] = []
  #pruned = 0

  constructor(random: Random) {
    this.#random = random
  }

  /** Records a pruned state. A sample of them is audited. */
  consider(pair: Pair): void {
    if (this.#pruned % sampleEvery === 0) this.#pairs.push(pair)
    this.#pruned += 1
  }

  /** The next pair to audit, and the walk to take after its second schedule. */
  next(): { readonly pair: Pair; readonly walk: Walk } | undefined {
    const pair = this.refuted === undefined ? this.#pairs.shift() : undefined
    return pair && { pair, walk: { chooser: 'swarm', seed: this.#random.seed(), length } }
  }

  /** A walk that repeats the same choices after the first schedule. */
  again(outcome: TaskOutcome): Walk {
    const steps = outcome.schedule
      .slice(outcome.arrival.steps)
      .map((choice, index) => againOf(choice, outcome.watched?.[index]?.enabled ?? []))
    return { chooser: 'again', seed: 0, length: steps.length, steps }
  }

  /** Compares the two continuations. If the first schedule diverged, the pair proves nothing. */
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
    // The two schedules themselves may have printed different things, so index 0 is not compared.
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

/** Names in one reason: more would not be read. */
const namesShown = 3

const printedOtherwise = ({ printed }: Watched, other: Watched): string | undefined => {
  const [name] = namesOfOthers(printed, other.printed)
  return name && `${name} differed`
}

const differenceOf = (one: Watched, other: Watched): string | undefined => {
  const names = namesOfOthers(one.parts, other.parts)
  if (names.length > 0) return `${names.slice(0, namesShown).join(', ')} differed`
  const only = firstOutside(one.enabled, other.enabled) ?? firstOutside(other.enabled, one.enabled)
  if (only !== undefined) return `"${only.label}" was enabled in only one of them`
  return one.enabled.length === other.enabled.length ? undefined : 'different choices were enabled'
}

const firstOutside = (some: readonly Choice[], others: readonly Choice[]): Choice | undefined => {
  const known = new Set(others.map(identityOf))
  return some.find(choice => !known.has(identityOf(choice)))
}
