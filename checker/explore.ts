import { BoundedSearch } from './bounded.ts'
import { Diverged } from './errors.ts'
import type { Executor } from './executor.ts'
import type { Search } from './options.ts'
import { racing } from './race.ts'
import type { Random } from './random.ts'
import { follow } from './schedule.ts'
import { SlowWays } from './slow-ways.ts'
import { Surprises } from './surprise.ts'
import { walk } from './walk.ts'
import { type Policy, straight, swarm, type Weights, weighted, withoutFaults } from './weights.ts'

export interface ExplorationOptions {
  readonly search: Search
  readonly depthMax: number
  /** Fixed by the user; else it follows from the longest way to a live state. */
  readonly walkLength: number | undefined
  readonly from: readonly string[]
  readonly weights: Weights
  readonly random: Random
}

/** The walk length by itself (MaceMC, section 4.4, took 80,000 steps where all walks had lived by 10,000). */
export const walkLengthFactor = 8
const walkLengthMin = 64
export const walkLengthMax = 8_000

/**
 * How an execution goes on from the state that it starts in: as systems are built for (`straight`), by walks towards
 * races (`race`), by such walks where much is late (`late`: ways are slow, and surprises come after a straight beginning),
 * by weighted ones (`weighted`), or by a schedule of the bounded search.
 */
export type Plan = 'straight' | 'race' | 'late' | 'weighted' | 'bounded'

const plans: Readonly<Record<Search, readonly Exclude<Plan, 'straight'>[]>> = {
  auto: ['race', 'late', 'bounded', 'race', 'race', 'weighted'],
  walk: ['race', 'race', 'late', 'weighted'],
  bounded: ['bounded'],
}

/** Walks take turns with what the nodes draw by chance: some violations need other numbers. */
const variants = 4

// A reset of real processes costs some hundred steps, so short walks save little; but short schedules shrink fast.
const surpriseLengths = [32, 64, 128, 256] as const

/** How long a system has been running where a late walk begins. */
const warmUpLengths = [0, 0, 16, 32, 64, 128] as const
/** How many of the ways between nodes are slow in it. */
const slowShares = [0, 0.25, 0.5] as const

/**
 * One execution after another, each of up to three parts: a schedule of the bounded search, or some steps without any
 * surprise; a walk with faults and overlaps; and, where there are liveness properties, a walk without faults until each
 * has been live (MaceMC, algorithm 2: liveness counts only from there on). An execution is used to its end, for its start
 * is the dearest part.
 */
export class Exploration<State> {
  readonly bounded: BoundedSearch<State>
  /** Executions that were carried to their end. */
  completed = 0
  walks = 0
  /** The most steps that a live state was away. */
  stepsToLive = 0
  /** How many walks had to go 0, 1, 2-3, 4-7, 8-15 … steps to a live state. */
  readonly walksToLive: number[] = []
  /** Of the last execution. */
  plan: Plan = 'straight'
  /** A liveness property that the last execution was not live in for all of its last part. */
  starved: string | undefined
  readonly #executor: Executor<State>
  readonly #options: ExplorationOptions
  readonly #surprises = new Surprises()
  #turn = 0

