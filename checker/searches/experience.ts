import type { TaskOutcome } from '../cells/task.ts'
import type { ChooserName, Walk } from '../choosers/chooser.ts'
import { healthySeed } from '../choosers/healthy.ts'
import { Surprises } from '../choosers/surprise.ts'
import type { Random } from '../random.ts'
import { startAfter } from '../start.ts'
import type { Execution, SearchName } from './search.ts'
import { WaysToLife } from './ways-to-life.ts'

export interface ExperienceOptions {
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
/** The same factor for the many walks that test a suspect: a few longer ones are tried beside them. */
const recoveryLengthFactor = 2
const nearlyAll = 0.95
const walkLengthMin = 64
export const walkLengthMax = 8_000
/** Steps of the first walk, which shows how far away a live state is. A system that needs more is hardly ever met. */
const firstLength = 2_000

/** What a search wants to be executed. */
interface Wish {
  readonly search: SearchName
  readonly variant?: number
  /** Labels to execute after those that each execution begins with. */
  readonly labels?: readonly string[]
  /** Makes the walks that follow, from a source of randomness of their own. */
  readonly walks: (random: Random) => readonly Walk[]
  /** How the last walk looks for a live state. */
  readonly towardsLife?: ChooserName
  readonly walkLength?: number
}

/** What all searches of a check have learned together: how far away live states are, and which surprises there may be. */
export class Experience {
  readonly liveness: readonly string[]
  readonly surprises = new Surprises()
  readonly ways = new WaysToLife()
  /** Fingerprints that any search has met. */
  readonly met = new Set<string>()
  /** Executions that were carried to their end. */
  completed = 0
  /** Executions that went on, or began, as a random walk. */
  walks = 0
  readonly #options: ExperienceOptions
  #random: Random
  /** How many walks had to go so many steps to a live state. */
  readonly #walksOfSteps: number[] = []
  /** The most steps that a suspect took to live again. */
  #slowest = 0
  /** Walks that came to no live state. */
  #starved = 0

  constructor(options: ExperienceOptions) {
    this.#options = options
    this.#random = options.random
    this.liveness = options.liveness
  }

  /** Labels that each execution begins with. */
  get begin(): readonly string[] {
    return this.#options.from
  }

  /** Whether each execution begins with a schedule that is given. */
  get hasBegin(): boolean {
    return this.begin.length > 0
  }

  /** An execution of up to three parts: labels, walks, and where there are liveness properties a walk to a live state. */
  executionOf({
    search,
    variant = 0,
    labels = [],
    walks,
    towardsLife = 'fair',
    walkLength = this.walkLength,
  }: Wish): Execution {
    const { from, liveness } = this.#options
    const own = this.#random.fork()
    const first = walks(own)
    const toLive = (chooser: ChooserName): Walk => ({ chooser, seed: own.seed(), length: walkLength })
    const healthy = [0, 1].map(ordinal => {
      const walk = toLive('healthy')
      return { ...walk, seed: healthySeed(walk.seed, ordinal) }
    })
    return {
      search,
      variant,
      walkLength,
      task: {
        start: startAfter([...from, ...labels]),
        walks: first,
        // Most of what is merely slow lives in a healthy network, which shows for the price of some steps, not of an examination.
        ...(liveness.length > 0 && {
          untilLive: { properties: liveness, walks: [toLive(towardsLife), ...healthy] },
        }),
        untilViolation: true,
        surprises: this.surprises.all,
      },
    }
  }

  /** Does some work, in which what searches ask for is drawn from another source: later ones are as they would be without it. */
  drawingFrom<Result>(random: Random, work: () => Result): Result {
    const before = this.#random
    this.#random = random
    try {
      return work()
    } finally {
      this.#random = before
    }
  }

  /** Takes in what an execution came to. Gives a liveness property that was not live in all of its last part. */
  learn({ task }: Execution, outcome: TaskOutcome): string | undefined {
    this.completed += 1
    this.walks += (task.walks?.length ? 1 : 0) + (task.untilLive ? 1 : 0)
    this.surprises.learn(outcome.surprises)
    return this.#judge(outcome)
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

  /** Learns how many steps a suspect took to live again: later walks last at least as long. */
  recovered(steps: number): void {
    this.#slowest = Math.max(this.#slowest, steps)
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

  /** Steps of the first execution's walk to a live state. */
  get firstLength(): number {
    return this.#lengthOf(firstLength)
  }

  /** Steps of each of the many walks that test a suspect. */
  get recoveryLength(): number {
    return this.#lengthOf(recoveryLengthFactor * this.#usual())
  }

  /** Steps of a walk to a live state. */
  get walkLength(): number {
    return this.#lengthOf(
      Math.max(walkLengthFactor * this.#usual(), slowestFactor * Math.max(this.stepsToLive, this.#slowest)),
    )
  }

  #lengthOf(own: number): number {
    return this.#options.walkLength ?? Math.min(Math.max(walkLengthMin, own), walkLengthMax)
  }

  /** The number of steps after which nearly all walks lived, of those that did not live at once. */
  #usual(): number {
    const [, ...late] = this.#walksOfSteps
    let left = Math.ceil(nearlyAll * late.reduce((sum, walks) => sum + walks, 0))
    if (left === 0) return 0
    return 1 + late.findIndex(walks => (left -= walks) <= 0)
  }

  #judge({ violation, broken, toLive, schedule, fingerprints, lastLive }: TaskOutcome): string | undefined {
    if (violation || broken || !toLive) return undefined
    if (toLive.end !== 'goal') {
      this.#starved += 1
      return this.liveness.find(name => (lastLive.get(name) ?? -1) < toLive.begin)
    }
    this.#count(schedule.length - toLive.begin)
    this.ways.learn({ schedule, fingerprints }, schedule.length)
    return undefined
  }

  #count(steps: number): void {
    while (this.#walksOfSteps.length <= steps) this.#walksOfSteps.push(0)
    this.#walksOfSteps[steps]! += 1
  }
}
