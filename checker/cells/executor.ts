import { type CallResult, callAt } from '../choosers/vain-calls.ts'
import { Budget, BudgetSpent } from '../system/budget.ts'
import { Carried, type CarriedMark } from '../system/carried.ts'
import { Undecided } from '../system/errors.ts'
import { labelsOf } from '../system/labels.ts'
import type { Nearest } from '../system/nearness.ts'
import { evaluate, explanationOf, healthyOf, type Property } from '../system/property.ts'
import { inSeconds } from '../system/show.ts'
import { propertySight, Subjects } from '../system/subjects.ts'
import type { Checkpoint, Choice, Finding, Sight, Step, System } from '../system/system.ts'
import { HeldAgain, type HeldAgainMark } from './held-again.ts'
import { Offers } from './offers.ts'
import type { Violation } from './violation.ts'

const isHealthy = ({ kind }: Choice): boolean => kind === 'healthy'

/** Properties by name. */
export type Properties<State> = Readonly<Record<string, Property<State>>>

/** Sees every execution as it happens. `state` must be called only during the event. */
export interface ExecutionObserver<State> {
  /** @param schedule the steps so far: empty, unless the execution begins at a saved state */
  onReset?(findings: readonly Finding[], state: () => State, schedule: readonly Choice[]): void
  onStep?(step: Step, state: () => State): void
  /** The execution is over: next the system is reset, or never used again. */
  onEnd?(): void
}

export interface ExecutorOptions<State> {
  readonly observer?: ExecutionObserver<State> | undefined
  /** Whether a crash or divergence only ends an execution, and is no violation. */
  readonly allowFindings?: boolean | undefined
  /** Whether `sights` will be called. What properties read is watched for it, which evaluates them once more. */
  readonly tellsSights?: boolean | undefined
}

/** What an executor knows in a state. */
export interface Mark {
  readonly schedule: readonly Choice[]
  readonly fingerprints: readonly (string | undefined)[]
  readonly lastLive: ReadonlyMap<string, number>
  readonly offeredAfter: readonly number[]
  readonly offers: Offers
  readonly delayMs: number
  readonly skewMs: number
  readonly carried: CarriedMark
  readonly notSince: ReadonlyMap<string, number>
  readonly heldAgain: HeldAgainMark
  readonly heldHealthy: ReadonlySet<string>
  readonly met: ReadonlySet<string>
}

/**
 * Executes a system, one execution after another. It evaluates the properties in every state, and throws `BudgetSpent`
 * when its budget is spent.
 */
export class Executor<State> {
  readonly system: System<State>
  /** The budget of what is executed next. */
  budget = new Budget({})
  /** The steps executed since the last reset. */
  schedule: Choice[] = []
  /** The fingerprints of its states, the initial state first. */
  fingerprints: (string | undefined)[] = []
  /** The first violation of this execution. The executor does not stop at it. */
  violation: Violation | undefined
  /** The first crash or divergence of this execution. The system then enables nothing, which proves nothing. */
  finding: Violation | undefined
  /**
   * The longest time that a message was in flight in this execution, by the clock of a node whose timer fired
   * meanwhile.
   */
  delayMs = 0
  /** How far clocks were apart in this execution when a timer fired. */
  skewMs = 0
  /**
   * The state of this execution with the highest `nearness` of a property; states that were saved earlier do not count.
   */
  nearest: Nearest | undefined
  /** Results of the clients' calls that began and ended in this execution. */
  calls: CallResult[] = []
  /** By the step in which a call began: the call and the situation at its beginning (`callAt`). */
  readonly #begun = new Map<number, string>()
  /** By property: why it could not be decided in this execution. */
  undecided = new Map<string, string>()
  /** By liveness property: the last step of this execution after which it held. */
  lastLive = new Map<string, number>()
  /** For each step that was taken from `offered()`: the step after which its label first appeared there. */
  offeredAfter: number[] = []

