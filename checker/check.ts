import { BoundedSearch } from './bounded.ts'
import { Budget, BudgetSpent } from './budget.ts'
import { findCriticalTransition } from './critical.ts'
import { Diverged, UsageError } from './errors.ts'
import { Executor, type Observer, type Properties, type Violation } from './executor.ts'
import { Random } from './random.ts'
import { follow } from './schedule.ts'
import { shrink } from './shrink.ts'
import type { System } from './system.ts'
import type { Verdict } from './verdict.ts'
import { walk } from './walk.ts'
import { defaultWeights, straight, swarm, type Weights, weighted, withoutFaults } from './weights.ts'

export const searches = ['auto', 'bounded', 'walk'] as const
export type Search = (typeof searches)[number]

export interface CheckOptions<State> {
  readonly search?: Search | undefined
  /** Wall-clock time for the search in milliseconds; shrinking what it finds has as much again, at least a minute. */
  readonly milliseconds?: number | undefined
  readonly executions?: number | undefined
  /** Of the bounded search. */
  readonly depth?: number | undefined
  /** Of walks; by itself eight times the longest way to a live state that was seen, and never below 500. */
  readonly walkLength?: number | undefined
  readonly seed?: number | undefined
  /** Checks this property alone. */
  readonly property?: string | undefined
  /** A schedule to begin each execution with: prefix search. */
  readonly from?: readonly string[] | undefined
  readonly weights?: Partial<Weights> | undefined
  /** Walks behind a critical transition. */
  readonly walks?: number | undefined
  readonly signal?: AbortSignal | undefined
  readonly observer?: Observer<State> | undefined
  readonly onProgress?: ((progress: Progress) => void) | undefined
}

export interface Progress {
  readonly phase: 'searching' | 'repeating' | 'shrinking' | 'finding the critical transition'
  readonly executions: number
  readonly steps: number
  readonly states: number
  readonly depth: number
}

const walkLengthMin = 500
const walkLengthFactor = 8
/** A walk that looks for safety violations alone goes on for so many times the steps to a live state. */
const surprisesMin = 40
const analysisMsMin = 60_000
const criticalWalks = 60

/** Explores a system until a property is violated or the budget is spent. Throws `UsageError` for wrong options. */
export const check = async <State>(
  system: System<State>,
  properties: Properties<State>,
  options: CheckOptions<State> = {},
): Promise<Verdict> => new Check(system, chosen(properties, options.property), options).run()

const chosen = <State>(properties: Properties<State>, name: string | undefined): Properties<State> => {
  if (name === undefined) return properties
  const property = properties[name]
  if (property) return { [name]: property }
  const known = Object.keys(properties).join(', ') || 'none'
  throw new UsageError(`no property "${name}": there are ${known}`)
}

/** What an execution came to that may be a violation. */
type Suspicion =
  | { readonly kind: 'violation'; readonly violation: Violation }
  | { readonly kind: 'liveness'; readonly property: string; readonly lastLive: number }

type Found = Pick<
  Verdict,
  'verdict' | 'property' | 'kind' | 'schedule' | 'criticalTransition' | 'repeated' | 'message' | 'closestLive'
>

class Check<State> {
  readonly #options: CheckOptions<State>
  readonly #executor: Executor<State>
  readonly #random: Random
  readonly #weights: Weights
  readonly #begun = performance.now()
  readonly #notRepeated: string[] = []
  readonly #bounded: BoundedSearch<State>
  #stepsToLive = 0
  #undetermined: Found | undefined

