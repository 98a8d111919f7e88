import { BudgetSpent } from './budget.ts'
import { type Cell, OwnCell } from './cell.ts'
import { Cells, type Counts } from './cells.ts'
import { Diverged, Unfaithful, UsageError } from './errors.ts'
import { Examination, type Found } from './examine.ts'
import { headline, type Properties } from './executor.ts'
import { Exploration, type Explored, walkLengthFactor, walkLengthMax } from './explore.ts'
import { type CheckOptions, type Progress, type SearchOptions, validate } from './options.ts'
import type { Property } from './property.ts'
import { Random } from './random.ts'
import { defaultWalks } from './recovery.ts'
import type { System } from './system.ts'
import { type Discovery, describeCoverage, describeUnfaithful, type Verdict } from './verdict.ts'

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
  const selected = select(properties, options.property)
  const { weights, allowFindings, observer } = options
  const cell = new OwnCell(system, selected, { weights, allowFindings, observer })
  try {
    return await checkInCells([cell], selected, options)
  } finally {
    await cell.end()
  }
}

/** The same with cells that each have such a system, and evaluate these properties. However many, the verdict is the same. */
export const checkInCells = async (
  cells: readonly Cell[],
  properties: Readonly<Record<string, Pick<Property<never>, 'kind'>>>,
  options: SearchOptions = {},
): Promise<Verdict> => {
  validate(options)
  const liveness = Object.keys(properties).filter(name => properties[name]!.kind === 'eventually')
  return new Check(cells, liveness, options).run()
}

/**
 * The properties, or one of them alone.
 *
 * @throws UsageError where there is none of this name
 */
export const select = <State>(properties: Properties<State>, name: string | undefined): Properties<State> => {
  if (name === undefined) return properties
  const property = properties[name]
  if (property) return { [name]: property }
  throw new UsageError(`no property "${name}": there are ${Object.keys(properties).join(', ') || 'none'}`)
}

type Discovered = Found & Pick<Verdict, 'discovery' | 'variant'>

/** Of executions that may do something else than before, once, without a doubt about the others. */
const divergedShareMax = 0.001

class Check {
  readonly #options: SearchOptions
  readonly #cells: Cells
  readonly #exploration: Exploration
  readonly #examination: Examination
  readonly #begun = performance.now()
  /** Of the search, in milliseconds. */
  readonly #time: number | undefined
  readonly #examinations = new Map<string, number>()
  #phase: Progress['phase'] = 'searching'
  #transient = 0
  #unfaithful = 0
  /** What was not done in the first of these. */
  #disturbance: string | undefined
  /** One line for each schedule that could be executed and, once, not again. */
  readonly #diverged: string[] = []
  #undetermined: Discovered | undefined
  #finding: string | undefined
  #ended: BudgetSpent | undefined

