import type { Executor } from './executor.ts'
import { type Recovery, type RecoveryOptions, recover } from './recovery.ts'
import { follow } from './schedule.ts'
import { walk } from './walk.ts'
import { weighted, withoutFaults } from './weights.ts'

export interface CriticalOptions extends RecoveryOptions {
  /** `walkLength` doubles up to this where walks turn out to be too short to tell. */
  readonly walkLengthMax: number
}

/**
 * `C1`: dead from the critical transition on. `C2`: the walks are too short to tell, even at their greatest length.
 * `transient`: the execution recovers from its end, so it violates nothing.
 */
export interface Critical {
  readonly case: 'C1' | 'C2' | 'transient'
  /** The first dead state is the one after this step; 0 is the initial state. */
  readonly step: number
  /** Walks that started from there in the last test, of which none recovered; and the steps of each at most. */
  readonly walks: number
  readonly walkLength: number
  /** The execution examined: the one given, continued where that was needed to tell. */
  readonly schedule: readonly string[]
  /** A live execution with the longest prefix in common: it leaves the other just before the critical transition. */
  readonly closestLive: readonly string[] | undefined
}

/**
 * Finds the step after which recovery is impossible (MaceMC, algorithm 3), in an execution that is not live at its end.
 *
 * States after the last live one are tried at doubling distance until the walks from one all fail to recover, then by
 * halving. A state that recovered is proven, and with it all before it. One that did not is believed dead after a third
 * of the walks, and the answer is tested again with the full number of fresh ones before it is given.
 *
 * Throws `Diverged` where the execution does not repeat.
 */
export const findCriticalTransition = <State>(
  executor: Executor<State>,
  schedule: readonly string[],
  options: CriticalOptions,
): Promise<Critical> => new CriticalSearch(executor, schedule, options).find()

class CriticalSearch<State> {
  readonly #executor: Executor<State>
  readonly #options: CriticalOptions
  readonly #scouts: number
  #schedule: readonly string[]
  #walkLength: number
  /** Nothing is enabled at the end of the schedule: it is dead for certain. */
  #terminal = false
  /** After this many steps the system can recover. */
  #recoverable = 0
  #closestLive: readonly string[] | undefined

  constructor(executor: Executor<State>, schedule: readonly string[], options: CriticalOptions) {
    this.#executor = executor
    this.#options = options
    this.#scouts = Math.ceil(options.walks / 3)
    this.#schedule = schedule
    this.#walkLength = Math.min(options.walkLength, options.walkLengthMax)
  }

  async find(): Promise<Critical> {
    // An execution that recovers from its end is told apart first: it is the common case in a correct system.
    if (await this.#recovers(this.#schedule.length, this.#scouts)) return this.#answer('transient')
    return (await this.#findRecoverable()) ?? (await this.#findDead())
  }

  /** Finds a state to start from: the last live one, or else the initial state. */
  async #findRecoverable(): Promise<Critical | undefined> {
    const lastLive = await this.#examine()
    if (lastLive !== undefined) {
      this.#recoverable = lastLive
      this.#closestLive = this.#schedule.slice(0, lastLive)
      return undefined
    }
    for (;;) {
      const { live, terminal } = await this.#recover(0, this.#options.walks)
      if (live) return undefined
      if (terminal === this.#options.walks) return this.#answer('C1', 0)
      if (!this.#lengthen()) return this.#answer('C2', 0)
    }
  }

  async #findDead(): Promise<Critical> {
    for (;;) {
      let dead = await this.#gallop()
      if (typeof dead !== 'number') return dead
      while (dead - this.#recoverable > 1) {
        const middle = Math.floor((dead + this.#recoverable) / 2)
        if (!(await this.#recovers(middle, this.#scouts))) dead = middle
      }
      if (!(await this.#recovers(dead, this.#options.walks))) return this.#answer('C1', dead)
    }
  }

  /** Goes on at doubling distance to a state that is believed dead. */
  async #gallop(): Promise<number | Critical> {
    for (let distance = 1; ; distance *= 2) {
      if (this.#recoverable === this.#schedule.length) return this.#answer('transient')
      if (this.#recoverable >= this.#bound()) {
        if (!this.#lengthen()) return this.#answer('C2', this.#recoverable + 1)
        if (await this.#prolong()) return this.#answer('transient')
      }
      const step = Math.min(this.#recoverable + distance, this.#bound())
      if (!(await this.#recovers(step, this.#scouts))) return step
    }
  }

  // What dies only in its second half did not have as long to recover as it had to die.
  #bound(): number {
    return this.#terminal ? this.#schedule.length : Math.floor(this.#schedule.length / 2)
  }

  #lengthen(): boolean {
    if (this.#walkLength * 2 > this.#options.walkLengthMax) return false
    this.#walkLength *= 2
    return true
  }

  /** Walks on from the end of the schedule until it is twice as long; tells whether that found a live state. */
  async #prolong(): Promise<boolean> {
    await this.#examine()
    const { property, random, weights } = this.#options
    const policy = weighted(random.fork(), withoutFaults(weights))
    const end = await walk(this.#executor, policy, this.#schedule.length, () => this.#executor.isLive(property))
    this.#terminal = end === 'terminal' && !this.#executor.broken
    this.#schedule = this.#executor.labels()
    if (end === 'goal') this.#closestLive = this.#schedule
    return end === 'goal'
  }

  /** Executes the schedule again, and gives the last step after which it was live. */
  async #examine(): Promise<number | undefined> {
    await this.#executor.reset()
    await follow(this.#executor, this.#schedule)
    const policy = weighted(this.#options.random.fork(), withoutFaults(this.#options.weights))
    this.#terminal = !this.#executor.broken && policy(this.#executor.enabled()) === undefined
    return this.#executor.lastLive.get(this.#options.property)
  }

  async #recovers(step: number, walks: number): Promise<boolean> {
    const { live } = await this.#recover(step, walks)
    return live !== undefined
  }

  async #recover(step: number, walks: number): Promise<Recovery> {
    const schedule = this.#schedule.slice(0, step)
    const recovery = await recover(this.#executor, schedule, { ...this.#options, walks, walkLength: this.#walkLength })
    if (recovery.live) {
      this.#recoverable = step
      this.#closestLive = recovery.live
    }
    return recovery
  }

  #answer(kind: Critical['case'], step = this.#schedule.length): Critical {
    return {
      case: kind,
      step,
      walks: this.#options.walks,
      walkLength: this.#walkLength,
      schedule: this.#schedule,
      closestLive: this.#closestLive,
    }
  }
}
