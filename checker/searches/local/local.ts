import type { Properties } from '../../cells/executor.ts'
import type { NodeOutcome, NodeTask, TaskOutcome } from '../../cells/task.ts'
import { Diverged, Unfaithful } from '../../system/errors.ts'
import { readLabel } from '../../system/labels.ts'
import { labelOfEntry, type NodeInput, type Nodes } from '../../system/node-system.ts'
import { after, labelsTo, type Start, startAsOffered } from '../../system/start.ts'
import type { Experience } from '../experience.ts'
import { Counted, type LocalCoverage, type NodeExecution, type RequestedExecution, type Search } from '../search.ts'
import { Begin } from './beginning.ts'
import { ClientsAlone } from './clients-alone.ts'
import { Combined, type Combining } from './combined.ts'
import { orderTo } from './order.ts'
import { Retries } from './retries.ts'
import { Space, type SpaceState, type StateCut, type Transition } from './space.ts'
import { type InputOutcome, Table } from './table.ts'

export interface LocalOptions<State> {
  readonly nodes: Nodes<State>
  /** Only the safety properties are evaluated. */
  readonly properties: Properties<State>
  /** `differing` by default. */
  readonly combining?: Combining | undefined
  /** At most this many combinations with one kind of states are evaluated; 1,000 by default. */
  readonly evaluationsMax?: number | undefined
}

const evaluationsMaxUsual = 1_000
/**
 * The search ends after this many orders that the whole system could not execute or that violated nothing. This many
 * failures show that the nodes behave differently when alone.
 */
const failuresMax = 50
/** Remembered inputs after which another search gets a turn, and the time is looked at. */
const rememberedMax = 1_000
/** At most this many kinds of crashes and divergences are executed on the whole system. Each costs an execution. */
const findingsMax = 16

/** Why an execution of a node was requested. */
type Purpose = { readonly is: 'begin' | 'pause' } | { readonly is: 'transition'; readonly transition: Transition }

/**
 * Local model checking (Guerraoui and Yabandeh, 2011). Every node is executed alone, and its states are combined into
 * states of the system only to evaluate properties. A combination that violates one is real only if its states occur in
 * one execution. So an order of their inputs is looked for, and the whole system executes it. Only that execution
 * decides.
 */
export class LocalSearch<State> implements Search {
  readonly name = 'local'
  readonly #experience: Experience
  readonly #options: LocalOptions<State>
  readonly #counted: Counted
  readonly #begin: Begin
  readonly #table: Table
  readonly #combined: readonly Combined<State>[]
  readonly #purposes = new Map<NodeExecution, Purpose>()
  readonly #retries = new Retries()
  #space: Space | undefined
  /** Ends of orders for the whole system to execute. */
  readonly #orders: Start[] = []
  readonly #ordered = new Set<string>()
  /** Kinds of crashes and divergences that were examined. Each kind is examined once. */
  readonly #endings = new Set<string>()
  #soundnessChecks = 0
  /** Orders that the whole system could not execute, or in which nothing was violated. */
  #failures = 0
  /** Executions of nodes that came to another result when repeated. */
  #notRepeated = 0
  /** Inputs without a known outcome, because each attempt was disturbed. */
  #unknown = 0
  readonly #clients = new ClientsAlone()
  /** Inputs that processes were given. */
  #executed = 0

  constructor(experience: Experience, options: LocalOptions<State>) {
    const { nodes, properties, combining = 'differing', evaluationsMax = evaluationsMaxUsual } = options
    this.#experience = experience
    this.#options = options
    this.#counted = new Counted('local', experience.met)
    this.#begin = new Begin(nodes.names, labelsTo(experience.begin))
    this.#table = new Table(nodes.names, { byHistory: nodes.abstraction === 'history' })
    const isPossible = (one: SpaceState, other: SpaceState) => this.#space!.isPossible(one, other)
    this.#combined = Object.entries(properties)
      .filter(([, { kind }]) => kind === 'always')
      .map(([name, property]) => new Combined({ name, property, nodes, combining, evaluationsMax, isPossible }))
  }

