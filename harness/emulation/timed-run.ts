import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { Mark } from '../../checker/cells/executor.ts'
import type { Violation } from '../../checker/cells/violation.ts'
import { due } from '../../checker/choosers/due.ts'
import { BudgetSpent } from '../../checker/system/budget.ts'
import { UsageError } from '../../checker/system/errors.ts'
import type { RecordedStep } from '../../checker/trace/trace.ts'
import type { ForwardedCounts } from '../../proxy/forwarding/counters.ts'
import type { ChurnEvent } from '../../topologies/churn/plan.ts'
import type { VisitorListener } from '../clients/visitors.ts'
import type { Cluster } from '../cluster.ts'
import type { ExecResult, ResolvedSystem } from '../config/config.ts'
import { notSteered, type SteeringCounts } from '../steering/counts.ts'
import type { Filters } from '../steering/filters.ts'
import { ImmediateCheck, type ImmediateCheckListener, type ImmediateCheckOptions } from '../steering/immediate-check.ts'
import { LiveExecution, type Reader } from '../steering/live-execution.ts'
import type { PredictionCounts } from '../steering/predictor.ts'
import { Preventions } from '../steering/repeated.ts'
import { Rounds } from '../steering/rounds.ts'
import { type OnSteered, Steering } from '../steering/steering.ts'
import { Measurements } from '../timed/measurements.ts'
import type { Happening, Pace, RunSoFar } from '../timed/timing.ts'
import { Requests } from './requests.ts'
import type { EndedCall, Run, RunningNode, RunProgress } from './run.ts'
import { RunLog } from './run-log.ts'

export interface TimedRunOptions {
  readonly pace: Pace
  readonly forMs: number
  readonly lookEveryMs: number
  readonly joined: ConstructorParameters<typeof Measurements>[1]
  readonly progress: RunProgress
  readonly reader: Reader
  /** Receives what nodes answer to visitors. */
  readonly outside?: VisitorListener | undefined
  /** Searches from states of the run while it stands still. */
  readonly besides:
    | {
        readonly everyMs: number
        /** Whether searches go on after a violation. */
        readonly goesOn?: boolean
        /** Whether a search waits until no client is in a call, at most until the next search is due. */
        readonly waitsForCalls?: boolean
        /** Counts of its predictions; absent if it predicts nothing. */
        readonly counts?: PredictionCounts
        search(from: {
          readonly step: number
          readonly atMs: number
          readonly labels: readonly string[]
          /** What is known in the present state. */
          readonly state: () => Mark
          readonly soFar: RunSoFar
        }): Promise<void>
      }
    | undefined
  /** Predicts beside the run, which does not wait for it. */
  readonly following?: { readonly counts: PredictionCounts; readonly behindMs: number } | undefined
  /** Prevents violations: all, or the known bugs of a guard. */
  readonly immediate?: ImmediateCheckOptions | undefined
  /** Keeps from happening what is predicted to lead to violations. */
  readonly predicted?: { readonly filters: Filters; readonly onSteered: OnSteered } | undefined
  /** Called with each step when it is executed. */
  readonly onStep: (step: RecordedStep) => void
}

/** A run at the pace `virtual` or `real`: time decides what is executed next. */
export class TimedRun implements Run {
  readonly measurements: Measurements
  /** How many milliseconds each step was late; empty at the pace `virtual`. */
  readonly lateMs: number[] = []
  readonly #cluster: Cluster
  readonly #options: TimedRunOptions
  readonly #live: LiveExecution
  readonly #steers: Steering
  readonly #requests: Requests
  readonly #log: RunLog
  #steering: SteeringCounts | undefined
  readonly #repeated = new Preventions()
  #nextLookMs: number
  readonly #rounds: Rounds | undefined
  /** The step from which it was last searched. */
  #searched = -1
  #begun = performance.now()
  #wake: () => void = () => undefined