  constructor(cells: readonly Cell[], liveness: readonly string[], options: SearchOptions) {
    const random = new Random(options.seed ?? 1)
    const { walkLength, signal, executions, depth } = options
    const isLimited = executions !== undefined || depth !== undefined
    this.#options = options
    this.#time = options.milliseconds ?? (isLimited ? undefined : defaultMs)
    this.#cells = Cells.of(cells, counts => this.#report(counts))
    this.#exploration = new Exploration({
      search: options.search ?? 'auto',
      depthMax: options.depth,
      everyOrder: options.everyOrder,
      from: options.from ?? [],
      walkLength,
      liveness,
      random: random.fork(),
    })
    this.#examination = new Examination({
      walks: options.walks ?? defaultWalks,
      walkLengthMax: walkLength === undefined ? walkLengthMax : walkLengthFactor * walkLength,
      random: random.fork(),
      isTimed: this.#time !== undefined,
      signal,
      onPhase: phase => {
        this.#phase = phase
        this.#report(this.#cells.counts)
      },
    })
  }

  async run(): Promise<Verdict> {
    const { executions, signal } = this.#options
    let violated: Discovered | undefined
    try {
      violated = await this.#search(this.#cells.within({ executions, milliseconds: this.#time, signal }))
    } catch (error) {
      if (!(error instanceof BudgetSpent)) throw error
      this.#ended = error
    } finally {
      await this.#cells.whenIdle()
    }
    return this.#verdict(violated ?? this.#undetermined ?? this.#conclude())
  }

  /** One execution after another, until one is a violation or none is left. */
  async #search(cells: Cells): Promise<Discovered | undefined> {
    for await (const explored of this.#exploration.explore(cells)) {
      const found = explored instanceof Diverged ? this.#note(explored) : await this.#examine(explored)
      if (found?.verdict === 'violated') return found
      this.#undetermined ??= found
      this.#phase = 'searching'
    }
    return undefined
  }

  #note(error: Diverged): undefined {
    if (error instanceof Unfaithful) {
      this.#unfaithful += 1
      this.#disturbance ??= error.what
      return
    }
    // A schedule that never could be executed is the caller's; one that could before shows a system that does not repeat.
    if (this.#exploration.completed === 0) throw error
    this.#diverged.push(`a schedule that had been executed before ${error.message}`)
  }

  /** Looks again at what an execution came to, if it may be a violation. */
  async #examine(explored: Explored): Promise<Discovered | undefined> {
    const { plan, variant, outcome, starved } = explored
    const { violation, schedule } = outcome
    if (!violation && starved === undefined) return undefined
    this.#finding = violation ? headline(violation.message) : `${starved} in doubt after ${schedule.length} steps`
    const discovery: Discovery = {
      by: plan,
      execution: this.#cells.counts.executions,
      steps: violation?.step ?? schedule.length,
      seconds: Number(this.#seconds().toFixed(3)),
    }
    // What is found is examined to the end, whatever is left of the budget of the search.
    const found = await this.#cells.ofVariant(variant).alone(cells => this.#examineIn(cells, explored))
    return found && { ...found, discovery, variant }
  }

  async #examineIn(cells: Cells, { outcome, starved, walkLength }: Explored): Promise<Found | undefined> {
    const { violation, schedule } = outcome
    if (violation) {
      return this.#examination.examineViolation(cells, schedule.slice(0, violation.step), violation)
    }
    if (starved === undefined) return undefined
    const examinations = this.#examinations.get(starved) ?? 0
    if (examinations === examinationsMax) return undefined
    const { recoveryLength } = this.#exploration
    const found = await this.#examination.examineLiveness(cells, schedule, starved, { walkLength, recoveryLength })
    if (found === 'transient') {
      this.#transient += 1
      return undefined
    }
    if (found) this.#examinations.set(starved, examinations + 1)
    return found
  }

  /** What can be said where nothing was found. */
  #conclude(): Discovered {
    const [first] = this.#repeats() ? this.#examination.notRepeated : this.#notRepeated
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
    if (this.#exploration.completed === 0) return { ...nothing, verdict: 'undetermined', message: this.#nothingDone() }
    if (this.#ended?.what === 'aborted')
      return { ...nothing, verdict: 'undetermined', message: `interrupted; ${this.#covered()}` }
    return { ...nothing, verdict: 'held', message: this.#covered() }
  }

  /** Whether executions repeat but for some few, as on a machine that does much else: these say nothing of the rest. */
  #repeats(): boolean {
    return this.#diverged.length <= divergedShareMax * this.#exploration.completed
  }

  get #notRepeated(): string[] {
    return [...this.#examination.notRepeated, ...this.#diverged]
  }

  #nothingDone(): string {
    return `the budget was spent before one execution was done${describeUnfaithful(this.#unfaithful, this.#disturbance)}`
  }

  #covered(): string {
    const { depth, exhausted } = this.#exploration.bounded
    const coverage = { exhausted, unfaithful: this.#unfaithful, givenUp: this.#exploration.givenUp }
    return describeCoverage({ ...this.#cells.counts, depth, coverage, disturbance: this.#disturbance })
  }

  #verdict(found: Discovered): Verdict {
    const { bounded, completed, walks, stepsToLive, walksToLive } = this.#exploration
    const { steps } = this.#cells.counts
    const seconds = this.#seconds()
    return {
      ...found,
      ...this.#cells.counts,
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
        givenUp: this.#exploration.givenUp,
      },
      notRepeated: this.#notRepeated,
    }
  }

  #report(counts: Counts): void {
    const { depth } = this.#exploration.bounded
    const { liveShare } = this.#exploration
    const seconds = this.#seconds()
    this.#options.onProgress?.({ phase: this.#phase, ...counts, depth, seconds, liveShare, finding: this.#finding })
  }

  #seconds(): number {
    return (performance.now() - this.#begun) / 1000
  }
}