  readonly #safety: [string, Property<State>][]
  readonly #subjects: readonly Subjects<State>[]
  readonly #goals: [string, Property<State>][]
  #offers = new Offers()
  /** Names of the `sometimes` properties that were met in this execution. */
  #met = new Set<string>()
  readonly #liveness: [string, Property<State>][]
  readonly #observer: ExecutionObserver<State>
  readonly #allowFindings: boolean
  #running = false
  #carried: Carried<State>
  /** By liveness property that does not hold: since when, in a system with a common time. */
  #notSince = new Map<string, number>()
  #heldAgain = new HeldAgain()
  /** Names of the properties that held since the network is healthy. */
  #heldHealthy = new Set<string>()
  readonly #properties: Properties<State>

  constructor(system: System<State>, properties: Properties<State>, options: ExecutorOptions<State> = {}) {
    const named = Object.entries(properties)
    this.system = system
    this.#properties = properties
    this.#carried = new Carried(properties)
    this.#safety = named.filter(([, property]) => property.kind === 'always')
    this.#subjects = (options.tellsSights ? this.#safety : [])
      .filter(([, { fold }]) => fold === undefined)
      .map(([name, property]) => new Subjects(name, property))
    this.#goals = named.filter(([, property]) => property.kind === 'sometimes')
    this.#liveness = named.filter(([, property]) => property.kind === 'eventually')
    this.#observer = options.observer ?? {}
    this.#allowFindings = options.allowFindings ?? false
  }

