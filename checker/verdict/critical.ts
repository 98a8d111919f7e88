import type { Cells } from '../cells/cells.ts'
import type { Outcome } from '../cells/task.ts'
import type { WaysToLife } from '../searches/ways-to-life.ts'
import { conversingAmong, type Recovery, type RecoveryOptions, recover, type Scouts } from './recovery.ts'
import { type LifeSearch, searchLife } from './search-life.ts'

export interface CriticalOptions extends Omit<RecoveryOptions, 'stepsMin' | 'isLenient' | 'isHealthy'> {
  readonly scouts: Scouts
  /** Of the one walk from the end of the execution that may show it to be transient; `walkLength` by default. */
  readonly suspectLength?: number
  /** `walkLength` grows up to this where walks turn out to be too short to tell. */
  readonly walkLengthMax: number
  /** Whether a way back to life is also searched for where walks find none; it takes a part of their effort. */
  readonly searches?: boolean
  /** What live executions have shown, for that search. */
  readonly ways?: WaysToLife | undefined
}

/** Thrown where a walk that looked for a live state met a violation: that is to be reported, whatever else. */
export class ViolationMet extends Error {
  override readonly name = 'ViolationMet'
  readonly outcome: Outcome

  constructor(outcome: Outcome) {
    super(outcome.violation!.message)
    this.outcome = outcome
  }
}

/**
 * `C1`: dead from the critical transition on. `C2`: the walks are too short to tell, even at their greatest length.
 * `transient`: the execution recovers from its end, so it violates nothing.
 */
export interface Critical {
  readonly case: 'C1' | 'C2' | 'transient'
  /** The first dead state is the one after this step; 0 is the initial state. */
  readonly step: number
  /** Fresh walks that started from there to test the answer, of which none recovered, and the most steps of each. */
  readonly walks: number
  readonly walkLength: number
  /** How many of these were walks of a healthy network, how many one conversation after the other; the most steps of any. */
  readonly healthy: number
  readonly conversing: number
  readonly longest: number
  /** How many longer walks of a healthy network there were beside. */
  readonly long: number
  /** Whether nothing is enabled there but faults, so that no walk was needed. */
  readonly isTerminal: boolean
  /** Where a way back to life was searched for: what that did. */
  readonly searched: LifeSearch | undefined
  /** The most steps that a way back to life took, of those that were seen. */
  readonly slowest: number
  /** A live execution with the longest prefix in common: it leaves the other just before the critical transition. */
  readonly closestLive: readonly string[] | undefined
}

/**
 * Finds the step after which recovery is impossible (MaceMC, algorithm 3), in an execution that is not live at its end.
 *
 * States after the last live one are tried at doubling distance until the walks from one all fail to recover, then by
 * halving. A state that recovered is proven, and with it all before it. One that did not is believed dead after a few
 * walks, and the answer is tested again with the full number of fresh ones before it is given, and with some that
 * are much longer.
 *
 * The paper's walks end where the execution ended, so what died in its second half was doubtful (C2). These have their
 * whole length from wherever they start. What is doubtful instead is a death that no walk of this length ever escaped:
 * the walks may be too short for this system. So C1 takes a walk that did live again, from just before.
 *
 * Throws `Diverged` where the execution does not repeat, and `ViolationMet`.
 */
export const findCriticalTransition = (
  cells: Cells,
  schedule: readonly string[],
  options: CriticalOptions,
): Promise<Critical> => new CriticalSearch(cells, schedule, options).find()

/**
 * The same for an execution that is thought to end with its critical transition, as one that was shrunk does: only that is
 * tested, and the search is done where it turns out to be wrong.
 */
export const confirmCriticalTransition = (
  cells: Cells,
  schedule: readonly string[],
  options: CriticalOptions,
): Promise<Critical> => new CriticalSearch(cells, schedule, options).confirm()

/** So many walks have some beside them that are longer: of a healthy network, as what recovers in life does there. */
const walksWithLongest = 20
/** By how much, and by how much all walks become longer where they turn out to be too short. */
const longFactor = 8
/**
 * How much longer walks are at the least than the longest way back to life that was seen. A walk that could live but is
 * too short is no evidence; there are many, and the long ones tell where all were.
 */
