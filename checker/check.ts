import { Budget, BudgetSpent } from './budget.ts'
import { Diverged, Unfaithful, UsageError } from './errors.ts'
import { Examination, type Found } from './examine.ts'
import { Executor, type Observer, type Properties } from './executor.ts'
import { Exploration, walkLengthFactor, walkLengthMax } from './explore.ts'
import { type CheckOptions, type Progress, validate } from './options.ts'
import { Random } from './random.ts'
import { defaultWalks } from './recovery.ts'
import type { System } from './system.ts'
import { type Discovery, describeCoverage, type Verdict } from './verdict.ts'
import { defaultWeights } from './weights.ts'

export { type CheckOptions, type Progress, type Search, searches } from './options.ts'

const defaultMs = 60_000
/** Suspicions of one liveness property that are examined while none becomes certain: each is dear. */
const examinationsMax = 2

/**
 * Explores a system until a property is violated, nothing is left, or the budget is spent. The same seed on the same
 * system, with a budget of executions, gives the same verdict.
 *
 * Throws `UsageError` for wrong options and for a property that throws, and `Diverged` where the system does not offer
 * the schedule to begin `from`.
 */
export const check = async <State>(
  system: System<State>,
  properties: Properties<State>,
  options: CheckOptions<State> = {},
): Promise<Verdict> => {
  validate(options)
  return new Check(system, select(properties, options.property), options).run()
}

const select = <State>(properties: Properties<State>, name: string | undefined): Properties<State> => {
  if (name === undefined) return properties
  const property = properties[name]
  if (property) return { [name]: property }
  throw new UsageError(`no property "${name}": there are ${Object.keys(properties).join(', ') || 'none'}`)
}

type Discovered = Found & Pick<Verdict, 'discovery' | 'variant'>

class Check<State> {
  readonly #options: CheckOptions<State>
  readonly #executor: Executor<State>
  readonly #exploration: Exploration<State>
  readonly #examination: Examination<State>
  readonly #begun = performance.now()
  readonly #examinations = new Map<string, number>()
  #phase: Progress['phase'] = 'searching'
  #transient = 0
  #unfaithful = 0
  #undetermined: Discovered | undefined
  #ended: BudgetSpent | undefined

