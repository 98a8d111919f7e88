import { type Cell, OwnCell } from './cells/cell.ts'
import { type CellCounts, Cells } from './cells/cells.ts'
import type { Properties } from './cells/executor.ts'
import { Reliance } from './cells/reliance.ts'
import { select } from './cells/select.ts'
import { headline, type Violation } from './cells/violation.ts'
import { type Explored, type Failed, Portfolio, type PortfolioOptions } from './portfolio.ts'
import { ExplorerSearch } from './searches/deviations/explorer-search.ts'
import { walkLengthFactor, walkLengthMax } from './searches/experience.ts'
import { LocalSearch } from './searches/local/local.ts'
import { type Progress, type SearchOptions, type SystemCheckOptions, validate } from './searches/options.ts'
import { BudgetSpent } from './system/budget.ts'
import { type Diverged, DoesNotStart, Unfaithful } from './system/errors.ts'
import { labelsOf } from './system/labels.ts'
import type { Nodes } from './system/node-system.ts'
import { healthyOf, livenessOf } from './system/property.ts'
import { Random } from './system/random.ts'
import { labelsTo, type Start, startAfter, startAsOffered } from './system/start.ts'
import type { System } from './system/system.ts'
import { Deferred, isNearlyUsual, needsUnusual } from './verdict/deferred.ts'
import { Doubts } from './verdict/doubts.ts'
import { Examination, type Found, isFinding, suspected, suspectStepsMax } from './verdict/examine.ts'
import { noteStarved } from './verdict/notes.ts'
import { defaultWalks } from './verdict/recovery.ts'
import { Meetings } from './verdict/sights.ts'
import { isMetAsUsual } from './verdict/skew.ts'
import { type Discovery, describeCoverage, describeUnfaithful, type Unsteady, type Verdict } from './verdict/verdict.ts'

export { type Progress, type SearchKind, type SystemCheckOptions, searches } from './searches/options.ts'

const defaultMs = 60_000
/**
 * Shares of the time that the examinations of suspects of one property may take, as long as none is certain. With a larger
 * first one, little is left to search for others; with equal ones, neither is decided where one would have been.
 */
const suspectShares = [1 / 2, 1 / 6] as const
/**
 * The search ends while a suspect could still be examined, if that takes at most this many times what it took before,
 * but not sooner than when this share of the time is left.
 */
const [suspectReserve, suspectReserveShare] = [1.5, 1 / 6]
/**
 * Executing a schedule once more with new processes, and recording it, takes at most this many times as long as in the
 * search.
 */
const recordingFactor = 1.5

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
  options: SystemCheckOptions<State> = {},
): Promise<Verdict> => {
  const { weights, observer, nodes, property } = options
  const { allowFindings = property !== undefined } = options
  const selected = select(properties, property)
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
  const liveness = livenessOf(properties)
  const { depth: depthMax } = options
  const alone: PortfolioOptions['alone'] = nodes && {
    local: experience => new LocalSearch(experience, { nodes, properties }),
    exploring: (experience, order, isBeside) =>
      new ExplorerSearch(experience, { nodes, properties, order, depthMax, isBeside }),
  }
  // A carried value depends on the path to a state and not on the state alone, so every order must be executed.
  const everyOrder = options.everyOrder || Object.values(properties).some(({ fold }) => fold !== undefined)
  return new Check(cells, { liveness, healthy: healthyOf(properties) }, { ...options, everyOrder }, alone).run()
}

/**
 * A given prefix of at least this many steps is kept whole, because each shorter candidate would be executed from the start.
 */
const longWay = 2000

type Discovered = Found & Pick<Verdict, 'variant'> & { readonly discovery: Discovery }
/** What a check came to: a finding, or that there is none. */
type Concluded = Omit<Discovered, 'discovery'> & Pick<Verdict, 'discovery'>

