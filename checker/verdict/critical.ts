import type { Cells } from '../cells/cells.ts'
import type { TaskOutcome } from '../cells/task.ts'
import type { WaysToLife } from '../searches/ways-to-life.ts'
import {
  conversingAmong,
  type Recovery,
  type RecoveryOptions,
  recover,
  type Scouts,
  scoutsMax,
  walksOnNewProcesses,
} from './recovery.ts'
import { type LifeSearch, searchLife } from './search-life.ts'

export interface CriticalOptions
  extends Omit<RecoveryOptions, 'stepsMin' | 'isLenient' | 'choosers' | 'onNewProcesses'> {
  readonly scouts: Scouts
  /**
   * Length of the first walk from the end of the execution, which may show that the state is transient; `walkLength` by
   * default.
   */
  readonly suspectLength?: number
  /** The last step after which the property held, `null` if it never did; found by executing the schedule if not given. */
  readonly lastLive?: number | null
  /** `walkLength` may grow up to this if walks turn out to be too short to tell. */
  readonly walkLengthMax: number
  /**
   * Whether the answer is final. If walks find no live state, a way back to one is also searched for, which takes a part
   * of the walks' effort; and some of the walks begin on new processes.
   */
  readonly isFinal?: boolean
  /** Paths to live states seen in live executions. The search tries them first. */
  readonly ways?: WaysToLife | undefined
}

/** A walk that looked for a live state met a violation, which must be reported in any case. */
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
  /** The state after this step is the first dead one; 0 is the initial state. */
  readonly step: number
  /** Number and length limit of the fresh walks from there that tested the answer, of which none recovered. */
  readonly walks: number
  readonly walkLength: number
  /** How many of these were walks of a healthy network, and how many took one conversation after the other. */
  readonly healthy: number
  readonly conversing: number
  /** Longer walks from there, of which none recovered either. */
  readonly longer: LongerWalks
  /** Whether no message was in flight for longer than in a usual network. */
  readonly isBound: boolean
  /** Whether only faults are enabled there, so that no walk was needed. */
  readonly isTerminal: boolean
  /** What the search for a way back to a live state did; undefined if there was none. */
  readonly searched: LifeSearch | undefined
  /** The most steps that any observed recovery took. */
  readonly slowest: number
  /** The live execution with the longest common prefix. It leaves the other one just before the critical transition. */
  readonly closestLive: readonly string[] | undefined
}

/** Walks longer than the many walks behind an answer. */
export interface LongerWalks {
  readonly walks: number
  /** How many of these were walks of a healthy network. */
  readonly healthy: number
  /** Length of the longest one, in steps. */
  readonly longest: number
}

/**
 * Finds the step after which recovery is impossible (MaceMC, algorithm 3), in an execution that does not end live.
 *
 * It tries states after the last live one at doubling distances until all walks from one fail to recover, and then
 * bisects. A state that recovered proves itself and all states before it recoverable. A state that did not is believed
 * dead after a few walks. Before the answer is given, it is tested with the full number of fresh walks, and with walks
 * of doubling length until their second half meets no new state.
 *
 * In the paper, walks end where the execution ended, so a death in its second half was doubtful (C2). Here walks have
 * their whole length wherever they start. What is doubtful instead is a death from which no walk of this length ever
 * escaped: walks may be too short for this system. So C1 requires a walk that did recover, from just before.
 *
 * Throws `Diverged` if the execution does not repeat, and `ViolationMet`.
 */
export const findCriticalTransition = (
  cells: Cells,
  schedule: readonly string[],
  options: CriticalOptions,
): Promise<Critical> => new CriticalSearch(cells, schedule, options).find()

/**
 * The same for an execution that is expected to end with its critical transition, as after shrinking. Only that step is
 * tested. The full search is done if the expectation turns out to be wrong.
 */
export const confirmCriticalTransition = (
  cells: Cells,
  schedule: readonly string[],
  options: CriticalOptions,
): Promise<Critical> => new CriticalSearch(cells, schedule, options).confirm()

/** An answer that rests on at least this many walks is also tested with longer ones. */
const walksWithLonger = 20
/**
 * The longest walks are this many times longer; and if walks turn out to be too short, all become this many times
 * longer.
 */
const longFactor = 8
/**
 * Minimum length of the walks of a healthy network, because some systems need thousands of steps to recover. If this were
 * larger, each death would cost seconds.
 */
const longestMin = 3_000
/**
 * Choosers of the longer walks, one walk each. With more, a death in which new states appear for ever, for example with
 * growing terms, would cost more than all other walks together. Walks of a healthy network come last, with the greatest
 * length.
 */