  /** What was met of the properties. Call it once, at the end of each execution. */
  sights(): Sight[] {
    const met = [...this.#met].map(name => ({ what: propertySight.met(name), count: 1 }))
    const state = this.system.state()
    return [
      ...met,
      ...this.#heldAgain.sights(),
      ...this.#subjects.flatMap(each => [...each.sightsAtEnd(state), ...each.sights()]),
    ]
  }

  /** Whether a crash or divergence ended this execution. */
  get broken(): boolean {
    return this.finding !== undefined
  }

  get liveness(): string[] {
    return this.#liveness.map(([name]) => name)
  }

  /** Names of the properties that are judged in a healthy network. */
  get judgedHealthy(): string[] {
    return healthyOf(this.#properties)
  }

  /**
   * Starts a new execution.
   *
   * @param variant which random numbers the nodes draw
   */
  async reset(variant = 0): Promise<void> {
    this.budget.check()
    this.end()
    this.schedule = []
    this.fingerprints = []
    this.violation = undefined
    this.finding = undefined
    this.nearest = undefined
    this.#forgetCalls()
    this.delayMs = 0
    this.skewMs = 0
    this.undecided = new Map()
    this.lastLive = new Map()
    this.offeredAfter = []
    this.#offers = new Offers()
    this.#carried = new Carried(this.#properties)
    this.#notSince = new Map()
    this.#heldAgain = new HeldAgain()
    this.#heldHealthy = new Set()
    this.#met = new Set()
    const findings = await this.#timely(() => this.system.reset(variant))
    this.#running = true
    this.#observer.onReset?.(findings, () => this.system.state(), [])
    this.#watch(findings)
  }

  /** What it knows in the present state, for later executions that continue from there. */
  mark(): Mark {
    const { schedule, fingerprints, lastLive, offeredAfter, delayMs, skewMs } = this
    const offers = this.#offers.settled()
    this.#offers = offers.next()
    return {
      schedule: [...schedule],
      fingerprints: [...fingerprints],
      lastLive: new Map(lastLive),
      offeredAfter: [...offeredAfter],
      offers,
      delayMs,
      skewMs,
      carried: this.#carried.mark(),
      notSince: new Map(this.#notSince),
      heldAgain: this.#heldAgain.mark(),
      heldHealthy: new Set(this.#heldHealthy),
      met: new Set(this.#met),
    }
  }

  /** Starts an execution that continues from a saved state in which nothing was violated. */
  async restore(checkpoint: Checkpoint, mark: Mark): Promise<void> {
    this.budget.check()
    this.end()
    await this.#timely(() => this.system.restore!(checkpoint))
    this.schedule = [...mark.schedule]
    this.fingerprints = [...mark.fingerprints]
    this.lastLive = new Map(mark.lastLive)
    this.offeredAfter = [...mark.offeredAfter]
    this.#offers = mark.offers.next()
    this.delayMs = mark.delayMs
    this.skewMs = mark.skewMs
    this.#carried = new Carried(this.#properties, mark.carried)
    this.#notSince = new Map(mark.notSince)
    this.#heldAgain = new HeldAgain(mark.heldAgain)
    this.#heldHealthy = new Set(mark.heldHealthy)
    this.violation = undefined
    this.finding = undefined
    this.nearest = undefined
    this.#forgetCalls()
    this.undecided = new Map()
    this.#met = new Set(mark.met)
    this.#running = true
    this.#observer.onReset?.([], () => this.system.state(), this.schedule)
  }

  /** Tells the observer that the execution is over. */
  end(): void {
    if (this.#running) this.#observer.onEnd?.()
    this.#running = false
  }

  /** The enabled choices among which a chooser may choose. */
  enabled(): readonly Choice[] {
    const enabled = this.system.enabled()
    return enabled.some(isHealthy) ? enabled.filter(choice => !isHealthy(choice)) : enabled
  }

  /** The enabled choices. Since when each is enabled is noted, for `offeredAfter`. */
  offered(): readonly Choice[] {
    const enabled = this.system.enabled()
    for (const { label } of enabled) this.#offers.note(label, this.schedule.length)
    return enabled
  }

  /** The step after which a label that is enabled now was first among `offered()`. */
  offeredSince(label: string): number {
    return this.#offers.get(label) ?? this.schedule.length
  }

  /** Whether a client has a call left, or one is under way. */
  get hasCalls(): boolean {
    return this.system.isCalling?.() || this.enabled().some(({ kind }) => kind === 'client')
  }

  async execute(choice: Choice): Promise<void> {
    this.budget.check()
    if (choice.kind === 'client') this.#noteCall(choice)
    const step = await this.#timely(() => this.system.execute(choice))
    this.offeredAfter.push(this.offeredSince(choice.label))
    this.schedule.push(choice)
    this.delayMs = Math.max(this.delayMs, step.delayMs ?? 0)
    this.skewMs = Math.max(this.skewMs, step.skewMs ?? 0)
    for (const { begun, failed } of step.calls ?? []) {
      const where = this.#begun.get(begun)
      if (where !== undefined) this.calls.push({ where, failed })
    }
    this.#observer.onStep?.(step, () => this.system.state())
    this.#watch(step.findings)
  }

  #noteCall(choice: Choice): void {
    const situation = this.system.situation?.()
    if (situation !== undefined) this.#begun.set(this.schedule.length + 1, callAt(choice, situation))
  }

  #forgetCalls(): void {
    this.calls = []
    this.#begun.clear()
  }

  /** Lets the system audit this execution. What counts of it was told before, so an audit that lasts too long only ends. */
  async audit(): Promise<void> {
    try {
      await this.#timely(async () => this.system.processes?.audit())
    } catch (error) {
      if (!(error instanceof BudgetSpent && error.what === 'time')) throw error
    }
  }

  /** Whether a liveness property holds in the present state. */
  isLive(property: string): boolean {
    return this.lastLive.get(property) === this.schedule.length
  }

  /** Labels of the steps executed since the last reset. */
  labels(): string[] {
    return labelsOf(this.schedule)
  }

  /** What the system does ends with the budget, even if it would last longer. */
  async #timely<Result>(work: () => Promise<Result>): Promise<Result> {
    const { processes } = this.system
    processes?.endBy(this.budget.deadline)
    try {
      return await work()
    } finally {
      processes?.endBy(Number.POSITIVE_INFINITY)
    }
  }

  #watch(findings: readonly Finding[]): void {
    this.#watchFindings(findings)
    const state = this.system.state()
    this.#carried.next(state, () => this.#where())
    for (const [name, property] of this.#liveness) {
      const holds = this.#holds(name, property, state)
      if (holds === true) this.lastLive.set(name, this.schedule.length)
      if (holds !== undefined) this.#heldAgain.see(name, holds, () => this.system.down?.() ?? [])
      if (property.when === undefined) this.#watchBound(name, property, holds)
      else this.#watchHealthy(name, property, holds)
    }
    for (const [name, property] of this.#goals)
      if (!this.#met.has(name) && this.#holds(name, property, state)) this.#met.add(name)
    this.#watchSafety(state)
    for (const each of this.#subjects) each.see(state)
    // The values that properties carry along are part of the fingerprint, so the properties are evaluated first.
    this.fingerprints.push(this.#fingerprint())
  }

  /** Equal for states that are equal to the system, and in the values that properties carry along. */
  #fingerprint(): string | undefined {
    const fingerprint = this.system.fingerprint()
    return fingerprint === undefined ? undefined : `${fingerprint}${this.#carried.outline()}`
  }

  /** A bound in time turns liveness into a safety property: the first step after the bound violates it. */
  #watchBound(name: string, { withinMs }: Property<State>, holds: boolean | undefined): void {
    const nowMs = withinMs === undefined ? undefined : this.system.nowMs?.()
    if (nowMs === undefined || withinMs === undefined) return
    const since = this.#notSince.get(name)
    if (since !== undefined && nowMs - since > withinMs)
      this.violation ??= {
        kind: 'safety',
        property: name,
        step: this.schedule.length,
        message: `${name} did not hold for ${inSeconds(nowMs - since)} ${this.#where()}, expected within ${inSeconds(withinMs)}`,
      }
    if (holds !== false) this.#notSince.delete(name)
    else if (since === undefined) this.#notSince.set(name, nowMs)
  }

  /** In a healthy network the bound is one on how long it may be false, or it never holds because nothing happens any more. */
  #watchHealthy(name: string, { withinMs }: Property<State>, holds: boolean | undefined): void {
    const healthyMs = this.system.healthyMs?.()
    if (healthyMs === undefined || this.broken || this.#heldHealthy.has(name)) return
    if (holds !== false) {
      this.#heldHealthy.add(name)
      return
    }
    const isOver = this.enabled().length === 0
    if (healthyMs <= withinMs! && !isOver) return
    const why = isOver ? 'nothing is left that could happen' : `it was false for ${inSeconds(healthyMs)}`
    this.violation ??= {
      kind: 'safety',
      property: name,
      step: this.schedule.length,
      message: `${name} did not come to hold by itself in a healthy network ${this.#where()}: ${why}, expected within ${inSeconds(withinMs!)}`,
    }
  }

  #watchSafety(state: State): void {
    for (const [name, property] of this.#safety) {
      if (this.violation) continue
      if (this.#holds(name, property, state) !== false) {
        this.#noteNearness(name, property, state)
        continue
      }
      const explanation = explanationOf(name, property, state, () => this.#where())
      this.violation = {
        kind: 'safety',
        property: name,
        step: this.schedule.length,
        message: `${name} does not hold ${this.#where()}${explanation === undefined ? '' : `: ${explanation}`}`,
      }
    }
  }

  #noteNearness(name: string, { nearness }: Property<State>, state: State): void {
    if (nearness === undefined) return
    const score = nearness(state, this.#carried.of(name))
    if (score > (this.nearest?.score ?? 0)) this.nearest = { score, step: this.schedule.length }
  }

  #watchFindings(findings: readonly Finding[]): void {
    const [finding] = findings
    if (!finding) return
    this.finding ??= {
      kind: finding.kind,
      property: undefined,
      step: this.schedule.length,
      message: `${finding.kind} of ${finding.node} ${this.#where()}: ${finding.message}`,
      ...(finding.bare && { bare: finding.bare }),
    }
    if (!this.#allowFindings) this.violation ??= this.finding
  }

  /**
   * `undefined` once the property could not be decided in this execution, because each further attempt would take just
   * as long.
   */
  #holds(name: string, property: Property<State>, state: State): boolean | undefined {
    if (this.undecided.has(name)) return undefined
    try {
      return evaluate(name, property, state, () => this.#where(), this.#carried.of(name))
    } catch (error) {
      if (!(error instanceof Undecided)) throw error
      this.undecided.set(name, `${name} could not be decided ${this.#where()}: ${error.message}`)
      return undefined
    }
  }

  #where(): string {
    const last = this.schedule.at(-1)
    return last ? `after step ${this.schedule.length} (${last.label})` : 'in the initial state'
  }
}