  constructor(executor: Executor<State>, options: ExplorationOptions) {
    this.#executor = executor
    this.#options = options
    this.bounded = new BoundedSearch(executor, { start: () => this.#start(), depthMax: options.depthMax })
  }

  get walkLength(): number {
    const own = Math.max(walkLengthMin, walkLengthFactor * this.stepsToLive)
    return this.#options.walkLength ?? Math.min(own, walkLengthMax)
  }

  /** Executes once. False where nothing is left to explore; throws `Diverged` where a prefix could not be repeated. */
  async next(): Promise<boolean> {
    this.starved = undefined
    this.plan = this.#nextPlan()
    this.#executor.variant = this.#nextVariant()
    const isLeft = await this.#execute(this.plan, this.#options.random.fork())
    if (isLeft) this.completed += 1
    return isLeft
  }

  /** A schedule can only be repeated, and states only be compared, where the nodes draw the same. */
  #nextVariant(): number {
    const { search, from } = this.#options
    if (this.plan === 'bounded' || from.length > 0) return 0
    return Math.floor((this.#turn - 1) / plans[search].length) % variants
  }

  #nextPlan(): Plan {
    const { search } = this.#options
    const turn = this.#turn++
    // The way that systems are built for, first: it tells how far away a live state is.
    if (turn === 0 && search !== 'bounded') return 'straight'
    return plans[search][turn % plans[search].length]!
  }

  async #execute(plan: Plan, random: Random): Promise<boolean> {
    if (plan === 'bounded') return this.#executeBounded(random)
    await this.#start()
    if (plan === 'late') await this.#warmUp(random)
    if (plan !== 'straight') await this.#surprise(plan, random)
    await this.#untilLive(random, plan === 'straight')
    return true
  }

  async #executeBounded(random: Random): Promise<boolean> {
    const { search } = this.#options
    const arrival = await this.bounded.next()
    if (arrival instanceof Diverged) throw arrival
    if (arrival === undefined)
      return search === 'bounded' || this.bounded.exhausted ? false : this.#execute('race', random)
    const isBounded = search === 'bounded'
    if (arrival === 'violation' || (arrival === 'pruned' && isBounded)) return true
    if (!isBounded || this.#executor.liveness.length === 0) await this.#surprise('race', random)
    await this.#untilLive(random, false)
    return true
  }

  /** Brings the system to where the exploration begins. */
  async #start(): Promise<void> {
    await this.#executor.reset()
    await follow(this.#executor, this.#options.from)
  }

  /** Some surprises do harm only to a system that has been running for a while. */
  async #warmUp(random: Random): Promise<void> {
    const policy = straight(random, this.#options.weights)
    await walk(this.#executor, this.#watching(policy), random.pick(warmUpLengths), () => this.#isOver())
  }

  #watching(policy: Policy): Policy {
    return enabled => {
      this.#surprises.note(enabled)
      return policy(enabled)
    }
  }

  async #surprise(plan: 'race' | 'late' | 'weighted', random: Random): Promise<void> {
    this.walks += 1
    const length = random.pick(surpriseLengths)
    await walk(this.#executor, this.#policyOf(plan, random), length, () => this.#isOver())
  }

  #policyOf(plan: 'race' | 'late' | 'weighted', random: Random): Policy {
    const { weights } = this.#options
    switch (plan) {
      case 'race':
        return racing(random, weights, this.#surprises)
      case 'late':
        return racing(random, weights, this.#surprises, new SlowWays(random, random.pick(slowShares)))
      case 'weighted':
        return weighted(random, swarm(random, weights))
    }
  }

  async #untilLive(random: Random, isStraight: boolean): Promise<void> {
    const executor = this.#executor
    if (executor.liveness.length === 0 && !isStraight) return
    const { weights } = this.#options
    const from = executor.schedule.length
    const wasLive = (name: string) => (executor.lastLive.get(name) ?? -1) >= from
    const goal = () => this.#isOver() || (executor.liveness.length > 0 && executor.liveness.every(wasLive))
    const go = (policy: Policy) => walk(executor, this.#watching(policy), this.walkLength, goal)
    this.walks += 1
    let end = await go(isStraight ? straight(random, weights) : weighted(random, withoutFaults(weights)))
    // Most of what is merely slow is told apart here, at the price of some steps, and not of a critical transition.
    if (end === 'length') end = await go(straight(random, weights))
    if (this.#isOver()) return
    if (end === 'goal') this.#count(executor.schedule.length - from)
    else this.starved = executor.liveness.find(name => !wasLive(name))
  }

  #count(steps: number): void {
    this.stepsToLive = Math.max(this.stepsToLive, steps)
    const digits = 32 - Math.clz32(steps)
    while (this.walksToLive.length <= digits) this.walksToLive.push(0)
    this.walksToLive[digits]! += 1
  }

  #isOver(): boolean {
    return this.#executor.violation !== undefined || this.#executor.broken
  }
}
