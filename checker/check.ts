import { BudgetSpent } from './budget.ts'
import { type Cell, OwnCell } from './cells/cell.ts'
import { Cells, type Counts } from './cells/cells.ts'
import type { Properties } from './cells/executor.ts'
import { Reliance } from './cells/reliance.ts'
import { headline, type Violation } from './cells/violation.ts'
import { type Diverged, DoesNotStart, Unfaithful, UsageError } from './errors.ts'
import { labelsOf } from './labels.ts'
import type { Nodes } from './node-system.ts'
import { Random } from './random.ts'
import { walkLengthFactor, walkLengthMax } from './searches/experience.ts'
import { LocalSearch } from './searches/local/local.ts'
import { type CheckOptions, type Progress, type SearchOptions, validate } from './searches/options.ts'
import { type Explored, type Failed, Portfolio, type PortfolioOptions } from './searches/portfolio.ts'
import { labelsTo, type Start, startAfter, startAsOffered } from './start.ts'
import type { System } from './system.ts'
import { Examination, type Found } from './verdict/examine.ts'
import { noteStarved } from './verdict/notes.ts'
import { defaultWalks } from './verdict/recovery.ts'
import { Meetings } from './verdict/sights.ts'
import { slowMs } from './verdict/slow-network.ts'
import { type Discovery, describeCoverage, describeUnfaithful, type Unsteady, type Verdict } from './verdict/verdict.ts'

export { type CheckOptions, type Progress, type SearchKind, searches } from './searches/options.ts'

const defaultMs = 60_000
/** At most this many suspects per liveness property are examined while none is certain: each costs up to minutes. */
const examinationsMax = 2

/**
 * Explores a system until a property is violated, nothing is left, or the budget is spent. With a budget of executions,
 * the same seed on the same system gives the same verdict.
 *
 * Throws `UsageError` for wrong options and for a property that throws, and `Diverged` if the system does not enable
 * the labels of `from`.
 */
export const check = async <State>(
  system: System<State>,
  properties: Properties<State>,
  options: CheckOptions<State> = {},
): Promise<Verdict> => {
  const selected = select(properties, options.property)
  const { weights, allowFindings, observer, nodes } = options
  const cell = new OwnCell(system, selected, { weights, allowFindings, observer, nodes })
  try {
    return await checkInCells([cell], selected, options, nodes)
  } finally {
    await cell.end()
  }
}

/**
 * The same with cells that each have such a system and evaluate these properties. The verdict does not depend on their
 * number.
 *
 * @param nodes of such a system, needed for a local search
 */
export const checkInCells = async <State>(
  cells: readonly Cell[],
  properties: Properties<State>,
  options: SearchOptions = {},
  nodes?: Nodes<State>,
): Promise<Verdict> => {
  validate(options)
  const liveness = Object.keys(properties).filter(name => properties[name]!.kind === 'eventually')
  const localOf: PortfolioOptions['localOf'] =
    nodes && (experience => new LocalSearch(experience, { nodes, properties }))
  // A carried value depends on the path to a state and not on the state alone, so every order must be executed.
  const everyOrder = options.everyOrder || Object.values(properties).some(({ fold }) => fold !== undefined)
  return new Check(cells, liveness, { ...options, everyOrder }, localOf).run()
}

/**
 * All properties, or only the named one.
 *
 * @throws UsageError if there is none with this name
 */
export const select = <State>(properties: Properties<State>, name: string | undefined): Properties<State> => {
  if (name === undefined) return properties
  if (Object.hasOwn(properties, name)) return { [name]: properties[name]! }
  throw new UsageError(`no property "${name}": there are ${Object.keys(properties).join(', ') || 'none'}`)
}

type Discovered = Found & Pick<Verdict, 'discovery' | 'variant'>

/** Share of executions that may fail to repeat before the check is called unrepeatable. */
const divergedShareMax = 0.001
/** With fewer failures to repeat than this, even beyond that share, chance is not ruled out. */
const doubtsMax = 3
/** With more executions than this share cut short, the search does little but those. */
const cutShortShareMax = 0.05
/** Share of executions in which a property may stay undecided. With more, `held` would leave out the long histories. */
const undecidedShareMax = 0.01

/**
 * After a violation that needs a slow network, the search continues for this share of the executions that it took,
 * plus this many. With more, such a finding costs as much as the search for it; with fewer, users are told of networks
 * that they do not have.
 */
const deferredShare = 1 / 2
const deferredMin = 16

const needsSlowNetwork = ({ verdict, delayMs }: Found) => verdict === 'violated' && delayMs !== null && delayMs > slowMs

/** A crash before any choice was made. */
const isFailedStart = (violation: Violation | undefined): boolean => violation?.kind === 'crash' && violation.step === 0

