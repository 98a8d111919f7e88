import { MetStates } from '../cells/met-states.ts'
import type { TaskOutcome } from '../cells/task.ts'
import type { ChooserName, Walk } from '../choosers/chooser.ts'
import { healthySeed } from '../choosers/healthy.ts'
import { Surprises } from '../choosers/surprise.ts'
import { CallResults } from '../choosers/vain-calls.ts'
import type { Random } from '../system/random.ts'
import type { Start } from '../system/start.ts'
import type { ChoiceKind } from '../system/system.ts'
import type { RequestedExecution, SearchName } from './search.ts'
import { WaysToLife } from './ways-to-life.ts'

export interface ExperienceOptions {
  /** Fixed by the user. If undefined, it follows from the longest path to a live state. */
  readonly walkLength: number | undefined
  /** Where each execution begins, unless a search wishes otherwise. */
  readonly begin: Start
  /** Names of the liveness properties. */
  readonly liveness: readonly string[]
  /** Names of the properties that are judged in a healthy network. */
  readonly healthy?: readonly string[] | undefined
  readonly random: Random
}

/**
 * Length of walks to a live state, as a multiple of what nearly all of them needed (MaceMC, section 4.4, took 80,000
 * steps where all walks were live by 10,000), and as a multiple of what the slowest needed, since one of thousands may
 * be very slow. Shorter walks would accuse slow systems more often; longer ones cost executions.
 */
export const walkLengthFactor = 8
const slowestFactor = 2
/**
 * The same factor for the many walks that test a suspect. It can be smaller, because a few longer walks are tried as
 * well.
 */
const recoveryLengthFactor = 2
const nearlyAll = 0.95
const walkLengthMin = 64
export const walkLengthMax = 8_000
/** Length of the first walk, which shows how far away a live state is. Hardly any system needs more. */
const firstLength = 2_000

/** What a search wants to have executed. */
interface Wish {
  readonly search: SearchName
  readonly variant?: number
  /** Where the execution begins; by default where each does. */
  readonly start?: Start
  /** Makes the walks that follow, with a source of random numbers of their own. */
  readonly walks: (random: Random) => readonly Walk[]
  /** How the last walk chooses on its way to a live state. */
  readonly towardsLife?: ChooserName
  readonly walkLength?: number
  /** See `Task`. */
  readonly timeShareMax?: number
}

/** What the searches of a check have learned together: how far away live states are, and which states were met. */
export class Experience {
  readonly liveness: readonly string[]
  readonly surprises = new Surprises()
  readonly ways = new WaysToLife()
  readonly #calls = new CallResults()
  /** States that any search has met. */
  readonly met = new MetStates()
  /** Executions that came to their end. */
  completed = 0
  /** Kinds of steps that were possible where an execution began, or taken. */
  readonly kinds = new Set<ChoiceKind>()
  /** Executions that contained a random walk. */
  walks = 0
  readonly #options: ExperienceOptions
  #random: Random
  /** By number of steps, how many walks needed that many to reach a live state. */
  readonly #walksOfSteps: number[] = []
  /** The most steps that a suspect needed to recover. */
  #slowest = 0
  /** Walks that reached no live state. */
  #starved = 0

  constructor(options: ExperienceOptions) {
    this.#options = options
    this.#random = options.random
    this.liveness = options.liveness
  }

  /** Where each execution begins, unless a search wishes otherwise. */
  get begin(): Start {
    return this.#options.begin
  }

  /** Whether that is after a given schedule. */
  get hasBegin(): boolean {
    return this.begin.at !== 'initial'
  }

