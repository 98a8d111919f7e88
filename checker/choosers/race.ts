import type { Random } from '../system/random.ts'
import type { Choice } from '../system/system.ts'
import type { Chooser } from './chooser.ts'
import { maybeApart } from './frames-apart.ts'
import { Origins } from './origins.ts'
import { SlowWays } from './slow-ways.ts'
import { Hunt, type Surprises } from './surprise.ts'
import { type Weights, weighted } from './weights.ts'

/**
 * A walk that looks for races: several nodes are active at once, and their inputs meet in one node.
 *
 * Activities begin in bursts: some timers and calls, then messages are delivered until none is in flight. Their order
 * is drawn with each step, or by random priorities that messages keep, so that some are very late (as in probabilistic
 * concurrency testing: Burckhardt, Kothari, Musuvathi, Nagarakatte, ASPLOS 2010). In a quarter of the walks timers and
 * calls also happen during a burst. A walk has three bursts or more, because its start is the most expensive part.
 *
 * If some links are slow, whole bursts overtake the messages on them. In half of the walks, what was written together
 * arrives apart.
 *
 * Choices with a budget (overlaps, divided messages, faults) are taken seldom, and preferably where activities meet: see `Hunt`.
 */
export const racing = (
  random: Random,
  weights: Weights,
  surprises: Surprises,
  ways = new SlowWays(random, 0),
): Chooser => {
  const start = weighted(random, { ...weights, deliver: 0, overlap: 0, divide: 0, fault: 0 })
  const deliver = maybeApart(random, random.below(2) === 0 ? inAnyOrder(random) : byPriority(random))
  const origins = new Origins()
  const hunt = new Hunt(random, surprises, origins)
  const early = random.below(4) > 0 ? 0 : 0.02 * 15 ** random.next()
  let bursts = 2 + random.few()
  let burst = new Burst(random)

  const takeOrdinary = (enabled: readonly Choice[]): Choice | undefined => {
    const all = enabled.filter(choice => choice.kind === 'deliver' && !ways.isSlow(choice))
    const held = all.filter(choice => hunt.holds(choice))
    const free = all.filter(choice => !hunt.holds(choice))
    const deliveries = free.length > 0 || random.below(2) === 0 ? free : held
    if (burst.isOver && deliveries.length === 0) {
      bursts -= 1
      if (bursts === 0) return undefined
      burst = new Burst(random)
      hunt.next()
      ways.next()
    }
    const begun = burst.isOver ? undefined : burst.start(enabled, start)
    const inBetween = () => (random.next() < early ? start(enabled) : undefined)
    return begun ?? inBetween() ?? deliver(deliveries, enabled)
  }

  return enabled => {
    origins.arrive(enabled)
    const choice = hunt.take(enabled) ?? takeOrdinary(enabled)
    // What is left of a divided message belongs where all of it did.
    if (choice) origins.leave(choice.whole ?? choice)
    return choice
  }
}

/**
 * Some activities that begin at once, at different nodes as far as possible. If there are enough nodes, one takes no
 * part: the activities can meet there.
 */
class Burst {
  readonly #random: Random
  readonly #nodes = new Set<string>()
  #bystander: string | undefined
  #left: number

  constructor(random: Random) {
    this.#random = random
    this.#left = 1 + random.few()
  }

  get isOver(): boolean {
    return this.#left === 0
  }

  start(enabled: readonly Choice[], chooser: Chooser): Choice | undefined {
    const starts = enabled.filter(({ kind }) => kind === 'timer' || kind === 'client')
    this.#bystander ??= starts.length > 0 ? this.#random.pick(starts).node : undefined
    const others = enabled.filter(({ node }) => node !== this.#bystander && !this.#nodes.has(node))
    const choice = chooser(others) ?? (this.#nodes.size < 2 ? chooser(enabled) : undefined)
    this.#left = choice ? this.#left - 1 : 0
    if (choice) this.#nodes.add(choice.node)
    return choice
  }
}

const inAnyOrder =
  (random: Random): Chooser =>
  deliveries =>
    deliveries.length > 0 ? random.pick(deliveries) : undefined

const byPriority = (random: Random): Chooser => {
  const priorities = new Map<string, number>()
  return deliveries => {
    for (const { label } of deliveries) if (!priorities.has(label)) priorities.set(label, random.next())
    const priority = ({ label }: Choice) => priorities.get(label)!
    return deliveries.toSorted((one, other) => priority(one) - priority(other))[0]
  }
}