class Check {
  readonly #options: SearchOptions
  readonly #cells: Cells
  readonly #newPortfolio: () => Portfolio
  /** Where every execution begins. */
  #begin: Start
  #portfolio: Portfolio
  readonly #examination: Examination
  readonly #begun = performance.now()
  /** Time for the search, in milliseconds. */
  readonly #time: number | undefined
  readonly #examinations = new Map<string, number>()
  readonly #meetings = new Meetings()
  #phase: Progress['phase'] = 'searching'
  #transient = 0
  /** One line for each thing that the check stopped relying on, with the reason. */
  readonly #changes: string[] = []
  /** Whether some of the steps to begin with were skipped. */
  #isShortened = false
  readonly #reliance: Reliance
  /** Whether the nodes came up in any execution. */
  #hasStarted = false
  #unfaithful = 0
  /** Reasons of executions that do not count because a turn was cut short, since the search last began. */
  readonly #cutShort: string[] = []
  /** Executions in which a property could not be decided, and the reason in the first of them. */
  #undecided = 0
  #firstUndecided: string | undefined
  /** Why the first execution that does not count does not. */
  #disturbance: string | undefined
  /** One line for each schedule that could be executed once, but not again. */
  readonly #diverged: string[] = []
  #unsteady: Unsteady | undefined
  #undetermined: Discovered | undefined
  /** A violation that needs a slow network. */
  #deferred: Discovered | undefined
  /** The number of executions at which the search ends unless it finds a violation without a slow network first. */
  #deferredUntil = 0
  #finding: string | undefined
  #ended: BudgetSpent | undefined

  constructor(
    cells: readonly Cell[],
    liveness: readonly string[],
    options: SearchOptions,
    localOf: PortfolioOptions['localOf'],
  ) {
    const random = new Random(options.seed ?? 1)
    const { walkLength, signal, executions, depth, search = 'auto' } = options
    // The bounded search ends by itself at a depth; walks never end by themselves.
    const isLimited =
      executions !== undefined || (depth !== undefined && (search === 'bounded' || search === 'consequence'))
    this.#options = options
    this.#time = options.milliseconds ?? (isLimited ? undefined : defaultMs)
    this.#cells = Cells.of(cells, counts => this.#report(counts))
    this.#reliance = new Reliance(this.#cells)
    const searchSeed = random.seed()
    this.#begin = startAfter(options.from ?? [])
    this.#newPortfolio = () =>
      new Portfolio({
        search,
        isLimited: executions !== undefined || this.#time !== undefined,
        depthMax: options.depth,
        everyOrder: options.everyOrder,
        begin: this.#begin,
        walkLength,
        liveness,
        random: new Random(searchSeed),
        localOf,
      })
    this.#portfolio = this.#newPortfolio()
    this.#examination = new Examination({
      walks: options.walks ?? defaultWalks,
      walkLengthMax: walkLength === undefined ? walkLengthMax : walkLengthFactor * walkLength,
      random: random.fork(),
      isTimed: this.#time !== undefined,
      ways: this.#portfolio.experience.ways,
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
    return this.#verdict(violated ?? this.#deferred ?? this.#undetermined ?? this.#conclude())
  }

  /** Takes one execution after another, until one has a violation or none is left. */
  async #search(cells: Cells): Promise<Discovered | undefined> {
    for await (const explored of this.#portfolio.explore(cells)) {
      if ('error' in explored && this.#cannotBegin(explored)) {
        await this.#beginAsFarAsOffered(cells, explored.error)
        return this.#search(cells)
      }
      const found = 'error' in explored ? this.#note(explored) : await this.#examine(explored)
      if (found && needsSlowNetwork(found)) this.#defer(found)
      else if (found?.verdict === 'violated') return found
      else this.#undetermined ??= found
      this.#phase = 'searching'
      if (this.#isInDoubt()) return (await this.#relyOnLess()) ? this.#search(cells) : this.#deferred
      if (this.#areCutShort() && (await this.#lengthenTurns())) return this.#search(cells)
      if (this.#deferred && this.#cells.counts.executions >= this.#deferredUntil) break
    }
    return this.#deferred
  }

  /**
   * Whether the steps to begin with cannot be executed, because they were recorded with another service or another
   * version.
   */
  #cannotBegin({ error }: Failed): boolean {
    if (error instanceof Unfaithful) return false
    return (
      this.#begin.at !== 'initial' &&
      this.#portfolio.experience.completed === 0 &&
      !this.#reliance.isLess &&
      !this.#isShortened
    )
  }

  /** Skips those of the steps to begin with that are not enabled in their turn. @throws Diverged if none is enabled */
  async #beginAsFarAsOffered(cells: Cells, error: Diverged): Promise<void> {
    const from = labelsTo(this.#begin)
    const { schedule } = await cells.run({ start: startAsOffered(from) })
    if (schedule.length === 0) throw error
    this.#isShortened = true
    const leftOut = from.length - schedule.length
    this.#changes.push(
      `the steps to begin with are not all enabled any more, from step ${error.step} ("${error.expected}") on: ${leftOut} of ${from.length} were skipped`,
    )
    this.#begin = startAfter(labelsOf(schedule))
    this.#portfolio = this.#newPortfolio()
  }