  next(): RequestedExecution | NodeExecution | undefined {
    const order = this.#orders.shift()
    if (order) return this.#orderTo(order)
    const again = this.#retries.next()
    if (again) return again
    if (this.#failures >= failuresMax) return undefined
    if (!this.#begin.isDone) {
      const task = this.#begin.next()
      return task && this.#ask(task, { is: 'begin' })
    }
    for (let remembered = 0; this.#orders.length === 0; remembered++) {
      if (remembered === rememberedMax) return this.#ask(this.#taskOf(this.#space!.roots[0]!, []), { is: 'pause' })
      const transition = this.#space!.next()
      if (transition === undefined) break
      const { from, input } = transition
      const outcome = this.#table.get(from.looks, input)
      if (outcome === undefined) return this.#ask(this.#taskOf(from, [input]), { is: 'transition', transition })
      this.#arrive(transition, outcome)
    }
    const grown = this.#orders.length === 0 ? this.#space!.takeGrown() : []
    for (const state of grown) this.#suspect(combined => combined.suspectsWith(state))
    return grown.length > 0 || this.#orders.length > 0 ? this.next() : undefined
  }

  /** Learns what an order led to in the whole system. */
  learn({ task: { start } }: RequestedExecution, came: TaskOutcome | Diverged): void {
    if (came instanceof Diverged && start.at === 'schedule' && !start.isLenient) {
      // After a connection was reset, messages may have other numbers in the whole system. Try it again leniently.
      this.#orders.push(startAsOffered(start.labels))
      return
    }
    if (!(came instanceof Diverged)) this.#counted.count(came)
    if (came instanceof Diverged || !(came.violation ?? came.finding)) this.#failures += 1
  }

  learnAlone(execution: NodeExecution, came: NodeOutcome | Diverged): void {
    const purpose = this.#purposes.get(execution)!
    if (came instanceof Diverged) return this.#retry(execution, purpose, came)
    this.#purposes.delete(execution)
    if (purpose.is === 'begin') this.#learnBegin(came)
    if (purpose.is !== 'transition') return
    const { from, input } = purpose.transition
    this.#executed += 1
    this.#clients.learn(from.node, input, came)
    this.#arrive(purpose.transition, this.#table.learn(from.looks, input, came.last))
  }

  coverage() {
    return this.#counted.coverage
  }

  get local(): LocalCoverage {
    const left = this.#combined.reduce((sum, each) => sum + each.left, 0)
    return {
      transitions: this.#space?.transitions ?? 0,
      executed: this.#executed,
      localStates: this.#space?.states.reduce((sum, states) => sum + states.length, 0) ?? 0,
      systemStates: this.#combined.reduce((sum, { evaluations }) => sum + evaluations, 0),
      soundnessChecks: this.#soundnessChecks,
      exhausted: this.#isExhausted && left === 0,
    }
  }

  /** What a reader must know to trust the result. */
  get notes(): string[] {
    const left = this.#combined.reduce((sum, each) => sum + each.left, 0)
    const discarded = this.#space?.discarded ?? 0
    return [
      ...this.#combined.flatMap(({ undecided }) => undecided ?? []),
      ...this.#clients.notesOf(this.name),
      ...(left > 0
        ? [`${left} combinations of states of single nodes were left out, because there were too many`]
        : []),
      ...(discarded > 0 ? [`${discarded} states of single nodes in which the node had ended were not followed`] : []),
      ...(this.#failures > 0
        ? [`${this.#failures} orders that seemed possible for single nodes violated nothing in the whole system`]
        : []),
      ...(this.#notRepeated > 0
        ? [`${this.#notRepeated} executions of a node alone had another outcome when repeated`]
        : []),
      ...(this.#unknown > 0
        ? [`${this.#unknown} inputs of single nodes have no known outcome, because each attempt was disturbed`]
        : []),
    ]
  }

  get #isExhausted(): boolean {
    const space = this.#space
    if (space === undefined || this.#purposes.size > 0 || this.#orders.length > 0) return false
    return space.isDone && this.#unknown === 0 && this.#notRepeated === 0
  }

  #ask(task: NodeTask, purpose: Purpose): NodeExecution {
    const execution = { search: 'local', variant: 0, task } as const
    this.#purposes.set(execution, purpose)
    return execution
  }

  #orderTo(start: Start): RequestedExecution {
    const { walkLength } = this.#experience
    return { search: 'local', variant: 0, walkLength, task: { start, untilViolation: true }, isGuess: true }
  }

  #taskOf({ node, looks }: SpaceState, more: readonly NodeInput[]): NodeTask {
    const inputs = [...this.#begin.inputsOf(node), ...this.#table.inputsTo(looks), ...more]
    const { after } = this.#begin
    return { start: { at: 'node', node: this.#options.nodes.names[node]!, after, inputs } }
  }

  #retry(execution: NodeExecution, purpose: Purpose, error: Diverged): void {
    if (this.#retries.again(execution)) return
    if (purpose.is === 'begin') throw error
    this.#purposes.delete(execution)
    if (purpose.is === 'pause') return
    if (error instanceof Unfaithful) this.#unknown += 1
    else this.#notRepeated += 1
  }

  #learnBegin({ last }: NodeOutcome): void {
    this.#begin.learn(last)
    if (!this.#begin.isDone) return
    this.#space = new Space(this.#options.nodes, this.#table, this.#begin.nodes, this.#begin.before.inFlight)
    for (const root of this.#space.roots) this.#combine(root)
  }

  #arrive(transition: Transition, outcome: InputOutcome): void {
    const { to, finding } = outcome
    if (to === undefined && finding === undefined) return
    if (finding) this.#lookAtEnding(transition, finding.kind)
    const state = this.#space!.arrive(transition, outcome)
    if (state) this.#combine(state)
  }

  /**
   * The node may have ended because of an input that no peer would ever send. If an execution that leads there is
   * known, the whole system executes it.
   */
  #lookAtEnding({ cut, input, from }: Transition, kind: string): void {
    if (cut === undefined || this.#endings.size >= findingsMax) return
    const what = `${from.node} ${kind} ${readLabel(labelOfEntry(input)).subject}`
    if (this.#endings.has(what)) return
    const order = this.#order(cut, { node: from.node, input })
    if (order) this.#endings.add(what)
  }

  #combine(state: SpaceState): void {
    this.#suspect(combined => combined.add(state))
  }

  /** Of the combinations that violate a property, the first one that has an order is executed. */
  #suspect(cutsOf: (combined: Combined<State>) => Iterable<StateCut>): void {
    for (const combined of this.#combined)
      for (const cut of cutsOf(combined)) if (this.#failures < failuresMax && this.#order(cut)) break
  }

  /** Whether there is an order. If so, it is queued for the whole system. */
  #order(cut: StateCut, last?: { readonly node: number; readonly input: NodeInput }): boolean {
    this.#soundnessChecks += 1
    const order = orderTo(cut, this.#begin.before, last)
    if (order === undefined || this.#ordered.has(order.join('\n'))) return false
    this.#ordered.add(order.join('\n'))
    this.#orders.push(after(this.#experience.begin, order))
    return true
  }
}