const nothingHappens =
  'nothing can happen after the start: no call, message or timer is enabled, so nothing was executed'

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
  /** Time for all of it, in milliseconds. */
  readonly #time: number | undefined
  /** The longest time that it took to see that a suspect recovers, in milliseconds. */
  #slowestSuspect = 0
  /** Time kept free to execute once more what is examined or was not decided, in milliseconds. */
  #recordingMs = 0
  readonly #examinations = new Map<string, number>()
  readonly #meetings = new Meetings()
  #phase: Progress['phase'] = 'searching'
  #transient = 0
  /** One line for each thing that the check stopped relying on, with the reason. */
  readonly #changes: string[] = []
  #hasBegunAnew = false
  /** Whether some of the steps to begin with were skipped. */
  #isShortened = false
  readonly #reliance: Reliance
  /** How many executions the search has taken. */
  #explored = 0
  /** Whether any execution took a step. */
  #hasStepped = false
  /** Whether the nodes came up in any execution. */
  #hasStarted = false
  readonly #doubts = new Doubts()
  #undetermined: Discovered | undefined
  readonly #deferred = new Deferred<Discovered>()
  #finding: string | undefined
  #ended: BudgetSpent | undefined

  constructor(
    cells: readonly Cell[],
    judged: Pick<PortfolioOptions, 'liveness' | 'healthy'>,
    options: SearchOptions,
    alone: PortfolioOptions['alone'],
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
        bounded: { depthMax: options.depth, everyOrder: options.everyOrder },
        begin: this.#begin,
        walkLength,
        ...judged,
        random: new Random(searchSeed),
        alone,
        isOfExecutions: executions !== undefined,
      })
    this.#portfolio = this.#newPortfolio()
    this.#examination = new Examination({
      walks: options.walks ?? defaultWalks,
      walkLengthMax: walkLength === undefined ? walkLengthMax : walkLengthFactor * walkLength,
      random: random.fork(),
      // If only steps limit it, the result does not depend on the speed of the machine.
      within: ({ steps, milliseconds = Number.POSITIVE_INFINITY }) => ({
        signal,
        ...(this.#time === undefined ? { steps } : { milliseconds: Math.min(milliseconds, this.#millisecondsLeft) }),
      }),
      kept: () => this.#kept,
      ways: this.#portfolio.experience.ways,
      signal,
      onNotRepeated: line => this.#doubts.findingDiffers(line),
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
    const found = violated ?? (await this.#deferred.examine()) ?? this.#undetermined
    // What an interrupted examination had begun may still be under way, and whoever records the finding needs the system.
    await this.#cells.whenIdle()
    return this.#verdict(found ? await this.#explained(found) : this.#conclude())
  }

  /** A violation with what its reader wants to know of it. Behind a given way, each experiment would take that way again. */
  async #explained(found: Discovered): Promise<Discovered> {
    if (found.verdict !== 'violated' || this.#isWayGiven || this.#options.leavesExplanation) return found
    const spent = { steps: this.#cells.counts.steps, milliseconds: 1000 * this.#seconds() }
    const explain = (cells: Cells) => this.#examination.explain(cells, found, spent)
    return { ...found, ...(await this.#examining(found.variant).alone(explain)) }
  }

  /** Takes one execution after another, until one has a violation or none is left. */
  async #search(cells: Cells): Promise<Discovered | undefined> {
    for await (const explored of this.#portfolio.explore(cells)) {
      this.#explored += 1
      if ('error' in explored && this.#cannotBegin(explored)) {
        await this.#beginAsFarAsOffered(cells, explored.error)
        return this.#search(cells)
      }
      const found = 'error' in explored ? this.#note(explored) : await this.#examine(explored)
      if (found && needsUnusual(found) && !this.#isWayGiven)
        this.#deferred.keep({ ...found, examine: async () => found }, this.#explored)
      else if (found && isFinding(found)) return found
      else this.#undetermined ??= found
      this.#phase = 'searching'
      if (this.#doubts.areTooMany(this.#completed)) return (await this.#relyOnLess()) ? this.#search(cells) : undefined
      if (this.#doubts.areCutShort(this.#completed) && (await this.#lengthenTurns())) return this.#search(cells)
      if (this.#deferred.isDue(this.#explored) || this.#isTooLateForSuspects || this.#millisecondsLeft <= 0)
        return undefined
    }
    return undefined
  }

  /**
   * How slow the network was on the way to a given state is not what a search from there is asked, and to execute that way
   * with another one may take an hour.
   */
  get #isWayGiven(): boolean {
    return this.#begin.at !== 'initial'
  }

  /** Steps of the given prefix that are kept whole; 0 if it may be shrunk. */
  get #kept(): number {
    const { length } = labelsTo(this.#begin)
    return length < longWay ? 0 : length
  }

  /**
   * Whether the steps to begin with cannot be executed, because they were recorded with another service or another
   * version.
   */
  #cannotBegin({ error }: Failed): boolean {
    if (error instanceof Unfaithful) return false
    return this.#begin.at !== 'initial' && this.#completed === 0 && !this.#reliance.isLess && !this.#isShortened
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

  #note({ execution, error }: Failed): undefined {
    if (error instanceof Unfaithful) {
      this.#doubts.doesNotCount(error)
      return
    }
    // A schedule that could never be executed is the caller's mistake. One that could be executed before shows that the
    // system does not repeat.
    if (this.#completed === 0 && !this.#reliance.isLess) throw error
    this.#doubts.differs({ schedule: labelsTo(execution.task.start), variant: execution.variant })
    this.#doubts.scheduleDiffers(error.message)
  }

  /** Examines an execution that may have a violation. */
  async #examine(explored: Explored): Promise<Discovered | undefined> {
    const { execution, outcome, starved } = explored
    this.#meetings.add(outcome, execution.variant)
    const { finding, schedule, undecided } = outcome
    this.#hasStepped ||= schedule.length > 0
    this.#hasStarted ||= finding?.step !== 0
    // Nothing can be looked for in a system that does not come up.
    const violation = outcome.violation ?? (this.#hasStarted ? undefined : finding)
    if (finding && !violation) this.#doubts.isBroken(finding)
    if (undecided !== undefined)
      this.#doubts.isUndecided(undecided, { schedule: labelsOf(schedule), variant: execution.variant })
    if (!violation && starved === undefined) return undefined
    this.#finding = violation ? headline(violation.message) : `${starved} in doubt after ${schedule.length} steps`
    const discovery: Discovery = {
      by: execution.search,
      execution: this.#cells.counts.executions,
      steps: violation?.step ?? schedule.length,
      seconds: Number(this.#seconds().toFixed(3)),
    }
    const notRepeated = this.#doubts.notRepeated.length
    const recordingBefore = this.#recordingMs
    this.#leaveTimeFor(discovery.steps)
    const found = violation
      ? await this.#examineViolation(explored, violation, discovery).catch(error =>
          this.#unexamined(explored, violation, discovery, error),
        )
      : await this.#examineIn(execution, discovery, cells => this.#examineSuspect(cells, explored))
    if (this.#doubts.notRepeated.length > notRepeated)
      this.#doubts.differs({ schedule: labelsOf(schedule), variant: execution.variant })
    if (found === undefined && !this.#deferred.isKept) this.#recordingMs = recordingBefore
    return found
  }

  /** Leaves what these steps take longer than their recording may, as they took until now, but half of what is left at most. */
  #leaveTimeFor(steps: number): void {
    const { recordingMs } = this.#options
    if (recordingMs === undefined || steps === 0) return
    const executing = (steps * this.#seconds() * 1000) / this.#cells.counts.steps
    const recording = recordingFactor * executing - recordingMs
    const most = this.#recordingMs + Math.max(0, this.#millisecondsLeft / 2)
    this.#recordingMs = Math.max(this.#recordingMs, Math.min(recording, most))
  }

  /** Time left to search and to examine. */
  get #millisecondsLeft(): number {
    return this.#begun + (this.#time ?? Number.POSITIVE_INFINITY) - performance.now() - this.#recordingMs
  }

  /** A suspect that could not be examined any more would make the verdict undetermined. */
  get #isTooLateForSuspects(): boolean {
    if (this.#slowestSuspect === 0 || this.#time === undefined) return false
    const reserve = Math.min(suspectReserve * this.#slowestSuspect, suspectReserveShare * this.#time)
    return this.#millisecondsLeft < reserve
  }

  #examining(variant: number): Cells {
    return this.#cells.ofVariant(variant).for('examination')
  }

  /** An examination may go on after the executions of the search are spent. */
  async #examineIn(
    { variant }: Explored['execution'],
    discovery: Discovery,
    examine: (cells: Cells) => Promise<Found | undefined>,
  ): Promise<Discovered | undefined> {
    const found = await this.#examining(variant).alone(examine)
    return found && { ...found, discovery, variant }
  }

  /** A violation that needs a slow network or clocks apart is examined later, if no other is found. */
  async #examineViolation(
    { execution, outcome }: Explored,
    violation: Violation,
    discovery: Discovery,
  ): Promise<Discovered | undefined> {
    const examination = this.#examination
    const cells = this.#examining(execution.variant)
    const schedule = outcome.schedule.slice(0, violation.step)
    if (this.#options.leavesExamination)
      return { ...suspected(violation, labelsOf(schedule)), discovery, variant: execution.variant }
    if (this.#isWayGiven)
      return this.#examineIn(execution, discovery, cells => examination.examineViolation(cells, schedule, violation))
    const isUsual = await cells.alone(cells => isMetAsUsual(cells, { ...outcome, schedule }, violation))
    if (!isUsual && this.#deferred.isKept) return undefined
    const isExaminedNow = isUsual || isNearlyUsual(outcome)
    const repeated = await cells.alone(cells => examination.repeat(cells, schedule, violation))
    if (!repeated) return undefined
    if (isFailedStart(violation) && !this.#hasStarted) throw new DoesNotStart(violation)
    const examine = () =>
      this.#examineIn(execution, discovery, cells => examination.shorten(cells, schedule, violation, repeated))
    if (isExaminedNow) return examine()
    this.#deferred.keep({ ...repeated, examine }, this.#explored)
    return undefined
  }

  /** A violation whose examination ended before it was executed again. */
  #unexamined(
    { execution: { variant }, outcome }: Explored,
    violation: Violation,
    discovery: Discovery,
    error: unknown,
  ): Discovered {
    if (!(error instanceof BudgetSpent)) throw error
    const message = `${headline(violation.message)}; the check ended before that was executed again`
    const schedule = labelsOf(outcome.schedule.slice(0, violation.step))
    return { ...suspected({ ...violation, message }, schedule), discovery, variant }
  }

  async #examineSuspect(
    cells: Cells,
    { outcome: { schedule, lastLive }, starved, execution: { walkLength } }: Explored,
  ): Promise<Found | undefined> {
    const examinations = this.#examinations.get(starved!) ?? 0
    if (examinations === suspectShares.length) return undefined
    const { recoveryLength } = this.#portfolio.experience
    const begun = performance.now()
    const share = suspectShares[examinations]! * (this.#time ?? Number.POSITIVE_INFINITY)
    const limits = { steps: suspectStepsMax, milliseconds: this.#options.examinationMs ?? share }
    const suspect = { schedule, lastLive: lastLive.get(starved!) ?? null, limits }
    const found = await this.#examination.examineLiveness(cells, suspect, starved!, { walkLength, recoveryLength })
    if (found === 'transient') {
      this.#transient += 1
      this.#slowestSuspect = Math.max(this.#slowestSuspect, performance.now() - begun)
      this.#portfolio.experience.recovered(this.#examination.slowest)
      return undefined
    }
    if (found) this.#examinations.set(starved!, examinations + 1)
    return found
  }

  /** The verdict if nothing was found. */
  #conclude(): Concluded {
    const nothing = {
      property: null,
      kind: null,
      schedule: [],
      criticalTransition: null,
      delayMs: null,
      skewMs: null,
      repeated: false,
      closestLive: null,
      discovery: null,
      variant: 0,
    }
    const why = this.#againstHeld()
    if (why !== undefined) return { ...nothing, verdict: 'undetermined', message: why }
    return { ...nothing, verdict: 'held', message: this.#covered() }
  }

  /** Why the verdict is not `held` although nothing was found. */
  #againstHeld(): string | undefined {
    const doubt = this.#doubts.againstHeld(this.#completed)
    if (doubt !== undefined) return doubt
    if (this.#completed === 0) return this.#nothingDone()
    if (this.#doubts.broken === this.#completed) return this.#doubts.describeBroken(this.#completed)
    if (this.#ended?.what === 'aborted') return `interrupted; ${this.#covered()}`
    const { local, deviations, consequence } = this.#portfolio
    if (local?.localStates === 0) return `the local search did not begin: ${this.#covered()}`
    const hasBegunAlone = [local, deviations, consequence].some(found => found && found.transitions > 0)
    if (!this.#hasStepped && !hasBegunAlone) return nothingHappens
    return this.#doubts.leaveTooMuchOpen(this.#completed) ? this.#doubts.describeUndecided(this.#completed) : undefined
  }

  /** How many executions came to their end since the search last began. */
  get #completed(): number {
    return this.#portfolio.experience.completed
  }

  /** Gives up what may keep executions from repeating, and begins the search anew. Returns false if nothing is left. */
  async #relyOnLess(): Promise<boolean> {
    const what = this.#doubts.describe(this.#completed)
    const how = await this.#reliance.giveUpNext()
    this.#changes.push(
      `${what}; ${how ? `the search went on ${how}` : 'nothing was left to rely on less: it was ended'}`,
    )
    if (how) this.#beginAnew()
    return how !== undefined
  }

  /**
   * Begins the search anew with long turns. Returns false if they are long already: the search then continues
   * unchanged.
   */
  async #lengthenTurns(): Promise<boolean> {
    const how = await this.#reliance.lengthenTurns()
    if (how === undefined) return false
    this.#changes.push(`${this.#doubts.describeCutShort()}; the search went on ${how}`)
    this.#beginAnew()
    return true
  }

  #beginAnew(): void {
    this.#hasBegunAnew = true
    // What was learned from executions that do not repeat is of no use.
    this.#portfolio = this.#newPortfolio()
    this.#doubts.beginAnew()
  }

  #nothingDone(): string {
    const since = this.#hasBegunAnew ? ' since the search began anew' : ''
    const what = this.#portfolio.givenUp > 0 ? 'the search gave up' : 'the budget was spent'
    return `${what} before one execution was done${since}${describeUnfaithful(this.#doubts.unfaithful, this.#doubts.disturbance)}`
  }

  #covered(): string {
    const { depth, ...depths } = this.#portfolio.depths
    const { givenUp, local, deviations, consequence } = this.#portfolio
    const { unfaithful, broken } = this.#doubts
    const coverage = { ...depths, unfaithful, givenUp, broken, local, deviations, consequence }
    return describeCoverage({ ...this.#cells.counts, depth, coverage, disturbance: this.#doubts.disturbance })
  }

  #verdict(found: Concluded): Verdict {
    const { depth, ...depths } = this.#portfolio.depths
    const { completed, walks, stepsToLive, walksToLive } = this.#portfolio.experience
    const searches = this.#portfolio.coverage
    const { steps } = this.#cells.counts
    const seconds = this.#seconds()
    return {
      ...found,
      ...this.#cells.counts,
      spent: { goal: 0, ...this.#cells.counts.spent },
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
        unfaithful: this.#doubts.unfaithful,
        givenUp: this.#portfolio.givenUp,
        broken: this.#doubts.broken,
        local: this.#portfolio.local,
        deviations: this.#portfolio.deviations,
        consequence: this.#portfolio.consequence,
      },
      met: this.#meetings.met,
      notRepeated: this.#doubts.notRepeated,
      unsteady: this.#doubts.unsteady ?? null,
      inDoubt: found.verdict === 'undetermined' && found.property === null ? this.#inDoubt : null,
      notes: this.#notes(seconds),
    }
  }

  /** The execution to look at, of a check that nothing can be concluded from. */
  get #inDoubt(): Unsteady | null {
    if (this.#completed === 0) return this.#doubts.unsteady ?? null
    const { sample } = this.#meetings.met
    return this.#doubts.unsteady ?? this.#doubts.undecidedIn ?? sample ?? { schedule: [], variant: 0 }
  }

  #notes(seconds: number): string[] {
    const undecided = this.#doubts.describeUndecided(this.#completed)
    const broken = this.#doubts.describeBroken(this.#completed)
    return [
      ...this.#changes,
      ...this.#portfolio.notes,
      ...(broken === undefined ? [] : [broken]),
      ...noteStarved(this.#portfolio.coverage, this.#cells.counts, seconds),
      ...(undecided === undefined ? [] : [undecided]),
    ]
  }

  #report({ spent: _, ...counts }: CellCounts): void {
    const { depth } = this.#portfolio.depths
    const { liveShare } = this.#portfolio.experience
    const seconds = this.#seconds()
    this.#options.onProgress?.({ phase: this.#phase, ...counts, depth, seconds, liveShare, finding: this.#finding })
  }

  #seconds(): number {
    return (performance.now() - this.#begun) / 1000
  }
}
