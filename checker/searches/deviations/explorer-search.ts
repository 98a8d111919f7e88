import type { Properties } from '../../cells/executor.ts'
import type { NodeOutcome, NodeTask, TaskOutcome } from '../../cells/task.ts'
import { Diverged, UsageError } from '../../system/errors.ts'
import type { NodeEntry, Nodes } from '../../system/node-system.ts'
import { after, labelsTo, startAsOffered } from '../../system/start.ts'
import type { Experience } from '../experience.ts'
import { Begin } from '../local/beginning.ts'
import { ClientsAlone } from '../local/clients-alone.ts'
import { Retries } from '../local/retries.ts'
import { type LocalState, Table, type TableOptions } from '../local/table.ts'
import {
  Counted,
  type DeviationCoverage,
  type NodeExecution,
  type RequestedExecution,
  type Search,
  searchNames,
} from '../search.ts'
import { type Ask, Explorer, type ExplorerOrder, type Suspicion } from './explorer.ts'

export interface ExplorerSearchOptions<State> extends TableOptions {
  readonly nodes: Nodes<State>
  readonly properties: Properties<State>
  readonly order: ExplorerOrder
  readonly depthMax?: number | undefined
  readonly deviationsMax?: number | undefined
  readonly allowFindings?: boolean | undefined
  /** Whether it is one of several searches: if nodes cannot begin alone, it then comes to nothing, which is no error. */
  readonly isBeside?: boolean | undefined
}

/**
 * Ways that may come to nothing on the whole system: this many, and one more for each `inputsPerFailure` inputs that
 * nodes took. Each costs an execution. Nodes that behave differently when alone would make it thousands.
 */
const failuresMax = 20
const inputsPerFailure = 100
/** With fewer states of the system, hardly anything is known of their future. It is looked at again each time when they are twice as many. */
const pointsBeforeLook = 500
/** Steps in memory after which another search gets a turn, and the time is looked at. */
const transitionsPerTurn = 10_000

/**
 * The search by deviations, or consequence prediction, as one of the searches of a check. Nodes alone are executed as it needs them;
 * what it finds is executed on the whole system, and only that counts.
 */
export class ExplorerSearch<State> implements Search {
  readonly name: ExplorerOrder
  readonly #experience: Experience
  readonly #options: ExplorerSearchOptions<State>
  readonly #counted: Counted
  readonly #begin: Begin
  readonly #table: Table
  readonly #asks = new Map<NodeExecution, Ask | 'begin' | 'pause'>()
  readonly #retries = new Retries()
  /** What the whole system has still to execute. */
  readonly #suspected: Suspicion[] = []
  readonly #suspicions = new Map<RequestedExecution, Suspicion>()
  #explorer: Explorer<State> | undefined
  /** Ways that came to nothing on the whole system. */
  #failures = 0
  /** Number of states of the system at which those without a future are looked for next. */
  #looksAt = pointsBeforeLook
  readonly #clients = new ClientsAlone()
  /** Whether it was ended, or the nodes cannot begin alone. */
  #isOver = false
  /** Why it was ended. */
  whyEnded: string | undefined

  constructor(experience: Experience, options: ExplorerSearchOptions<State>) {
    const { nodes, order } = options
    this.name = order
    this.#experience = experience
    this.#options = options
    this.#counted = new Counted(order, experience.met)
    this.#begin = new Begin(nodes.names, labelsTo(experience.begin))
    this.#table = new Table(nodes.names, options)
  }