const longerChoosers = ['fair', 'fair swarm'] as const
/** One for each assumption about which nodes reset their timers: see `healthySeed`. */
const longHealthyWalks = 2
/** The least number of steps of each. */
const healthyMin = 1_000
/**
 * Walks are at least this many times longer than the slowest recovery seen. A walk that could recover but is too short
 * is no evidence.
 */
const recoveryFactor = 2

/** A search for a way back to a live state may take this share of the walks' steps, and at least this many. */
const searchShare = 1 / 4
const searchStepsMin = 1_000

/** The evidence for an answer. */
type Evidence = Pick<Critical, 'walks' | 'healthy' | 'conversing' | 'longer' | 'isBound' | 'isTerminal' | 'searched'>
const noLonger: LongerWalks = { walks: 0, healthy: 0, longest: 0 }
const noEvidence: Evidence = {
  walks: 0,
  healthy: 0,
  conversing: 0,
  longer: noLonger,
  isBound: false,
  isTerminal: false,
  searched: undefined,
}

const evidenceOf = ({ failed, healthy, conversing, isBound, isTerminal }: Recovery): Evidence => ({
  ...noEvidence,
  ...{ walks: failed, healthy, conversing, isBound, isTerminal },
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
  /** The system can recover after this many steps. */
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

  /**
   * First sees whether the execution recovers from its end: most suspects of a correct system do. Because the way there may
   * be long, another cell searches on meanwhile.
   */
  async find(): Promise<Critical> {
    const { lastLive } = this.#options
    if (lastLive === undefined) {
      const { live, begin } = await this.#recoverFromEnd()
      return live ? this.#answer('transient') : this.#findFrom(begin.lastLive)
    }
    // The second may have begun although its answer is not needed, so each draws and learns for itself.
    const begun: ((search: CriticalSearch) => Promise<Critical | undefined>)[] = [
      async search => ((await search.#recoverFromEnd()).live ? search.#answer('transient') : undefined),
      search => search.#findFrom(lastLive ?? undefined),
    ]
    const { random, scouts } = this.#options
    const items = begun.map(find => ({ find, own: { random: random.fork(), scouts: scouts.copy() } }))
    const answers = this.#cells.inOrder(
      () => items.shift(),
      ({ find, own }, cells) => find(new CriticalSearch(cells, this.#schedule, { ...this.#options, ...own })),
    )
    for await (const [{ own }, answer] of answers) {
      if (!answer) continue
      scouts.adopt(own.scouts)
      return answer
    }
    throw new Error('the second search always has an answer')
  }

  #recoverFromEnd(): Promise<Recovery> {
    return this.#recover(this.#schedule.length, 1, this.#options.suspectLength ?? this.#walkLength)
  }

  async #findFrom(lastLive: number | undefined): Promise<Critical> {
    return (await this.#findRecoverable(lastLive)) ?? this.#findDead()
  }

  async confirm(): Promise<Critical> {
    const end = this.#schedule.length
    if (end === 0 || !(await this.#recovers(end - 1))) return this.find()
    const { live, isTerminal } = await this.#test(end)
    if (live) return this.#answer('transient')
    return isTerminal || (await this.#isCertain()) ? this.#answer('C1') : this.find()
  }

  /** Finds a recoverable state to start from: the last live one, or else the initial state. */
  async #findRecoverable(lastLive: number | undefined): Promise<Critical | undefined> {
    if (lastLive !== undefined) {
      this.#recoverable = lastLive
      this.#closestLive = this.#schedule.slice(0, lastLive)
      return undefined
    }
    for (;;) {
      const few = await this.#recover(0, this.#options.scouts.count, this.#walkLength)
      const tried = few.isTerminal ? await this.#recoverByAll(0) : few
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

  /** Makes walks longer after they were too short to tell. @returns false if they have their greatest length already */
  #lengthenWalks(): boolean {
    const { walkLengthMax } = this.#options
    if (this.#walkLength === walkLengthMax) return false
    this.#walkLength = Math.min(longFactor * this.#walkLength, walkLengthMax)
    return true
  }

  /** Goes on at doubling distances to a state that is believed dead. */
  async #gallop(): Promise<number> {
    for (let distance = 1; ; distance *= 2) {
      const step = Math.min(this.#recoverable + distance, this.#schedule.length)
      if (!(await this.#recovers(step)) || step === this.#schedule.length) return step
    }
  }

  /** Bisects to the first state that is believed dead. */
  async #narrow(upper: number): Promise<number> {
    let dead = upper
    while (dead - this.#recoverable > 1) {
      const middle = Math.floor((dead + this.#recoverable) / 2)
      if (!(await this.#recovers(middle))) dead = middle
    }
    return dead
  }

  /** Tests the answer with fresh walks, with longer ones, and by a search for a way back to a live state. */
  async #test(dead: number): Promise<Pick<Recovery, 'live' | 'isTerminal'>> {
    const { walks, isFinal } = this.#options
    const tested = await this.#recoverByAll(dead)
    this.#evidence = evidenceOf(tested)
    if (tested.live || tested.isTerminal || walks < walksWithLonger) return tested
    const live = await this.#liveByLonger(dead)
    if (live || !isFinal) return { live, isTerminal: false }
    return this.#searchLife(dead, searchShare * tested.effort)
  }

  /**
   * Longer walks, each until it meets no new state in its second half at a doubling of its length: it would meet none
   * later either. If new states keep appearing, a walk ends at a maximum length. Then walks of a healthy network, in which
   * whatever recovers in practice recovers. They have more steps in any case, because a service may count heartbeats,
   * of which no state shows anything.
   */
  async #liveByLonger(dead: number): Promise<Recovery['live']> {
    const { walkLengthMax, suspectLength = 0 } = this.#options
    const longer = Math.max(longFactor * this.#walkLength, suspectLength)
    const some = { choosers: longerChoosers, settlesFrom: 2 * this.#walkLength }
    const { live } = await this.#tryLonger(dead, longerChoosers.length, Math.min(longer, walkLengthMax), some)
    if (live) return live
    const longest = Math.min(Math.max(longer, longestMin), walkLengthMax)
    const healthy = { choosers: ['healthy'], settlesFrom: healthyMin } as const
    return (await this.#tryLonger(dead, longHealthyWalks, longest, healthy)).live
  }

  /** Tries all walks from a state, some of them on new processes if the answer is final. */
  async #recoverByAll(step: number): Promise<Recovery> {
    const { walks, isFinal } = this.#options
    if (!isFinal) return this.#recover(step, walks, this.#walkLength)
    const tried = await this.#recover(step, walks, this.#walkLength, { onNewProcesses: walksOnNewProcesses })
    // The first walk that finds nothing enabled ends all, and it began in place.
    const hasEndedAtOnce = tried.isTerminal && tried.failed === 0
    return hasEndedAtOnce ? this.#recover(step, 1, this.#walkLength, { onNewProcesses: 1, first: [] }) : tried
  }

  async #tryLonger(
    dead: number,
    walks: number,
    length: number,
    how: Pick<RecoveryOptions, 'choosers' | 'settlesFrom'>,
  ): Promise<Recovery> {
    const tried = await this.#recover(dead, walks, length, { ...how, first: [] })
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
   * Whether the failed walks are evidence: the state before recovers, and within the length of these walks. If it needs
   * more steps, walks are made longer from then on, and the test must be repeated.
   */
  async #isCertain(): Promise<boolean> {
    const length = this.#walkLength
    return this.#evidence.walks > 0 && (await this.#livesAgain()) && this.#walkLength === length
  }

  /** Whether a walk from just before the critical transition reaches a live state with further steps. */
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
    others: Pick<RecoveryOptions, 'stepsMin' | 'settlesFrom' | 'choosers' | 'first' | 'onNewProcesses'> = {},
  ): Promise<Recovery> {
    const schedule = this.#schedule.slice(0, step)
    const first = this.#options.scouts.walks
    const recovery = await recover(this.#cells, schedule, { ...this.#options, walks, walkLength, first, ...others })
    if (recovery.met) throw new ViolationMet(recovery.met)
    const { walk, by, again } = recovery
    if (walk) this.#options.scouts.learn(walk)
    // Two walks are tried in any case. A walk by which the third or a later attempt recovered is tried first from now
    // on.
    if (walk && walk > 2 && by?.chooser === 'conversations') this.#options.scouts.follow(by)
    // A random walk would not go the same way from another state, so its steps are repeated, if scouts are too few to
    // recover by chance.
    else if (again && (others.choosers ?? (walk && walk > scoutsMax))) this.#options.scouts.follow(again)
    if (recovery.live) this.#livesFrom(step, recovery.live)
    return recovery
  }

  /** Notes a live execution that continues from after this step. */
  #livesFrom(step: number, live: readonly string[]): void {
    this.#recoverable = step
    this.#closestLive = live
    // If one walk needs this many steps, the failure of another of about the same length is no evidence of death.
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
