import { BoundedSearch, type Prefix } from './bounded.ts'
import type { Cells } from './cells.ts'
import { Diverged, Unfaithful } from './errors.ts'
import type { Search } from './options.ts'
import type { Random } from './random.ts'
import { Surprises } from './surprise.ts'
import type { Leg, Manner, Outcome, Task } from './task.ts'

export interface ExplorationOptions {
  readonly search: Search
  readonly depthMax?: number | undefined
  /** Whether the bounded search executes every order of steps, also where they commute. */
  readonly everyOrder?: boolean | undefined
  /** Fixed by the user; else it follows from the longest way to a live state. */
  readonly walkLength: number | undefined
  /** Labels that each execution begins with. */
  readonly from: readonly string[]
  /** Names of the liveness properties. */
  readonly liveness: readonly string[]
  readonly random: Random
}

/**
 * The length of walks to a live state by itself, in times what nearly all of them needed (MaceMC, section 4.4, took 80,000
 * steps where all walks had lived by 10,000), and in times what the slowest needed: one of thousands may be very slow.
 */
export const walkLengthFactor = 8
const slowestFactor = 2
/** The same for the many walks behind a suspect: with some much longer ones they tell no less than a few long ones. */
const recoveryLengthFactor = 2
const nearlyAll = 0.95
const walkLengthMin = 64
export const walkLengthMax = 8_000
/** Of the first one, which shows how far away a live state is: one that needs more is hardly ever met. */
const firstLength = 2_000

/**
 * How an execution goes on from the state that it starts in: as systems are built for (`straight`), by walks towards
 * races (`race`), by such walks where much is late (`late`: ways are slow, and surprises come after a straight beginning),
 * by weighted ones (`weighted`), by such that go by priorities (`priority`), or by a schedule of the bounded search.
 */
export type Plan = 'straight' | 'race' | 'late' | 'weighted' | 'priority' | 'bounded'

const plans: Readonly<Record<Search, readonly Exclude<Plan, 'straight'>[]>> = {
  auto: ['race', 'late', 'bounded', 'race', 'race', 'weighted', 'priority'],
  walk: ['race', 'race', 'late', 'weighted', 'priority'],
  bounded: ['bounded'],
}

const surpriseManners: Readonly<Record<Exclude<Plan, 'straight'>, Manner>> = {
  race: 'race',
  late: 'late race',
  weighted: 'swarm',
  priority: 'priorities',
  bounded: 'race',
}

/** Walks take turns with what the nodes draw by chance: some violations need other numbers. */
const variants = 4

/**
 * What an execution shows is used by those that are planned from then on. So many are under way at once, however many
 * cells there are, so that the search does not depend on their number.
 */
const aheadMax = 8

// A reset of real processes costs some hundred steps, so short walks save little; but short schedules shrink fast.
const surpriseLengths = [32, 64, 128, 256] as const

/** How long a system has been running where a late walk begins. */
const warmUpLengths = [0, 0, 16, 32, 64, 128] as const

/** An execution that is to be done. */
interface Turn {
  readonly plan: Plan
  readonly variant: number
  /** Of the bounded search. */
  readonly prefix: Prefix | undefined
  /** Of walks to a live state. */
  readonly walkLength: number
  readonly task: Task
}

/** An execution that was done. */
export interface Explored extends Pick<Turn, 'plan' | 'variant' | 'walkLength'> {
  readonly outcome: Outcome
  /** A liveness property that it was not live in for all of its last part. */
  readonly starved: string | undefined
}

/**
 * One execution after another, each of up to three parts: a schedule of the bounded search, or some steps without any
 * surprise; a walk with faults and overlaps; and, where there are liveness properties, a walk without faults until each
 * has been live (MaceMC, algorithm 2: liveness counts only from there on). An execution is used to its end, for its start
 * is the dearest part.
 */
export class Exploration {
  readonly bounded: BoundedSearch
  /** Executions that were carried to their end. */
  completed = 0
  walks = 0
  /** Schedules of the bounded search that could be executed once and never again. */
  givenUp = 0
  /** How many walks had to go so many steps to a live state. */
  readonly #walksOfSteps: number[] = []
  readonly #options: ExplorationOptions
  readonly #surprises = new Surprises()
  #turns = 0
  /** Walks that came to no live state. */
  #starved = 0

  constructor(options: ExplorationOptions) {
    this.#options = options
    this.bounded = new BoundedSearch(options)
  }

  /**
   * Executes until nothing is left to explore. Where a schedule could not be repeated, or an execution does not count,
   * the error that says so comes in its place.
   */
  async *explore(cells: Cells): AsyncGenerator<Explored | Diverged, void, void> {
    const outcomes = cells.inOrder(
      () => this.#nextTurn(),
      ({ task, variant }, cells) => cells.ofVariant(variant).tryRun(task),
      aheadMax,
    )
    for await (const [turn, came] of outcomes)
      yield came instanceof Diverged ? this.#fail(turn, came) : this.#learn(turn, came)
  }

  /** Of the walks that looked for a live state, the share that came to one; undefined before the first. */
  get liveShare(): number | undefined {
    const lived = this.#walksOfSteps.reduce((sum, walks) => sum + walks, 0)
    return lived + this.#starved === 0 ? undefined : lived / (lived + this.#starved)
  }

