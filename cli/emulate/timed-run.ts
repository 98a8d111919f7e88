import { createHash } from 'node:crypto'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import { BudgetSpent } from '../../checker/budget.ts'
import { Executor } from '../../checker/cells/executor.ts'
import type { Violation } from '../../checker/cells/violation.ts'
import { due } from '../../checker/choosers/due.ts'
import { UsageError } from '../../checker/errors.ts'
import type { RecordedStep } from '../../checker/trace/trace.ts'
import { execOf } from '../../harness/clients/clients.ts'
import { noNode } from '../../harness/clients/state.ts'
import type { Cluster } from '../../harness/cluster.ts'
import type { ClientCall, ExecResult, GlobalState, ResolvedSystem } from '../../harness/config.ts'
import { type Happening, isHarm, isVisit, nodeOf, sentenceOf } from '../../harness/timed/action.ts'
import { Measurements } from '../../harness/timed/measurements.ts'
import type { TimedAction } from '../../harness/timed/timing.ts'
import type { Counts } from '../../proxy/forwarding/counters.ts'
import { StepReader } from '../traces/step-reader.ts'
import type { Progress, Run, RunningNode, TimedCall } from './run.ts'
import type { SearchBesides } from './search-besides.ts'

export interface TimedRunOptions {
  readonly pace: 'virtual' | 'real'
  readonly forMs: number
  readonly lookEveryMs: number
  readonly joined: ConstructorParameters<typeof Measurements>[1]
  readonly progress: Progress
  /** Searches from states of the run while it stands still. */
  readonly besides: Pick<SearchBesides, 'everyMs' | 'search'> | undefined
  /** Called with each step when it is executed. */
  readonly onStep: (step: RecordedStep) => void
}

/** Somebody who waits until an action was executed. */
interface Asked {
  readonly action: TimedAction
  readonly done: () => void
}

/** Somebody who waits until a call ends. */
interface Awaited {
  readonly client: string
  readonly ordinal: number
  readonly tell: (call: ClientCall | undefined) => void
}

/** A run at the pace `virtual` or `real`: time decides what is executed next. */
export class TimedRun implements Run {
  readonly measurements: Measurements
  readonly timed: TimedCall[] = []
  /** How many milliseconds each step was late; empty at the pace `virtual`. */
  readonly lateMs: number[] = []
  readonly #cluster: Cluster
  readonly #options: TimedRunOptions
  readonly #executor: Executor<GlobalState>
  readonly #reader: StepReader
  readonly #hash = createHash('sha256')
  /** Actions that were requested and are not yet part of the run. */
  readonly #requests: { readonly action: Happening; readonly done: () => void }[] = []
  readonly #asked: Asked[] = []
  #awaited: Awaited[] = []
  /** By client, the number of programs run in its node. */
  readonly #programs = new Map<string, number>()
  readonly #clients: ReadonlySet<string>
  /** By client, when its current call began. */
  readonly #began = new Map<string, number>()
  #nextLookMs: number
  #nextSearchMs: number
  /** The step from which it was last searched. */
  #searched = -1
  #begun = performance.now()
  #wake: () => void = () => undefined

  constructor(cluster: Cluster, system: ResolvedSystem, options: TimedRunOptions) {
    this.#cluster = cluster
    this.#options = options
    this.#clients = new Set(system.clients.map(({ name }) => name))
    this.#nextLookMs = options.lookEveryMs
    this.#nextSearchMs = options.besides?.everyMs ?? Number.POSITIVE_INFINITY
    this.measurements = new Measurements(system.properties, options.joined)
    this.#reader = new StepReader(cluster, system.properties)
    const observer = this.#reader.observer(step => this.#see(step))
    this.#executor = new Executor(cluster, system.properties, { observer })
  }

  get elapsedMs(): number {
    return this.#cluster.time?.nowMs ?? 0
  }

