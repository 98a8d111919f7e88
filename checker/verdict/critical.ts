import type { Cells } from '../cells/cells.ts'
import type { TaskOutcome } from '../cells/task.ts'
import type { ChooserName } from '../choosers/chooser.ts'
import type { WaysToLife } from '../searches/ways-to-life.ts'
import { conversingAmong, type Recovery, type RecoveryOptions, recover, type Scouts } from './recovery.ts'
import { type LifeSearch, searchLife } from './search-life.ts'

export interface CriticalOptions extends Omit<RecoveryOptions, 'stepsMin' | 'isLenient' | 'choosers'> {
  readonly scouts: Scouts
  /** Steps of the first walk, from the end of the execution, which may show it to be transient; `walkLength` by default. */
  readonly suspectLength?: number
  /** `walkLength` grows up to this where walks turn out to be too short to tell. */
  readonly walkLengthMax: number
  /** Whether a way back to life is also searched for where walks find none; it takes a part of their effort. */
  readonly searches?: boolean
  /** Ways to life that live executions went: that search tries them first. */
  readonly ways?: WaysToLife | undefined
}

/** Thrown where a walk that looked for a live state met a violation: that is to be reported, whatever else. */
export class ViolationMet extends Error {
  override readonly name = 'ViolationMet'
  readonly outcome: TaskOutcome

  constructor(outcome: TaskOutcome) {
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
  /** How many of these were walks of a healthy network, how many one conversation after the other. */
  readonly healthy: number
  readonly conversing: number
  /** Longer walks from there, of which none recovered either. */
  readonly longer: LongerWalks
  /** Whether nothing is enabled there but faults, so that no walk was needed. */
  readonly isTerminal: boolean
  /** What the search for a way back to life did; undefined where there was none. */
  readonly searched: LifeSearch | undefined
  /** The most steps that a way back to life took, of those that were seen. */
  readonly slowest: number
  /** A live execution with the longest prefix in common: it leaves the other just before the critical transition. */
  readonly closestLive: readonly string[] | undefined
}

/** Walks that are longer than the many behind an answer. */
export interface LongerWalks {
  readonly walks: number
  /** How many of these were walks of a healthy network. */
  readonly healthy: number
  /** The most steps that one of them took. */
  readonly longest: number
}

/**
 * Finds the step after which recovery is impossible (MaceMC, algorithm 3), in an execution that is not live at its end.
 *
 * States after the last live one are tried at doubling distance until the walks from one all fail to recover, then by
 * halving. A state that recovered is proven, and with it all before it. One that did not is believed dead after a few
 * walks, and the answer is tested again with the full number of fresh ones before it is given, and with some of
 * doubling length, until these come to nothing new in their second half.
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

/** An answer that stands on at least this many walks is tested with longer ones too. */
const walksWithLonger = 20
/** How much longer the longest of these are, and by how much all walks become longer where they turn out to be too short. */
const longFactor = 8
/** These have at least this many steps, for some systems recover in thousands. With more, each death would cost seconds. */
const longestMin = 3_000
/**
 * Of each length one walk by each: with more of them a death that goes on for ever, as where terms are counted up, would cost
 * more than all other walks. Walks of a healthy network come last, as long as the longest.
 */
const longerChoosers = ['fair', 'fair swarm'] as const
/** One for each assumption about which nodes set their timers anew: see `healthySeed`. */
const longHealthyWalks = 2
/**
 * How much longer walks are at the least than the longest way back to life that was seen. A walk that could live but is
 * too short is no evidence.
 */
const recoveryFactor = 2

/** A search for a way back to life takes this share of the effort of the walks, in steps, and so many at the least. */
const searchShare = 1 / 4
const searchStepsMin = 1_000

/** What stands behind an answer. */
type Evidence = Pick<Critical, 'walks' | 'healthy' | 'conversing' | 'longer' | 'isTerminal' | 'searched'>
const noLonger: LongerWalks = { walks: 0, healthy: 0, longest: 0 }
const noEvidence: Evidence = {
  walks: 0,
  healthy: 0,
  conversing: 0,
  longer: noLonger,
  isTerminal: false,
  searched: undefined,
}

const evidenceOf = ({
  failed,
  healthy,
  conversing,
  isTerminal,
}: Pick<Recovery, 'failed' | 'healthy' | 'conversing' | 'isTerminal'>): Evidence => ({
  ...noEvidence,
  ...{ walks: failed, healthy, conversing, isTerminal },
})

const together = (one: LongerWalks, { failed, healthy, longest }: Recovery): LongerWalks => ({
  walks: one.walks + failed,
  healthy: one.healthy + healthy,
  longest: Math.max(one.longest, longest),
})

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
    return isTerminal || (await this.#isCertain()) ? this.#answer('C1') : this.find()
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
      const few = await this.#recover(0, scouts.count, this.#walkLength)
      const tried = few.isTerminal ? await this.#recover(0, walks, this.#walkLength) : few
      this.#evidence = evidenceOf(tried)
      if (tried.live) return undefined
      if (tried.isTerminal) return this.#answer('C1', 0)
      if (!this.#lengthenWalks()) return this.#answer('C2', 0)
    }
  }