const recoveryFactor = 2
/** One for each assumption about which nodes set their timers anew: see `healthySeed`. */
const longWalks = 2
/**
 * They have this many steps at the least, for some systems recover in thousands. With
 * more of them each death would cost seconds: a step costs half a millisecond.
 */
const longestMin = 3_000

/** A search for a way back to life takes this share of the effort of the walks, in steps, and so many at the least. */
const searchShare = 1 / 4
const searchStepsMin = 1_000

/** What stands behind an answer. */
type Evidence = Pick<Critical, 'walks' | 'healthy' | 'conversing' | 'long' | 'longest' | 'isTerminal' | 'searched'>
const noEvidence: Evidence = {
  walks: 0,
  healthy: 0,
  conversing: 0,
  long: 0,
  longest: 0,
  isTerminal: false,
  searched: undefined,
}

const evidenceOf = (
  { failed, healthy, conversing }: Pick<Recovery, 'failed' | 'healthy' | 'conversing'>,
  longest: number,
  isTerminal: boolean,
): Evidence => ({ walks: failed, healthy, conversing, long: 0, longest, isTerminal, searched: undefined })

class CriticalSearch {
  readonly #cells: Cells
  readonly #schedule: readonly string[]
  readonly #options: CriticalOptions
  #walkLength: number
  /** After this many steps the system can recover. */
  #recoverable = 0
  #closestLive: readonly string[] | undefined
  #evidence: Evidence = noEvidence
  #slowest = 0

  constructor(cells: Cells, schedule: readonly string[], options: CriticalOptions) {
    this.#cells = cells
    this.#schedule = schedule
    this.#options = options
    this.#walkLength = Math.min(options.walkLength, options.walkLengthMax)
  }