  get nodes(): readonly RunningNode[] {
    return this.#cluster.state().nodes.map(({ name, alive }) => ({
      name,
      address: this.#cluster.addresses[name]!,
      isAlive: alive,
      isCut: this.#cluster.time?.isUnplugged(name) ?? false,
    }))
  }

  get ways() {
    return this.#cluster.time?.settings() ?? []
  }

  get groups() {
    return this.#cluster.time?.groups ?? null
  }

  get calls() {
    return this.#cluster.state().calls.filter(({ client }) => this.#clients.has(client))
  }

  get counts(): Counts {
    return this.#cluster.packets
  }

  get steps(): number {
    return this.#executor.schedule.length
  }

  get labels(): readonly string[] {
    return this.#executor.labels()
  }

  /** The first safety violation, crash or divergence. */
  get violation(): Violation | undefined {
    return this.#executor.violation
  }

  /** Hash over labels, times, outputs and states: equal for equal runs. */
  digest(): string {
    return this.#hash.copy().digest('hex')
  }

  /** Runs until its time is over, somebody ends it, or a node crashed. */
  async run(signal: AbortSignal): Promise<void> {
    const { forMs } = this.#options
    const wake = () => this.#wake()
    signal.addEventListener('abort', wake)
    try {
      await this.#executor.reset()
      this.#begun = performance.now()
      while (!signal.aborted && !this.#executor.broken) {
        this.#takeRequests()
        const next = due(this.#executor.enabled())
        const dueMs = Math.max(next?.due ?? Number.POSITIVE_INFINITY, this.elapsedMs)
        if (!(await this.#waitUntil(Math.min(dueMs, forMs), signal))) continue
        this.#lookUntil(Math.min(dueMs, forMs))
        await this.#searchUntil(Math.min(dueMs, forMs))
        if (next === undefined || dueMs >= forMs) break
        if (this.#options.pace === 'real') this.#beLate(dueMs)
        await this.#executor.execute(next)
      }
      if (!signal.aborted && !this.#executor.broken) this.#cluster.time!.pass(forMs)
    } catch (error) {
      // Interrupted in the middle of a step. What was seen before counts.
      if (!(error instanceof BudgetSpent)) throw error
    } finally {
      signal.removeEventListener('abort', wake)
      for (const { done } of [...this.#asked.splice(0), ...this.#requests.splice(0)]) done()
      for (const { tell } of this.#awaited.splice(0)) tell(undefined)
    }
  }

  /** Executes an action at the present time, as part of the run. */
  async act(action: Happening): Promise<void> {
    const names = this.#cluster.state().nodes.map(({ name }) => ({ name }))
    for (const name of namesIn(action))
      if (!names.some(each => each.name === name)) throw new UsageError(noNode(name, names))
    if (action.does === 'link') this.#cluster.time!.requireLink(action)
    if (action.does === 'set' && action.ways.some(({ pipe }) => (pipe?.duplicate ?? 0) > 0))
      throw new UsageError(
        `packets come twice (--duplicate) at the pace native alone, this run is at ${this.#options.pace}`,
      )
    await new Promise<void>(done => {
      this.#requests.push({ action, done })
      this.#wake()
    })
  }

  /** Runs a program in a node like a client call, so that a replay of the run repeats it. */
  async exec(node: string, command: readonly string[]): Promise<ExecResult> {
    const client = execOf(node)
    // If several programs wait in one node, each gets its own answer.
    const ordinal = 1 + (this.#programs.get(client) ?? 0)
    this.#programs.set(client, ordinal)
    const over = new Promise<ClientCall | undefined>(tell => this.#awaited.push({ client, ordinal, tell }))
    await this.act({ does: 'exec', node, command })
    const call = await over
    if (call === undefined) throw new UsageError(`the run was over before ${command.join(' ')} was`)
    if (call.error !== undefined) throw new UsageError(call.error)
    return call.value as ExecResult
  }

  /** Between two steps: makes the actions requested meanwhile due now. */
  #takeRequests(): void {
    if (this.#requests.length === 0) return
    if (this.#options.pace === 'real') this.#cluster.time!.pass(this.#wallMs())
    for (const { action, done } of this.#requests.splice(0))
      this.#asked.push({ action: this.#cluster.time!.ask(action), done })
    this.#cluster.lookAgain()
  }

  /** At the pace `real`, waits for the clock. Returns false if a request came first. */
  async #waitUntil(atMs: number, signal: AbortSignal): Promise<boolean> {
    if (this.#options.pace === 'virtual') return true
    const wait = atMs - this.#wallMs()
    // Requests must be heard even if every step is late and nothing ever waits.
    if (wait <= 0) {
      await nextTurn()
      return this.#requests.length === 0 && !signal.aborted
    }
    if (this.#requests.length > 0) return false
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
    this.#cluster.time!.pass(now)
  }

  /** Nothing changes between two steps, so due looks happen before the next step. */
  #lookUntil(atMs: number): void {
    const { lookEveryMs, progress } = this.#options
    for (; this.#nextLookMs <= atMs; this.#nextLookMs += lookEveryMs) {
      const look = { state: this.#cluster.state(), stillMs: 0, outputs: [], unseen: [] }
      const values = this.measurements.looked(look, this.#nextLookMs, this.#reader.values)
      progress.update(look, this.#nextLookMs, values)
    }
  }

  /** Searches from the present state, once for each state. The run stands still meanwhile and is not affected. */
  async #searchUntil(atMs: number): Promise<void> {
    const { besides } = this.#options
    if (besides === undefined || this.#nextSearchMs > atMs) return
    const searchedMs = this.#nextSearchMs
    while (this.#nextSearchMs <= atMs) this.#nextSearchMs += besides.everyMs
    if (this.violation || this.#searched === this.steps) return
    this.#searched = this.steps
    await besides.search({ step: this.steps, atMs: searchedMs })
  }

  #see(step: RecordedStep): void {
    this.#options.onStep(step)
    const { index, choice, atMs = 0, outputs, states, properties } = step
    for (const value of properties) this.measurements.changed(value, atMs)
    const written = outputs.map(({ node, stream, bytes }) => [node, stream, Buffer.from(bytes).toString('latin1')])
    this.#hash.update(`${JSON.stringify([index, choice?.label, atMs, written, states])}\n`)
    if (index === 0) {
      this.#options.progress.start(this.nodes.filter(({ isAlive }) => isAlive).length, this.nodes.length)
      for (const { name, isAlive } of this.nodes) if (isAlive) this.measurements.started(name, 0)
    }
    this.#noteCalls(step, atMs)
    this.#noteHappening(step, atMs)
    this.#tellAwaited()
  }

  /** Reports programs that have ended in nodes. */
  #tellAwaited(): void {
    if (this.#awaited.length === 0) return
    const over = this.#cluster.state().calls.filter(({ completedAt }) => completedAt !== undefined)
    this.#awaited = this.#awaited.filter(({ client, ordinal, tell }) => {
      const call = over.find(each => each.client === client && each.ordinal === ordinal)
      if (call) tell(call)
      return call === undefined
    })
  }

  #noteCalls({ calls = [] }: RecordedStep, atMs: number): void {
    for (const { client, hasEnded, error } of calls) {
      const began = this.#began.get(client) ?? atMs
      if (!this.#clients.has(client)) continue
      if (!hasEnded) this.#began.set(client, atMs)
      else {
        this.#began.delete(client)
        this.timed.push({ client, tookMs: atMs - began, isOk: error === undefined })
      }
    }
  }

  #noteHappening({ findings }: RecordedStep, atMs: number): void {
    const happened = this.#cluster.happened
    if (happened) {
      const node = nodeOf(happened)
      const kind = isHarm(happened) ? 'fault' : 'repair'
      if (!isVisit(happened) && happened.does !== 'exec')
        this.measurements.happened({ atMs, kind, label: sentenceOf(happened), node, isCrash: false })
      if (happened.does === 'join' || happened.does === 'restart') this.measurements.started(happened.node, atMs)
      const index = this.#asked.findIndex(({ action }) => action === happened)
      for (const { done } of index < 0 ? [] : this.#asked.splice(index, 1)) done()
    }
    for (const { node, message } of findings)
      this.measurements.happened({ atMs, kind: 'fault', label: message, node, isCrash: true })
  }
}

const namesIn = (action: Happening): readonly string[] => {
  switch (action.does) {
    case 'partition':
      return action.groups.flat()
    case 'heal':
    case 'link':
      return []
    case 'reset':
      return [action.node, action.peer]
    case 'set':
      return action.ways.flatMap(({ from, to }) => [from, to])
    default:
      return [action.node]
  }
}