  constructor(cluster: Cluster, system: ResolvedSystem, options: TimedRunOptions) {
    this.#cluster = cluster
    this.#options = options
    this.#nextLookMs = options.lookEveryMs
    const { besides } = options
    this.#rounds = besides && new Rounds(besides.everyMs, besides.waitsForCalls ?? false)
    this.measurements = new Measurements(system, options.joined)
    this.#log = new RunLog(system, this.measurements)
    this.#requests = new Requests(cluster, options.pace)
    this.#requests.onRequest = () => this.#wake()
    const { reader, outside, immediate, predicted } = options
    const tell = (step: RecordedStep) => this.#see(step)
    const marks = immediate === undefined ? 'never' : immediate.guard ? 'on request' : 'regularly'
    this.#live = new LiveExecution(cluster, system, { reader, tell, outside, marks })
    this.#steering = immediate || predicted ? notSteered : undefined
    const check =
      immediate &&
      new ImmediateCheck(this.#live, system, { ...immediate, listener: this.#counting(immediate.listener) })
    const onSteered: OnSteered = (...about) => {
      this.#count('steered')
      this.#repeated.see(about[2].label)
      predicted?.onSteered(...about)
    }
    this.#steers = new Steering(this.#live, { check, filters: predicted?.filters, onSteered })
  }

  get elapsedMs(): number {
    return this.#cluster.running.time?.nowMs ?? 0
  }

  get nodes(): readonly RunningNode[] {
    const { addresses } = this.#cluster
    return this.#cluster.views.map(({ name, alive }) => ({
      name,
      address: addresses[name]!,
      isAlive: alive,
      isCut: this.#cluster.running.time?.isUnplugged(name) ?? false,
    }))
  }

  get ways() {
    return this.#cluster.running.time?.settings() ?? []
  }

  get links() {
    return this.#cluster.running.time?.linkChanges ?? []
  }

  get groups() {
    return this.#cluster.running.time?.groups ?? null
  }

  get calls() {
    return this.#cluster.state().calls.filter(({ client }) => this.#log.isClient(client))
  }

  get timed(): readonly EndedCall[] {
    return this.#log.timed
  }

  /** What steering has kept from happening again and again, one sentence each. */
  get preventedAgain(): readonly string[] {
    return this.#repeated.notes
  }

  /** Which nodes are not ready, one sentence each. */
  get notReady(): readonly string[] {
    return this.#cluster.running.notReady
  }

  get counts(): ForwardedCounts {
    return this.#cluster.running.packets
  }

  get steering(): SteeringCounts | undefined {
    return this.#steering && { ...this.#steering, predicted: this.prediction?.predicted ?? 0 }
  }

  get prediction(): Run['prediction'] {
    const { besides, following } = this.#options
    const counts = following?.counts ?? besides?.counts
    return counts && { ...counts, behindMs: following?.behindMs ?? 0 }
  }

  get steps(): number {
    return this.#live.steps
  }

  /** When each step was executed, the start first, ms. */
  get timesMs(): readonly number[] {
    return this.#live.timesMs
  }

  get labels(): readonly string[] {
    return this.#live.labels
  }

  /** The first safety violation, crash or divergence. */
  get violation(): Violation | undefined {
    return this.#live.violation
  }

  /** Hash over labels, times, outputs and states: equal for equal runs. */
  digest(): string {
    return this.#log.digest()
  }

  /** Runs until its time is over, somebody ends it, or a node crashed. */
  async run(signal: AbortSignal): Promise<void> {
    const { forMs } = this.#options
    const wake = () => this.#wake()
    signal.addEventListener('abort', wake)
    try {
      await this.#live.begin()
      this.#begun = performance.now()
      while (!signal.aborted && !this.#live.isBroken) {
        this.#takeRequests()
        const next = due(this.#live.enabled())
        const dueMs = Math.max(next?.due ?? Number.POSITIVE_INFINITY, this.elapsedMs)
        const plannedMs = this.#requests.planned.nextMs
        const untilMs = Math.min(dueMs, plannedMs, forMs)
        if (!(await this.#waitUntil(untilMs, signal))) continue
        this.#lookUntil(untilMs)
        await this.#searchUntil(untilMs)
        if (plannedMs === untilMs && plannedMs < forMs) {
          this.#cluster.running.time!.pass(plannedMs)
          this.#requests.makePlannedDue(plannedMs)
          continue
        }
        if (next === undefined || dueMs >= forMs) break
        if (this.#options.pace === 'real') this.#beLate(dueMs)
        await this.#steers.execute(next, next.due!)
        await this.#live.keepPlace()
      }
      if (!signal.aborted && !this.#live.isBroken) this.#cluster.running.time!.pass(forMs)
    } catch (error) {
      // Interrupted in the middle of a step. What was seen before counts.
      if (!(error instanceof BudgetSpent)) throw error
    } finally {
      signal.removeEventListener('abort', wake)
      this.#requests.close()
    }
  }

  /** Makes something happen at the present time, as part of the run. */
  act(happening: Happening): Promise<void> {
    return this.#requests.act(happening)
  }

  get planned(): readonly ChurnEvent[] {
    return this.#requests.planned.all
  }

  plan(events: readonly ChurnEvent[]): void {
    this.#requests.plan(events, this.elapsedMs)
  }

  exec(node: string, command: readonly string[]): Promise<ExecResult> {
    return this.#requests.exec(node, command)
  }

  async add(name: string): Promise<void> {
    throw new UsageError(
      `${name} cannot be added at the pace ${this.#options.pace}, for a replay has the nodes of the configuration: expected --pace native, or a node that emulation.initial leaves out, and control join`,
    )
  }

  terminal(node: string): never {
    throw new UsageError(
      `a terminal in ${node} is there at the pace native alone: at ${this.#options.pace} a program runs within one step, in which nobody can type`,
    )
  }

  #counting(listener: ImmediateCheckListener): ImmediateCheckListener {
    return {
      onPrevented: (...about) => {
        this.#count('immediate')
        this.#repeated.see(about[0].label)
        listener.onPrevented(...about)
      },
      onMissed: (...about) => {
        this.#count('missed')
        listener.onMissed(...about)
      },
    }
  }

  #count(what: keyof SteeringCounts): void {
    const counts = this.#steering!
    this.#steering = { ...counts, [what]: counts[what] + 1 }
  }

  #takeRequests(): void {
    if (!this.#requests.isPending) return
    if (this.#options.pace === 'real') this.#cluster.running.time!.pass(this.#wallMs())
    this.#requests.makeDue()
  }

  /** At the pace `real`, waits for the clock. Returns false if a request came first. */
  async #waitUntil(atMs: number, signal: AbortSignal): Promise<boolean> {
    if (this.#options.pace === 'virtual') return true
    const wait = atMs - this.#wallMs()
    // Requests must be heard even if every step is late and nothing ever waits.
    if (wait <= 0) {
      await nextTurn()
      return !this.#requests.isPending && !signal.aborted
    }
    if (this.#requests.isPending) return false
    const woken = new AbortController()
    this.#wake = () => woken.abort()
    const isOver = await sleep(wait, true, { signal: woken.signal }).catch(() => false)
    this.#wake = () => undefined
    return isOver
  }

  #wallMs(): number {
    return performance.now() - this.#begun
  }

  #beLate(dueMs: number): void {
    const now = this.#wallMs()
    this.lateMs.push(Math.max(0, now - dueMs))
    this.#cluster.running.time!.pass(now)
  }

  /** Nothing changes between two steps, so due looks happen before the next step. */
  #lookUntil(atMs: number): void {
    const { lookEveryMs, progress } = this.#options
    for (; this.#nextLookMs <= atMs; this.#nextLookMs += lookEveryMs) {
      const look = { state: this.#cluster.state(), stillMs: 0, outputs: [], unseen: [] }
      const values = this.measurements.looked(look, this.#nextLookMs, this.#live.values)
      this.measurements.loads.looked(this.#nextLookMs, this.#cluster.running.time!.carried)
      progress.update(look, this.#nextLookMs, values)
    }
  }

  /** Searches from the present state, once for each state. The run stands still meanwhile and is not affected. */
  async #searchUntil(atMs: number): Promise<void> {
    const { besides } = this.#options
    const rounds = this.#rounds
    if (besides === undefined || !rounds?.isDue(atMs, () => this.#cluster.running.isInCall)) return
    const searchedMs = Math.max(rounds.nextMs, this.elapsedMs)
    rounds.begin(atMs)
    const isOver = this.violation !== undefined && !besides.goesOn
    if (isOver || this.#searched === this.steps) return
    this.#searched = this.steps
    const state = () => this.#live.mark()
    const { labels, soFar } = this.#live
    await besides.search({ step: this.steps, atMs: searchedMs, labels, state, soFar })
  }

  #see(step: RecordedStep): void {
    this.#options.onStep(step)
    if (step.index === 0) this.#noteStart()
    this.#log.see(step, this.#cluster.running.happened)
    this.measurements.stepped(this.#cluster.state().nodes, step.atMs ?? 0)
    this.#requests.afterStep()
  }

  #noteStart(): void {
    const there = this.nodes.filter(({ isAlive }) => isAlive)
    this.#options.progress.start(there.length, this.nodes.length)
    for (const { name } of there) this.measurements.started(name, 0)
  }
}