  async find(): Promise<Critical> {
    // An execution that recovers from its end is told apart first: it is the common case in a correct system.
    const { suspectLength = this.#walkLength } = this.#options
    const { live, begin } = await this.#recover(this.#schedule.length, 1, suspectLength)
    if (live) return this.#answer('transient')
    return (await this.#findRecoverable(begin.lastLive)) ?? (await this.#findDead())
  }

  async confirm(): Promise<Critical> {
    const end = this.#schedule.length
    if (end === 0 || !(await this.#recovers(end - 1))) return this.find()
    const { live, isTerminal } = await this.#test(end)
    if (live) return this.#answer('transient')
    return isTerminal || (this.#evidence.walks > 0 && (await this.#livesAgain())) ? this.#answer('C1') : this.find()
  }

  /** Finds a state to start from: the last live one, or else the initial state. */
  async #findRecoverable(lastLive: number | undefined): Promise<Critical | undefined> {
    if (lastLive !== undefined) {
      this.#recoverable = lastLive
      this.#closestLive = this.#schedule.slice(0, lastLive)
      return undefined
    }
    const { walks, scouts } = this.#options
    for (;;) {
      const tried = await this.#recover(0, scouts.count, this.#walkLength)
      const { live, isTerminal, ...counts } = tried.isTerminal ? await this.#recover(0, walks, this.#walkLength) : tried
      this.#evidence = evidenceOf(counts, this.#walkLength, isTerminal)
      if (live) return undefined
      if (isTerminal) return this.#answer('C1', 0)
      if (!this.#lengthenWalks()) return this.#answer('C2', 0)
    }
  }

  async #findDead(): Promise<Critical> {
    for (;;) {
      const dead = await this.#narrow(await this.#gallop())
      if (this.#recoverable === this.#schedule.length) return this.#answer('transient')
      const { live, isTerminal } = await this.#test(dead)
      if (live) continue
      if (isTerminal || (this.#evidence.walks > 0 && (await this.#livesAgain()))) return this.#answer('C1', dead)
      if (!this.#lengthenWalks()) return this.#answer('C2', dead)
    }
  }

  /** Where walks turn out to be too short. False where they have their greatest length already. */
  #lengthenWalks(): boolean {
    const { walkLengthMax } = this.#options
    if (this.#walkLength === walkLengthMax) return false
    this.#walkLength = Math.min(longFactor * this.#walkLength, walkLengthMax)
    return true
  }

  /** Goes on at doubling distance to a state that is believed dead. */
  async #gallop(): Promise<number> {
    for (let distance = 1; ; distance *= 2) {
      const step = Math.min(this.#recoverable + distance, this.#schedule.length)
      if (!(await this.#recovers(step)) || step === this.#schedule.length) return step
    }
  }

  /** Halves the distance to the first state believed dead. */
  async #narrow(upper: number): Promise<number> {
    let dead = upper
    while (dead - this.#recoverable > 1) {
      const middle = Math.floor((dead + this.#recoverable) / 2)
      if (!(await this.#recovers(middle))) dead = middle
    }
    return dead
  }

  /** Tests the answer with fresh walks, with one that is much longer, and by a search for a way back to life. */
  async #test(dead: number): Promise<Pick<Recovery, 'live' | 'isTerminal'>> {
    const { walks, walkLengthMax, suspectLength = 0 } = this.#options
    const length = this.#walkLength
    const tested = await this.#recover(dead, walks, length)
    const { isTerminal } = tested
    this.#evidence = evidenceOf(tested, length, isTerminal)
    if (tested.live || isTerminal || walks < walksWithLongest) return tested
    const longest = Math.min(Math.max(longFactor * length, suspectLength, longestMin), walkLengthMax)
    const long = await this.#recover(dead, longWalks, longest, {
      isHealthy: true,
      first: [],
    })
    this.#evidence = { ...this.#evidence, long: long.failed, longest: long.longest }
    if (long.live || !this.#options.searches) return long
    return this.#searchLife(dead, searchShare * tested.effort)
  }

  async #searchLife(dead: number, effort: number): Promise<Pick<Recovery, 'live' | 'isTerminal'>> {
    const { property, walks, ways } = this.#options
    const options = {
      property,
      ordersTried: conversingAmong(walks),
      walkLength: this.#walkLength,
      effort: Math.max(effort, searchStepsMin),
      ways,
    }
    const searched = await searchLife(this.#cells, this.#schedule.slice(0, dead), options)
    if (searched.met) throw new ViolationMet(searched.met)
    if (searched.live) this.#livesFrom(dead, searched.live)
    if (searched.by) this.#options.scouts.follow(searched.by)
    this.#evidence = { ...this.#evidence, searched }
    return { live: searched.live, isTerminal: false }
  }

  /** Whether a walk that starts just before the critical transition comes to a live state by going on. */
  async #livesAgain(): Promise<boolean> {
    const hasGoneOn = this.#closestLive !== undefined && this.#closestLive.length > this.#recoverable
    if (hasGoneOn) return true
    const { live } = await this.#recover(this.#recoverable, this.#options.walks, this.#walkLength, { stepsMin: 1 })
    return live !== undefined
  }

  async #recovers(step: number, walks = this.#options.scouts.count): Promise<boolean> {
    const { live } = await this.#recover(step, walks, this.#walkLength)
    return live !== undefined
  }

  async #recover(
    step: number,
    walks: number,
    walkLength: number,
    others: Pick<RecoveryOptions, 'stepsMin' | 'isHealthy' | 'first'> = {},
  ): Promise<Recovery> {
    const schedule = this.#schedule.slice(0, step)
    const first = this.#options.scouts.walks
    const recovery = await recover(this.#cells, schedule, { ...this.#options, walks, walkLength, first, ...others })
    if (recovery.met) throw new ViolationMet(recovery.met)
    const { walk, by } = recovery
    if (walk) this.#options.scouts.learn(walk)
    // Two are tried in any case: what others recover by is worth to be tried first from now on.
    if (walk && walk > 2 && by?.chooser === 'conversations') this.#options.scouts.follow(by)
    if (recovery.live) this.#livesFrom(step, recovery.live)
    return recovery
  }

  /** Takes in a live execution that goes on from after this step. */
  #livesFrom(step: number, live: readonly string[]): void {
    this.#recoverable = step
    this.#closestLive = live
    // Where one walk needs so many steps, another that has few more is no evidence of death.
    const taken = live.length - step
    this.#slowest = Math.max(this.#slowest, taken)
    this.#walkLength = Math.max(this.#walkLength, Math.min(recoveryFactor * taken, this.#options.walkLengthMax))
  }

  #answer(kind: Critical['case'], step = this.#schedule.length): Critical {
    return {
      case: kind,
      step,
      walkLength: this.#walkLength,
      slowest: this.#slowest,
      closestLive: this.#closestLive,
      ...this.#evidence,
    }
  }
}