  constructor(system: System<State>, properties: Properties<State>, options: CheckOptions<State>) {
    this.#options = options
    this.#executor = new Executor(system, properties, { observer: options.observer })
    this.#random = new Random(options.seed ?? 1)
    this.#weights = { ...defaultWeights, ...options.weights }
    this.#bounded = new BoundedSearch(this.#executor, {
      start: () => this.#start(),
      depthMax: options.depth ?? Number.POSITIVE_INFINITY,
    })
  }

  async run(): Promise<Verdict> {
    const { executions, milliseconds, signal } = this.#options
    const budget = new Budget({ executions, milliseconds, signal })
    let found: Found | undefined
    try {
      found = await this.#executor.within(budget, () => this.#search())
    } catch (error) {
      if (!(error instanceof BudgetSpent)) throw error
    } finally {
      this.#executor.end()
    }
    return this.#verdict(found ?? this.#undetermined ?? this.#held())
  }

  /** One execution after another, until one is a violation or none is left. */
  async #search(): Promise<Found | undefined> {
    const search = this.#options.search ?? 'auto'
    for (let index = 0; ; index++) {
      this.#report('searching')
      const isOver = await this.#explore(search, index)
      const suspicion = this.#suspicion()
      const found = suspicion && (await this.#examine(suspicion))
      if (found?.verdict === 'violated') return found
      this.#undetermined ??= found
      if (isOver) return undefined
    }
  }

  /** Executes once; true when nothing is left to explore. */
  async #explore(search: Search, index: number): Promise<boolean> {
    // The way that systems are built for, first: it tells how far away a live state is.
    if (search !== 'bounded' && index === 0) {
      await this.#start()
      await this.#tail(straight(this.#random, withoutFaults(this.#weights)))
      return false
    }
    if (search === 'bounded' || (search === 'auto' && index % 2 === 1)) {
      const arrival = await this.#bounded.next()
      if (arrival instanceof Diverged) this.#notRepeated.push(arrival.message)
      else if (arrival !== undefined && arrival !== 'violation') await this.#beyond()
      return arrival === undefined && search === 'bounded'
    }
    await this.#start()
    await this.#surprise()
    await this.#beyond()
    return false
  }

  /** A walk with faults and overlaps, of random length, with weights of its own. */
  async #surprise(): Promise<void> {
    const policy = weighted(this.#random, swarm(this.#random, this.#weights))
    const length = 1 + this.#random.below(Math.max(surprisesMin, 3 * this.#stepsToLive))
    await walk(this.#executor, policy, length, () => this.#isBroken())
  }

  /** After the periphery: where there are liveness properties, until the system is live again (MaceMC, algorithm 2). */
  async #beyond(): Promise<void> {
    if (this.#executor.liveness.length > 0) await this.#tail(weighted(this.#random, withoutFaults(this.#weights)))
  }

  async #tail(policy: ReturnType<typeof weighted>): Promise<void> {
    const executor = this.#executor
    const from = executor.schedule.length
    const isLive = (name: string) => (executor.lastLive.get(name) ?? -1) >= from
    const end = await walk(
      executor,
      policy,
      this.#walkLength(),
      () => this.#isBroken() || executor.liveness.every(isLive),
    )
    if (end === 'goal' && !this.#isBroken())
      this.#stepsToLive = Math.max(this.#stepsToLive, executor.schedule.length - from)
    this.#tailFrom = from
  }

  /** Where the last tail began. */
  #tailFrom = 0

  #isBroken(): boolean {
    return this.#executor.violation !== undefined || this.#executor.broken
  }

  #walkLength(): number {
    return this.#options.walkLength ?? Math.max(walkLengthMin, walkLengthFactor * this.#stepsToLive)
  }

  async #start(): Promise<void> {
    await this.#executor.reset()
    if (this.#options.from) await follow(this.#executor, this.#options.from)
    this.#tailFrom = this.#executor.schedule.length
  }

  #suspicion(): Suspicion | undefined {
    const { violation, broken, liveness, lastLive, schedule } = this.#executor
    if (violation) return { kind: 'violation', violation }
    if (broken || (schedule.length === this.#tailFrom && this.#executor.enabled().length > 0)) return undefined
    const starved = liveness.find(name => (lastLive.get(name) ?? -1) < this.#tailFrom)
    return starved === undefined
      ? undefined
      : { kind: 'liveness', property: starved, lastLive: lastLive.get(starved) ?? 0 }
  }

  /** Executes a suspicion again, with a budget of its own. */
  async #examine(suspicion: Suspicion): Promise<Found | undefined> {
    const milliseconds = Math.max(analysisMsMin, this.#options.milliseconds ?? 0)
    const budget = new Budget({ milliseconds, signal: this.#options.signal })
    return this.#executor.within(budget, () =>
      suspicion.kind === 'violation' ? this.#examineViolation(suspicion.violation) : this.#examineLiveness(suspicion),
    )
  }

  async #examineViolation(violation: Violation): Promise<Found | undefined> {
    const schedule = [...this.#executor.schedule]
    const labels = schedule.map(choice => choice.label)
    this.#report('repeating')
    if (!(await this.#repeats(labels, violation))) return undefined
    this.#report('shrinking')
    const shrunk = await shrink(this.#executor, schedule, violation)
    const isShortRepeated = await this.#repeats(shrunk.schedule, violation).catch(rethrowUnlessSpent)
    return {
      verdict: 'violated',
      property: violation.property ?? null,
      kind: violation.kind,
      schedule: isShortRepeated ? shrunk.schedule : labels,
      criticalTransition: null,
      repeated: true,
      message: violation.message,
      closestLive: null,
    }
  }

  /** Whether the same schedule violates the same again; else it is noted. */
  async #repeats(labels: readonly string[], violation: Violation): Promise<boolean> {
    await this.#executor.reset()
    try {
      await follow(this.#executor, labels)
    } catch (error) {
      if (!(error instanceof Diverged)) throw error
      this.#notRepeated.push(`${violation.message}; executed again, it ${error.message}`)
      return false
    }
    const again = this.#executor.violation
    const isSame = again?.kind === violation.kind && again.property === violation.property
    if (!isSame) this.#notRepeated.push(`${violation.message}; executed again, it did not`)
    return isSame
  }

  async #examineLiveness({ property, lastLive }: Extract<Suspicion, { kind: 'liveness' }>): Promise<Found | undefined> {
    const labels = this.#executor.labels()
    this.#report('finding the critical transition')
    try {
      const search = await findCriticalTransition(this.#executor, {
        property,
        schedule: labels,
        lastLive,
        walkLength: this.#walkLength(),
        walks: this.#options.walks ?? criticalWalks,
        random: this.#random,
        weights: this.#weights,
      })
      if (search === undefined) return undefined
      const { critical, closestLive } = search
      const isDead = critical.case === 'C1'
      return {
        verdict: isDead ? 'violated' : 'undetermined',
        property,
        kind: 'liveness',
        schedule: labels.slice(0, critical.step),
        criticalTransition: critical,
        repeated: true,
        message: isDead
          ? `${property} can never hold again after step ${critical.step} (${critical.label}): none of ${critical.walks} walks of up to ${this.#walkLength()} steps came to a live state`
          : `${property} did not come to hold, and the walks were too short to tell why (case C2)`,
        closestLive: closestLive ?? null,
      }
    } catch (error) {
      if (!(error instanceof Diverged)) throw error
      this.#notRepeated.push(`${property} did not come to hold; executed again, it ${error.message}`)
      return undefined
    }
  }

  #held(): Found {
    const { executions } = this.#executor.counts
    const nothing = {
      property: null,
      kind: null,
      schedule: [],
      criticalTransition: null,
      repeated: false,
      closestLive: null,
    }
    if (executions === 0 || (this.#executor.counts.steps === 0 && this.#executor.enabled().length > 0))
      return { ...nothing, verdict: 'undetermined', message: 'the budget was spent before one execution was done' }
    if (this.#notRepeated.length > 0)
      return {
        ...nothing,
        verdict: 'undetermined',
        message: `something was found that did not repeat: ${this.#notRepeated[0]}`,
      }
    return { ...nothing, verdict: 'held', message: 'no violation was found within the budget' }
  }

  #verdict(found: Found): Verdict {
    const { executions, steps, states } = this.#executor.counts
    const seconds = (performance.now() - this.#begun) / 1000
    return {
      ...found,
      executions,
      steps,
      states,
      seconds: Number(seconds.toFixed(3)),
      stepsPerSecond: Math.round(steps / seconds),
      depth: this.#bounded.depth,
      seed: this.#options.seed ?? 1,
      pruned: this.#bounded.levels.reduce((sum, level) => sum + level.pruned, 0),
      stepsToLive: this.#stepsToLive,
      notRepeated: this.#notRepeated,
    }
  }

  #report(phase: Progress['phase']): void {
    const { executions, steps, states } = this.#executor.counts
    this.#options.onProgress?.({ phase, executions, steps, states, depth: this.#bounded.depth })
  }
}

const rethrowUnlessSpent = (error: unknown): false => {
  if (error instanceof BudgetSpent) return false
  throw error
}
