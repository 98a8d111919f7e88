import { isRepair } from '../happening/kinds.ts'
import type { Random } from '../system/random.ts'
import type { Choice } from '../system/system.ts'
import { type Chooser, firstBy } from './chooser.ts'
import { SlowWays } from './slow-ways.ts'
import type { Weights } from './weights.ts'

/** What begins when nothing is in flight, with the number of chances of each. */
const chances = { call: 6, pause: 4, timer: 4, repair: 2, deviation: 1, late: 1 } as const
type Beginning = keyof typeof chances

/** Share of the links that are slow in a walk. */
const slowShares = [0, 0, 0.25, 0.5] as const

/**
 * A walk with pauses: what a call or a timer began comes to its end, one message after the other. Then one thing
 * begins: a call; a pause, in which one node waits for long and what its timers begin comes to its end too; a single
 * timer; or, seldom, a fault. Calls are thus made between long waits, when other walks have none left. What ends after
 * half a minute of rest (a lease, an ejected server, a cached answer) has ended when the next call comes.
 *
 * All pauses of a walk have the same length, because several mostly wait for the same. In some walks some links are
 * slow: their messages arrive only when nothing else is in flight. A walk ends soon after its last call.
 */
export const longWaits = (random: Random, weights: Weights): Chooser => {
  const ways = new SlowWays(random, random.pick(slowShares))
  const order = new Order()
  const pauses = new Pauses(random)
  let hasCalled = false
  let left = afterLast
  return enabled => {
    order.see(enabled)
    const message = order.first(enabled.filter(choice => choice.kind === 'deliver' && !ways.isSlow(choice)))
    const soon = message ?? pauses.next(enabled)
    if (soon) return soon
    ways.next()
    const groups = groupsOf(enabled, weights)
    if (!groups.has('call') && hasCalled && left-- === 0) return undefined
    const begun = random.weighted([...groups.keys()], name => chances[name])
    if (begun === undefined) return undefined
    hasCalled ||= begun === 'call'
    if (begun === 'late') return order.first(groups.get(begun)!)
    return begun === 'pause' ? pauses.begin(groups.get(begun)!) : random.pick(groups.get(begun)!)
  }
}

/** So much begins after the last call. */
const afterLast = 8

const groupsOf = (enabled: readonly Choice[], weights: Weights): Map<Beginning, Choice[]> => {
  const groups = new Map<Beginning, Choice[]>()
  const add = (name: Beginning, choice: Choice) => groups.set(name, [...(groups.get(name) ?? []), choice])
  for (const choice of enabled) {
    if (choice.kind === 'timer') {
      add('pause', choice)
      add('timer', choice)
      continue
    }
    const name = beginnings[choice.kind] ?? (isRepair(choice.kind) ? 'repair' : 'deviation')
    if (choice.kind !== 'overlap' && (name !== 'deviation' || weights.fault > 0)) add(name, choice)
  }
  return groups
}

const beginnings: Partial<Record<Choice['kind'], Beginning>> = {
  client: 'call',
  deliver: 'late',
}

/**
 * How long the pauses of a walk are, in milliseconds: services wait for 10, 30 or 60 seconds. What takes longer is mostly a
 * time-out that never expires, or the only timer of its node, which then fires at once.
 */
const lengthsMs = [12_000, 35_000, 70_000] as const
/** Timers after which a pause is over: the rest of the walk is for other things. */
const timersMax = 48

/** The pauses of a walk, by the clocks of the nodes that wait. In half of the walks it is always the same node. */
class Pauses {
  readonly #random: Random
  readonly #lengthMs: number
  readonly #isSame: boolean
  #node: string | undefined
  #leftMs = 0
  #timersLeft = 0

  constructor(random: Random) {
    this.#random = random
    this.#lengthMs = random.pick(lengthsMs)
    this.#isSame = random.below(2) === 0
  }

  /** @param timers the enabled ones */
  begin(timers: readonly Choice[]): Choice {
    if (!this.#isSame || !timers.some(({ node }) => node === this.#node)) this.#node = this.#random.pick(timers).node
    this.#leftMs = this.#lengthMs
    this.#timersLeft = timersMax
    const first = timers.find(({ node }) => node === this.#node)!
    // The first one fires however long it takes.
    this.#leftMs -= first.afterMs ?? 0
    return first
  }

  /** The next timer of a pause that is not over. */
  next(enabled: readonly Choice[]): Choice | undefined {
    if (this.#leftMs <= 0 || this.#timersLeft === 0) return undefined
    const timers = enabled.filter(({ kind }) => kind === 'timer')
    const own = timers.find(({ node }) => node === this.#node)
    if (own && (own.afterMs ?? 0) > this.#leftMs) {
      this.#leftMs = 0
      return undefined
    }
    this.#timersLeft -= 1
    if (own) this.#leftMs -= own.afterMs ?? 0
    // Where clocks go together, an earlier timer of another node fires first.
    return own ?? timers[0]
  }
}

/** The order in which messages were sent, as far as it could be seen. */
class Order {
  readonly #seen = new Map<string, number>()
  #count = 0

  see(enabled: readonly Choice[]): void {
    for (const { kind, label } of enabled)
      if (kind === 'deliver' && !this.#seen.has(label)) this.#seen.set(label, this.#count++)
  }

  first(deliveries: readonly Choice[]): Choice | undefined {
    return firstBy(deliveries, ({ label }) => this.#seen.get(label)!)
  }
}