  /** Keeps a violation that needs a slow network, while the search goes on for one that a usual network has too. */
  #defer(found: Discovered): void {
    if (this.#deferred && this.#deferred.delayMs! <= found.delayMs!) return
    this.#deferredUntil ||= this.#cells.counts.executions + deferredShare * found.discovery!.execution + deferredMin
    this.#deferred = found
  }

  #note({ execution, error }: Failed): undefined {
    if (error instanceof Unfaithful) {
      this.#unfaithful += 1
      this.#disturbance ??= error.what
      if (error.isCutShort) this.#cutShort.push(error.what)
      return
    }
    // A schedule that could never be executed is the caller's mistake. One that could be executed before shows that the
    // system does not repeat.
    if (this.#portfolio.experience.completed === 0 && !this.#reliance.isLess) throw error
    this.#unsteady ??= { schedule: labelsTo(execution.task.start), variant: execution.variant }
    this.#diverged.push(`a schedule that had been executed before ${error.message}`)
  }

  /** Examines an execution that may have a violation. */
  async #examine(explored: Explored): Promise<Discovered | undefined> {
    const { execution, outcome, starved } = explored
    this.#meetings.add(outcome)
    this.#hasStarted ||= !isFailedStart(outcome.violation)
    const { violation, schedule, undecided } = outcome
    if (undecided !== undefined) {
      this.#undecided += 1
      this.#firstUndecided ??= undecided
    }
    if (!violation && starved === undefined) return undefined
    if (violation && this.#deferred && outcome.delayMs > slowMs) return undefined
    this.#finding = violation ? headline(violation.message) : `${starved} in doubt after ${schedule.length} steps`
    const discovery: Discovery = {
      by: execution.search,
      execution: this.#cells.counts.executions,
      steps: violation?.step ?? schedule.length,
      seconds: Number(this.#seconds().toFixed(3)),
    }
    // An examination is finished even if the search's budget is spent.
    const found = await this.#cells.ofVariant(execution.variant).alone(cells => this.#examineIn(cells, explored))
    return found && { ...found, discovery, variant: execution.variant }
  }

  async #examineIn(cells: Cells, explored: Explored): Promise<Found | undefined> {
    const doubts = this.#examination.notRepeated.length
    const found = await this.#judge(cells, explored)
    const { outcome, execution } = explored
    if (this.#examination.notRepeated.length > doubts)
      this.#unsteady ??= { schedule: labelsOf(outcome.schedule), variant: execution.variant }
    return found
  }

  async #judge(cells: Cells, { outcome, starved, execution: { walkLength } }: Explored): Promise<Found | undefined> {
    const { violation, schedule } = outcome
    if (violation) {
      const found = await this.#examination.examineViolation(cells, schedule.slice(0, violation.step), violation)
      if (found && isFailedStart(violation) && !this.#hasStarted) throw new DoesNotStart(violation)
      return found
    }
    if (starved === undefined) return undefined
    const examinations = this.#examinations.get(starved) ?? 0
    if (examinations === examinationsMax) return undefined
    const { recoveryLength } = this.#portfolio.experience
    const found = await this.#examination.examineLiveness(cells, schedule, starved, { walkLength, recoveryLength })
    if (found === 'transient') {
      this.#transient += 1
      this.#portfolio.experience.recovered(this.#examination.slowest)
      return undefined
    }
    if (found) this.#examinations.set(starved, examinations + 1)
    return found
  }

  /** The verdict if nothing was found. */
  #conclude(): Discovered {
    const [first] = this.#repeats() ? this.#examination.notRepeated : this.#notRepeated
    const nothing = {
      property: null,
      kind: null,
      schedule: [],
      criticalTransition: null,
      delayMs: null,
      repeated: false,
      closestLive: null,
      discovery: null,
      variant: 0,
    }
    if (first !== undefined)
      return { ...nothing, verdict: 'undetermined', message: `what was found does not repeat: ${first}` }
    if (this.#portfolio.experience.completed === 0)
      return { ...nothing, verdict: 'undetermined', message: this.#nothingDone() }
    if (this.#ended?.what === 'aborted')
      return { ...nothing, verdict: 'undetermined', message: `interrupted; ${this.#covered()}` }
    if (this.#undecided > undecidedShareMax * this.#portfolio.experience.completed)
      return { ...nothing, verdict: 'undetermined', message: this.#notDecided()! }
    return { ...nothing, verdict: 'held', message: this.#covered() }
  }

  /** Whether all but a few executions repeat. A few may fail on a busy machine and say nothing about the others. */
  #repeats(): boolean {
    return this.#diverged.length <= divergedShareMax * this.#portfolio.experience.completed
  }

  /** Whether too many executions failed to repeat since the last change, so that nothing can be concluded. */
  #isInDoubt(): boolean {
    const doubts = this.#notRepeated.length
    return doubts >= doubtsMax && doubts > divergedShareMax * this.#portfolio.experience.completed
  }

  /** Gives up what may keep executions from repeating, and begins the search anew. Returns false if nothing is left. */
  async #relyOnLess(): Promise<boolean> {
    const { completed } = this.#portfolio.experience
    const what = `${this.#notRepeated.length} of ${completed} executions did not repeat, the first: ${this.#notRepeated[0]}`
    const how = await this.#reliance.giveUpNext()
    this.#changes.push(
      `${what}; ${how ? `the search went on ${how}` : 'nothing was left to rely on less: it was ended'}`,
    )
    if (how) this.#beginAnew()
    return how !== undefined
  }

  /** Whether turns were cut short in too many executions. These do not count, so the search hardly makes progress. */
  #areCutShort(): boolean {
    const cut = this.#cutShort.length
    return cut >= doubtsMax && cut > cutShortShareMax * this.#portfolio.experience.completed
  }

  /**
   * Begins the search anew with long turns. Returns false if they are long already: the search then continues
   * unchanged.
   */
  async #lengthenTurns(): Promise<boolean> {
    const how = await this.#reliance.lengthenTurns()
    if (how === undefined) return false
    this.#changes.push(
      `${this.#cutShort.length} executions did not count, the first: ${this.#cutShort[0]}; the search went on ${how}`,
    )
    this.#beginAnew()
    return true
  }

  #beginAnew(): void {
    // What was learned from executions that do not repeat is of no use.
    this.#portfolio = this.#newPortfolio()
    // Earlier doubts may have had the same cause.
    this.#diverged.length = 0
    this.#examination.notRepeated.length = 0
    this.#cutShort.length = 0
  }

  get #notRepeated(): string[] {
    return [...this.#examination.notRepeated, ...this.#diverged]
  }

  #notDecided(): string | undefined {
    if (this.#firstUndecided === undefined) return undefined
    return `in ${this.#undecided} of ${this.#portfolio.experience.completed} executions ${this.#firstUndecided}`
  }

  #nothingDone(): string {
    return `the budget was spent before one execution was done${describeUnfaithful(this.#unfaithful, this.#disturbance)}`
  }

  #covered(): string {
    const { depth, ...depths } = this.#portfolio.depths
    const { givenUp, local } = this.#portfolio
    const coverage = { ...depths, unfaithful: this.#unfaithful, givenUp, local }
    return describeCoverage({ ...this.#cells.counts, depth, coverage, disturbance: this.#disturbance })
  }

  #verdict(found: Discovered): Verdict {
    const { depth, ...depths } = this.#portfolio.depths
    const { completed, walks, stepsToLive, walksToLive } = this.#portfolio.experience
    const searches = this.#portfolio.coverage
    const { steps } = this.#cells.counts
    const seconds = this.#seconds()
    return {
      ...found,
      ...this.#cells.counts,
      seconds: Number(seconds.toFixed(3)),
      stepsPerSecond: Math.round(steps / seconds),
      depth,
      seed: this.#options.seed ?? 1,
      coverage: {
        ...depths,
        searches,
        completed,
        walks,
        stepsToLive,
        walksToLive,
        transient: this.#transient,
        unfaithful: this.#unfaithful,
        givenUp: this.#portfolio.givenUp,
        local: this.#portfolio.local,
      },
      met: this.#meetings.met,
      notRepeated: this.#notRepeated,
      unsteady: this.#unsteady ?? null,
      notes: this.#notes(seconds),
    }
  }

  #notes(seconds: number): string[] {
    const undecided = this.#notDecided()
    return [
      ...this.#changes,
      ...this.#portfolio.notes,
      ...noteStarved(this.#portfolio.coverage, this.#cells.counts, seconds),
      ...(undecided === undefined ? [] : [undecided]),
    ]
  }

  #report(counts: Counts): void {
    const { depth } = this.#portfolio.depths
    const { liveShare } = this.#portfolio.experience
    const seconds = this.#seconds()
    this.#options.onProgress?.({ phase: this.#phase, ...counts, depth, seconds, liveShare, finding: this.#finding })
  }

  #seconds(): number {
    return (performance.now() - this.#begun) / 1000
  }
}