  /**
   * An execution of up to three parts: its start, walks, and, if there are liveness properties, a walk to a live state.
   */
  executionOf({
    search,
    variant = 0,
    start = this.begin,
    walks,
    towardsLife = 'fair',
    walkLength = this.walkLength,
    timeShareMax,
  }: Wish): RequestedExecution {
    const { liveness } = this
    const own = this.#random.fork()
    const first = walks(own)
    const toLive = (chooser: ChooserName): Walk => ({ chooser, seed: own.seed(), length: walkLength })
    const healthy = [0, 1].map(ordinal => {
      const walk = toLive('healthy')
      return { ...walk, seed: healthySeed(walk.seed, ordinal) }
    })
    // There are no walks to a live state in a network that was made healthy: other properties need those.
    const isJudgedHealthy = this.#options.healthy?.length && (liveness.length === 0 || own.below(2) === 0)
    return {
      search,
      variant,
      walkLength,
      task: {
        start,
        walks: first,
        ...(isJudgedHealthy && { healthy: this.#options.healthy }),
        // Most states that are merely slow recover in a healthy network. To see that costs a few steps, while an
        // examination of the suspect costs many executions.
        ...(liveness.length > 0 && {
          untilLive: { properties: liveness, walks: [toLive(towardsLife), ...healthy] },
        }),
        untilViolation: true,
        ...(timeShareMax !== undefined && { timeShareMax }),
        surprises: this.surprises.all,
        ...(this.#calls.vain.length > 0 && { vain: this.#calls.vain }),
      },
    }
  }

  /**
   * Runs `work` with another source of random numbers, so that later executions draw the same numbers as without it.
   */
  drawingFrom<Result>(random: Random, work: () => Result): Result {
    const before = this.#random
    this.#random = random
    try {
      return work()
    } finally {
      this.#random = before
    }
  }

  /**
   * Learns from an execution's outcome. Returns a liveness property that was never live in its last part, if there is
   * one.
   */
  learn({ task }: RequestedExecution, outcome: TaskOutcome): string | undefined {
    this.completed += 1
    this.walks += (task.walks?.length ? 1 : 0) + (task.untilLive ? 1 : 0)
    this.surprises.learn(outcome.surprises)
    this.#calls.learn(outcome.calls)
    for (const { kind } of [...outcome.arrival.enabled, ...outcome.schedule]) this.kinds.add(kind)
    return this.#judge(outcome)
  }

  /** Share of the walks to a live state that reached one; undefined before the first. */
  get liveShare(): number | undefined {
    const lived = this.#walksOfSteps.reduce((sum, walks) => sum + walks, 0)
    return lived + this.#starved === 0 ? undefined : lived / (lived + this.#starved)
  }

  /** The most steps that a walk needed to reach a live state. */
  get stepsToLive(): number {
    return Math.max(0, this.#walksOfSteps.length - 1)
  }

  /** Learns how many steps a suspect needed to recover. Later walks are at least as long. */
  recovered(steps: number): void {
    this.#slowest = Math.max(this.#slowest, steps)
  }

  /** How many walks needed 0, 1, 2-3, 4-7, 8-15 … steps to reach a live state. */
  get walksToLive(): readonly number[] {
    const doubling: number[] = []
    for (const [steps, walks] of this.#walksOfSteps.entries()) {
      const digits = 32 - Math.clz32(steps)
      doubling[digits] = (doubling[digits] ?? 0) + walks
    }
    return doubling
  }

  /** Length of the first execution's walk to a live state. */
  get firstLength(): number {
    return this.#lengthOf(firstLength)
  }

  /** Length of each of the many walks that test a suspect. */
  get recoveryLength(): number {
    return this.#lengthOf(recoveryLengthFactor * this.#usual())
  }

  /** Length of a walk to a live state. */
  get walkLength(): number {
    return this.#lengthOf(
      Math.max(walkLengthFactor * this.#usual(), slowestFactor * Math.max(this.stepsToLive, this.#slowest)),
    )
  }

  #lengthOf(own: number): number {
    return this.#options.walkLength ?? Math.min(Math.max(walkLengthMin, own), walkLengthMax)
  }

  /**
   * The number of steps within which nearly all walks reached a live state, not counting those that were live at once.
   */
  #usual(): number {
    const [, ...late] = this.#walksOfSteps
    let left = Math.ceil(nearlyAll * late.reduce((sum, walks) => sum + walks, 0))
    if (left === 0) return 0
    return 1 + late.findIndex(walks => (left -= walks) <= 0)
  }

  #judge({ violation, finding, toLive, schedule, fingerprints, lastLive }: TaskOutcome): string | undefined {
    if (violation || finding || !toLive) return undefined
    if (toLive.end !== 'goal') {
      this.#starved += 1
      return this.liveness.find(name => (lastLive.get(name) ?? -1) < toLive.begin)
    }
    this.#count(toLive.steps)
    this.ways.learn({ schedule, fingerprints }, schedule.length)
    return undefined
  }

  #count(steps: number): void {
    while (this.#walksOfSteps.length <= steps) this.#walksOfSteps.push(0)
    this.#walksOfSteps[steps]! += 1
  }
}