  async #findDead(): Promise<Critical> {
    for (;;) {
      const dead = await this.#narrow(await this.#gallop())
      if (this.#recoverable === this.#schedule.length) return this.#answer('transient')
      const { live, isTerminal } = await this.#test(dead)
      if (live) continue
      const length = this.#walkLength
      if (isTerminal || (await this.#isCertain())) return this.#answer('C1', dead)
      if (this.#walkLength === length && !this.#lengthenWalks()) return this.#answer('C2', dead)
    }
  }

  /** Makes walks longer, for they were too short to tell. @returns false where they have their greatest length already */
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

  /** Tests the answer with fresh walks, with longer ones, and by a search for a way back to life. */
  async #test(dead: number): Promise<Pick<Recovery, 'live' | 'isTerminal'>> {
    const { walks, searches } = this.#options
    const tested = await this.#recover(dead, walks, this.#walkLength)
    this.#evidence = evidenceOf(tested)
    if (tested.live || tested.isTerminal || walks < walksWithLonger) return tested
    const live = await this.#liveByLonger(dead)
    if (live || !searches) return { live, isTerminal: false }
    return this.#searchLife(dead, searchShare * tested.effort)
  }

  /**
   * Walks of doubling length, until they come to nothing new in their second half: longer ones would not either. Where something
   * new comes for ever it ends at a length, with walks of a healthy network, in which recovers what recovers in life.
   */
  async #liveByLonger(dead: number): Promise<Recovery['live']> {
    const { walkLengthMax, suspectLength = 0 } = this.#options
    const begun = this.#walkLength
    const longest = Math.min(Math.max(longFactor * begun, suspectLength, longestMin), walkLengthMax)
    for (let length = begun; length < longest; ) {
      length = Math.min(2 * length, longest)
      const { live, isSettled } = await this.#tryLonger(dead, longerChoosers.length, length, longerChoosers)
      if (live) return live
      if (isSettled) break
    }
    return (await this.#tryLonger(dead, longHealthyWalks, longest, ['healthy'])).live
  }

  async #tryLonger(dead: number, walks: number, length: number, choosers: readonly ChooserName[]): Promise<Recovery> {
    const tried = await this.#recover(dead, walks, length, { choosers, first: [] })
    this.#evidence = { ...this.#evidence, longer: together(this.#evidence.longer, tried) }
    return tried
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

  /**
   * Whether the walks that failed are evidence: the state before recovers, and in no more steps than these walks had. Where it
   * takes more, walks are longer from then on, and the test is done again.
   */
  async #isCertain(): Promise<boolean> {
    const length = this.#walkLength
    return this.#evidence.walks > 0 && (await this.#livesAgain()) && this.#walkLength === length
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
    others: Pick<RecoveryOptions, 'stepsMin' | 'choosers' | 'first'> = {},
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