  /** The most steps that a live state was away. */
  get stepsToLive(): number {
    return Math.max(0, this.#walksOfSteps.length - 1)
  }

  /** How many walks had to go 0, 1, 2-3, 4-7, 8-15 … steps to a live state. */
  get walksToLive(): readonly number[] {
    const doubling: number[] = []
    for (const [steps, walks] of this.#walksOfSteps.entries()) {
      const digits = 32 - Math.clz32(steps)
      doubling[digits] = (doubling[digits] ?? 0) + walks
    }
    return doubling
  }

  /** Of each of the many walks that look for a live state from one state. */
  get recoveryLength(): number {
    return this.#lengthOf(recoveryLengthFactor * this.#usual())
  }

  get #walkLength(): number {
    return this.#lengthOf(Math.max(walkLengthFactor * this.#usual(), slowestFactor * this.stepsToLive))
  }

  #lengthOf(own: number): number {
    return this.#options.walkLength ?? Math.min(Math.max(walkLengthMin, own), walkLengthMax)
  }

  /** Steps in which nearly all walks lived that were not live at once. */
  #usual(): number {
    const [, ...late] = this.#walksOfSteps
    let left = Math.ceil(nearlyAll * late.reduce((sum, walks) => sum + walks, 0))
    if (left === 0) return 0
    return 1 + late.findIndex(walks => (left -= walks) <= 0)
  }

  #nextTurn(): Turn | undefined {
    const { search } = this.#options
    // Nothing is begun before it is known how far away a live state is.
    if ((this.#turns > 0 && this.completed === 0) || this.bounded.exhausted) return undefined
    const planned = this.#nextPlan()
    const prefix = planned === 'bounded' ? this.bounded.next() : undefined
    if (search === 'bounded' && prefix === undefined) return undefined
    const plan = planned === 'bounded' && prefix === undefined ? 'race' : planned
    const variant = this.#nextVariant(plan)
    const walkLength = plan === 'straight' ? this.#lengthOf(firstLength) : this.#walkLength
    this.#turns += 1
    return { plan, variant, prefix, walkLength, task: this.#taskOf(plan, prefix?.labels ?? [], walkLength) }
  }

  #nextPlan(): Plan {
    const { search } = this.#options
    // The way that systems are built for, first.
    if (this.#turns === 0 && search !== 'bounded') return 'straight'
    return plans[search][this.#turns % plans[search].length]!
  }

  /** A schedule can only be repeated, and states only be compared, where the nodes draw the same. */
  #nextVariant(plan: Plan): number {
    const { search, from } = this.#options
    if (plan === 'straight' || plan === 'bounded' || from.length > 0) return 0
    return Math.floor(this.#turns / plans[search].length) % variants
  }

  #taskOf(plan: Plan, prefix: readonly string[], walkLength: number): Task {
    const { from, liveness, random } = this.#options
    const own = random.fork()
    const leg = (manner: Manner, length: number): Leg => ({ manner, seed: own.seed(), length })
    const towardsLife = plan === 'straight' ? 'straight' : 'fair'
    return {
      labels: [...from, ...prefix],
      legs: this.#legsOf(plan, own, leg),
      // Most of what is merely slow is told apart by the straight walk, at the price of some steps, not of an examination.
      ...(liveness.length > 0 && {
        untilLive: { properties: liveness, legs: [leg(towardsLife, walkLength), leg('straight', walkLength)] },
      }),
      untilViolation: true,
      surprises: this.#surprises.all,
    }
  }

  #legsOf(plan: Plan, random: Random, leg: (manner: Manner, length: number) => Leg): Leg[] {
    const { search, liveness } = this.#options
    if (plan === 'straight') return liveness.length > 0 ? [] : [leg('straight', this.#walkLength)]
    if (search === 'bounded' && liveness.length > 0) return []
    // Some surprises do harm only to a system that has been running for a while.
    const warmUp = plan === 'late' ? [leg('straight', random.pick(warmUpLengths))] : []
    return [...warmUp, leg(surpriseManners[plan], random.pick(surpriseLengths))]
  }

  #fail({ prefix }: Turn, error: Diverged): Diverged {
    // The first one comes again until it counts.
    if (this.completed === 0 && error instanceof Unfaithful) this.#turns = 0
    if (prefix && this.bounded.fail(prefix, error)) this.givenUp += 1
    return error
  }

  #learn({ plan, variant, prefix, walkLength, task }: Turn, outcome: Outcome): Explored {
    this.completed += 1
    this.walks += (task.legs?.length ? 1 : 0) + (task.untilLive ? 1 : 0)
    this.#surprises.learn(outcome.surprises)
    if (prefix) this.bounded.arrive(prefix, outcome)
    return { plan, variant, walkLength, outcome, starved: this.#judge(outcome) }
  }

  #judge({ violation, broken, toLive, schedule, lastLive }: Outcome): string | undefined {
    if (violation || broken || !toLive) return undefined
    if (toLive.end !== 'goal') {
      this.#starved += 1
      return this.#options.liveness.find(name => (lastLive.get(name) ?? -1) < toLive.begin)
    }
    this.#count(schedule.length - toLive.begin)
    return undefined
  }

  #count(steps: number): void {
    while (this.#walksOfSteps.length <= steps) this.#walksOfSteps.push(0)
    this.#walksOfSteps[steps]! += 1
  }
}