  constructor(system: System<State>, properties: Properties<State>, options: CheckOptions<State>) {
    const random = new Random(options.seed ?? 1)
    const weights = { ...defaultWeights, ...options.weights }
    const { walkLength, signal, allowFindings } = options
    this.#options = options
    this.#executor = new Executor(system, properties, { observer: this.#observe(), allowFindings })
    this.#exploration = new Exploration(this.#executor, {
      search: options.search ?? 'auto',
      depthMax: options.depth ?? Number.POSITIVE_INFINITY,
      from: options.from ?? [],
      walkLength,
      weights,
      random: random.fork(),
    })
    this.#examination = new Examination(this.#executor, {
      walks: options.walks ?? defaultWalks,
      walkLengthMax: walkLength === undefined ? walkLengthMax : walkLengthFactor * walkLength,
      weights,
      random: random.fork(),
      signal,
      onPhase: phase => {
        this.#phase = phase
      },
    })
  }

  async run(): Promise<Verdict> {
    const { executions, depth, signal } = this.#options
    const isLimited = executions !== undefined || depth !== undefined
    const milliseconds = this.#options.milliseconds ?? (isLimited ? undefined : defaultMs)
    let violated: Discovered | undefined
    try {
      const budget = new Budget({ executions, milliseconds, signal })
      violated = await this.#executor.within(budget, () => this.#search())
    } catch (error) {
      if (!(error instanceof BudgetSpent)) throw error
      this.#ended = error
    } finally {
      this.#executor.end()
      await this.#exploration.bounded.end()
    }
    return this.#verdict(violated ?? this.#undetermined ?? this.#conclude())
  }

  /** One execution after another, until one is a violation or none is left. */
  async #search(): Promise<Discovered | undefined> {
    for (;;) {
      this.#phase = 'searching'
      if (!(await this.#explore())) return undefined
      const found = await this.#examine()
      if (found?.verdict === 'violated') return found
      this.#undetermined ??= found
    }
  }

  async #explore(): Promise<boolean> {
    try {
      return await this.#exploration.next()
    } catch (error) {
      if (error instanceof Unfaithful) {
        this.#unfaithful += 1
        return true
      }
      // A schedule that never could be executed is the caller's; one that could before shows a system that does not repeat.
      if (!(error instanceof Diverged) || this.#exploration.completed === 0) throw error
      this.#examination.notRepeated.push(`a schedule that had been executed before ${error.message}`)
      return true
    }
  }

  /** Looks again at what the last execution came to, if it may be a violation. */
  async #examine(): Promise<Discovered | undefined> {
    const { violation, variant } = this.#executor
    const { starved, walkLength, plan } = this.#exploration
    const discovery: Discovery = {
      by: plan,
      execution: this.#executor.counts.executions,
      steps: violation?.step ?? this.#executor.schedule.length,
      seconds: Number(this.#seconds().toFixed(3)),
    }
    // What is found is examined to the end, whatever is left of the budget of the search.
    const budget = new Budget({ signal: this.#options.signal })
    if (violation) {
      const found = await this.#executor.within(budget, () => this.#examination.examineViolation(violation))
      return found && { ...found, discovery, variant }
    }
    if (starved === undefined) return undefined
    const examinations = this.#examinations.get(starved) ?? 0
    if (examinations === examinationsMax) return undefined
    const found = await this.#examination.examineLiveness(starved, walkLength)
    if (found === 'transient') {
      this.#transient += 1
      return undefined
    }
    if (found === undefined) return undefined
    this.#examinations.set(starved, examinations + 1)
    return { ...found, discovery, variant }
  }

  /** What can be said where nothing was found. */
  #conclude(): Discovered {
    const [first] = this.#examination.notRepeated
    const nothing = {
      property: null,
      kind: null,
      schedule: [],
      criticalTransition: null,
      repeated: false,
      closestLive: null,
      discovery: null,
      variant: 0,
    }
    if (first !== undefined)
      return { ...nothing, verdict: 'undetermined', message: `what was found does not repeat: ${first}` }
    if (this.#exploration.completed === 0)
      return { ...nothing, verdict: 'undetermined', message: 'the budget was spent before one execution was done' }
    if (this.#ended?.what === 'aborted')
      return { ...nothing, verdict: 'undetermined', message: `interrupted; ${this.#covered()}` }
    return { ...nothing, verdict: 'held', message: this.#covered() }
  }

  #covered(): string {
    const { depth, exhausted } = this.#exploration.bounded
    return describeCoverage({ ...this.#executor.counts, depth, coverage: { exhausted, unfaithful: this.#unfaithful } })
  }

  #verdict(found: Discovered): Verdict {
    const { bounded, completed, walks, stepsToLive, walksToLive } = this.#exploration
    const { steps } = this.#executor.counts
    const seconds = this.#seconds()
    return {
      ...found,
      ...this.#executor.counts,
      seconds: Number(seconds.toFixed(3)),
      stepsPerSecond: Math.round(steps / seconds),
      depth: bounded.depth,
      seed: this.#options.seed ?? 1,
      coverage: {
        levels: bounded.levels,
        pruned: bounded.levels.reduce((sum, level) => sum + level.pruned, 0),
        exhausted: bounded.exhausted,
        completed,
        walks,
        stepsToLive,
        walksToLive,
        transient: this.#transient,
        unfaithful: this.#unfaithful,
      },
      notRepeated: this.#examination.notRepeated,
    }
  }

  #observe(): Observer<State> {
    const observer = this.#options.observer
    return {
      ...(observer && {
        onStep: (step, state) => observer.onStep?.(step, state),
        onEnd: () => observer.onEnd?.(),
      }),
      onReset: (findings, state) => {
        observer?.onReset?.(findings, state)
        this.#report()
      },
    }
  }

  #report(): void {
    const { bounded } = this.#exploration
    this.#options.onProgress?.({
      phase: this.#phase,
      ...this.#executor.counts,
      depth: bounded.depth,
      seconds: this.#seconds(),
    })
  }

  #seconds(): number {
    return (performance.now() - this.#begun) / 1000
  }
}