  next(): RequestedExecution | NodeExecution | undefined {
    if (this.#isOver) return undefined
    const again = this.#retries.next()
    if (again) return again
    if (!this.#begin.isDone) {
      const task = this.#beginning(() => this.#begin.next())
      return task && this.#ask(task, 'begin')
    }
    const explorer = this.#explorer!
    const before = explorer.transitions
    const ask = explorer.next(transitionsPerTurn)
    if (ask) return this.#ask(this.#taskOf(ask.state, [ask.input]), ask)
    if (explorer.points >= this.#looksAt || explorer.isFollowed) {
      explorer.lookForHopeless()
      this.#looksAt = 2 * explorer.points
    }
    for (const suspicion of explorer.takeSuspicions()) if (this.#mayFail) this.#suspected.push(suspicion)
    const suspicion = this.#suspected.shift()
    if (suspicion) return this.#execute(suspicion)
    if (explorer.isDone || this.#asks.size > 0) return undefined
    // The node stays where it is.
    return explorer.transitions > before ? this.#ask(this.#taskOf(explorer.root, []), 'pause') : undefined
  }

  learn(execution: RequestedExecution, came: TaskOutcome | Diverged): void {
    const suspicion = this.#suspicions.get(execution)
    this.#suspicions.delete(execution)
    if (!(came instanceof Diverged)) this.#counted.count(came)
    const isReal = !(came instanceof Diverged) && (came.violation ?? came.finding) !== undefined
    if (!isReal && suspicion?.kind !== 'dead') this.#failures += 1
  }

  learnAlone(execution: NodeExecution, came: NodeOutcome | Diverged): void {
    const ask = this.#asks.get(execution)!
    if (!this.#isOver && came instanceof Diverged && this.#retries.again(execution)) return
    this.#asks.delete(execution)
    if (this.#isOver) this.#asks.clear()
    if (this.#isOver || ask === 'pause') return
    if (ask === 'begin') {
      this.#beginning(() => this.#learnBegin(came))
      return
    }
    // What cannot be repeated is left out.
    if (!(came instanceof Diverged)) this.#clients.learn(ask.state.node, ask.input, came)
    this.#explorer!.learn(ask, came instanceof Diverged ? undefined : came.last)
  }

  /** Gives it up: the system cannot be searched so. */
  end(why: string): void {
    this.#isOver = true
    this.whyEnded ??= why
  }

  /** Whether it waits for the outcome of an input. */
  get isWaiting(): boolean {
    return this.#asks.size > 0
  }

  /** Whether nothing is left to do. */
  get isDone(): boolean {
    if (this.#asks.size > 0 || this.#suspected.length > 0 || this.#suspicions.size > 0) return false
    return this.#isOver || this.#explorer?.isDone === true
  }

  coverage() {
    return this.#counted.coverage
  }

  /** Its figures. */
  get explored(): DeviationCoverage {
    const {
      transitions = 0,
      asked = 0,
      points = 0,
      depth = 0,
      deviations = 0,
      hasLeftOut = false,
    } = this.#explorer ?? {}
    const exhausted = !hasLeftOut && this.#explorer?.isDone === true && this.#asks.size === 0
    return { transitions, executed: asked, localStates: this.#table.size, states: points, depth, deviations, exhausted }
  }

  /** What a reader must know to trust the result. */
  get notes(): string[] {
    const undecided = this.#explorer?.undecided ?? new Map<string, string>()
    return [
      ...[...undecided].map(([name, why]) => `${name} was not evaluated in ${searchNames[this.name]}: ${why}`),
      ...this.#clients.notesOf(this.name),
      ...(this.#failures > 0
        ? [`${this.#failures} ways that seemed possible for single nodes violated nothing in the whole system`]
        : []),
      ...(this.#explorer?.hasLeftOut
        ? [`states of the system were left out of ${searchNames[this.name]}, because there were too many`]
        : []),
    ]
  }

  get #mayFail(): boolean {
    return this.#failures < failuresMax + (this.#explorer?.asked ?? 0) / inputsPerFailure
  }

  #ask(task: NodeTask, ask: Ask | 'begin' | 'pause'): NodeExecution {
    const execution = { search: this.name, variant: 0, task }
    this.#asks.set(execution, ask)
    return execution
  }

  #taskOf(state: LocalState, more: readonly NodeEntry[]): NodeTask {
    const node = this.#options.nodes.names[state.node]!
    const inputs = [...this.#begin.inputsOf(state.node), ...this.#table.inputsTo(state), ...more]
    return { start: { at: 'node', node, after: this.#begin.after, inputs } }
  }

  /** Does a part of the beginning. */
  #beginning<Result>(work: () => Result): Result | undefined {
    try {
      return work()
    } catch (error) {
      if (!this.#options.isBeside || !(error instanceof Diverged || error instanceof UsageError)) throw error
      this.#isOver = true
      return undefined
    }
  }

  #learnBegin(came: NodeOutcome | Diverged): void {
    if (came instanceof Diverged) throw came
    this.#begin.learn(came.last)
    if (!this.#begin.isDone) return
    const roots = this.#begin.nodes.map(({ sight }, node) => this.#table.begin(node, sight))
    this.#explorer = new Explorer({ ...this.#options, table: this.#table }, roots, this.#begin.before)
  }

  #execute(suspicion: Suspicion): RequestedExecution {
    const { labels, kind } = suspicion
    const whole = after(this.#experience.begin, labels)
    const start = labels.length === 0 ? whole : startAsOffered(labelsTo(whole))
    const asked = this.#experience.executionOf({ search: this.name, start, walks: () => [] })
    const { untilLive, surprises: _, healthy: __, ...task } = asked.task
    const execution = { ...asked, isGuess: true, task: { ...task, ...(kind === 'dead' && untilLive && { untilLive }) } }
    this.#suspicions.set(execution, suspicion)
    return execution
  }
}
