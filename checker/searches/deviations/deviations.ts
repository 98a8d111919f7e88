import type { Properties } from '../../cells/executor.ts'
import type { NodeOutcome, NodeTask, TaskOutcome } from '../../cells/task.ts'
import { Diverged } from '../../errors.ts'
import type { NodeInput, Nodes } from '../../node-system.ts'
import { after, labelsTo, startAsOffered } from '../../start.ts'
import type { Experience } from '../experience.ts'
import { Begin } from '../local/beginning.ts'
import { Counted, type DeviationCoverage, type Execution, type NodeExecution, type Search } from '../search.ts'
import { type Ask, Explorer, type Suspicion } from './explorer.ts'
import { type LocalState, Table, type TableOptions } from './table.ts'

export interface DeviationOptions<State> extends TableOptions {
  readonly nodes: Nodes<State>
  readonly properties: Properties<State>
  readonly depthMax?: number | undefined
  readonly deviationsMax?: number | undefined
  readonly allowFindings?: boolean | undefined
}

/** A node's execution is tried this many times if it comes to something else than before, or is disturbed from outside. */
const triesMax = 3
/**
 * So many ways may come to nothing on the whole system, and one more for each so many inputs that nodes took. Each costs an
 * execution. Nodes that behave differently when alone would make it thousands.
 */
const failuresMax = 20
const inputsPerFailure = 100
/** After so many steps in memory somebody else gets a turn, and the time is looked at. */
const transitionsPerTurn = 10_000

/**
 * The search by deviations as one of the searches of a check. Nodes alone are executed as it needs them; what it finds is
 * executed on the whole system, and only that counts.
 */
export class DeviationSearch<State> implements Search {
  readonly name = 'deviations'
  readonly #experience: Experience
  readonly #options: DeviationOptions<State>
  readonly #counted: Counted
  readonly #begin: Begin
  readonly #table: Table
  readonly #tries = new Map<NodeTask, number>()
  readonly #asks = new Map<NodeExecution, Ask | 'begin' | 'pause'>()
  readonly #again: NodeExecution[] = []
  /** What the whole system has still to execute. */
  readonly #suspected: Suspicion[] = []
  readonly #suspicions = new Map<Execution, Suspicion>()
  #explorer: Explorer<State> | undefined
  /** Ways that came to nothing on the whole system. */
  #failures = 0
  #found = 0

  constructor(experience: Experience, options: DeviationOptions<State>) {
    const { nodes } = options
    this.#experience = experience
    this.#options = options
    this.#counted = new Counted('deviations', experience.met)
    this.#begin = new Begin(nodes.names, labelsTo(experience.begin))
    this.#table = new Table(nodes.names, options)
  }

  next(): Execution | NodeExecution | undefined {
    const again = this.#again.shift()
    if (again) return again
    if (!this.#begin.isDone) {
      const task = this.#begin.next()
      return task && this.#ask(task, 'begin')
    }
    const explorer = this.#explorer!
    const before = explorer.transitions
    const ask = explorer.next(transitionsPerTurn)
    if (ask) return this.#ask(this.#taskOf(ask.state, [ask.input]), ask)
    for (const suspicion of explorer.takeSuspicions()) if (this.#mayFail) this.#suspected.push(suspicion)
    const suspicion = this.#suspected.shift()
    if (suspicion) return this.#execute(suspicion)
    if (explorer.isDone || this.#asks.size > 0) return undefined
    // The node stays where it is.
    return explorer.transitions > before ? this.#ask(this.#taskOf(explorer.root, []), 'pause') : undefined
  }

  learn(execution: Execution, came: TaskOutcome | Diverged): void {
    const suspicion = this.#suspicions.get(execution)
    this.#suspicions.delete(execution)
    if (!(came instanceof Diverged)) this.#counted.count(came)
    const isReal = !(came instanceof Diverged) && (came.violation ?? came.finding) !== undefined
    if (isReal) this.#found += 1
    else if (suspicion?.kind !== 'dead') this.#failures += 1
  }

  learnAlone(execution: NodeExecution, came: NodeOutcome | Diverged): void {
    const ask = this.#asks.get(execution)!
    if (came instanceof Diverged && this.#triesAgain(execution)) return
    this.#asks.delete(execution)
    if (ask === 'pause') return
    if (ask === 'begin') {
      if (came instanceof Diverged) throw came
      this.#learnBegin(came)
      return
    }
    // What cannot be repeated is left out.
    this.#explorer!.learn(ask, came instanceof Diverged ? undefined : came.last)
  }

  /** Whether it waits for the outcome of an input. */
  get isWaiting(): boolean {
    return this.#asks.size > 0
  }

  coverage() {
    return this.#counted.coverage
  }

  /** Its figures. */
  get deviations(): DeviationCoverage {
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
      ...[...undecided].map(([name, why]) => `${name} was not evaluated in the search by deviations: ${why}`),
      ...(this.#failures > 0
        ? [`${this.#failures} ways that seemed possible for single nodes violated nothing in the whole system`]
        : []),
      ...(this.#explorer?.hasLeftOut
        ? ['states of the system were left out of the search by deviations, because there were too many']
        : []),
    ]
  }

  get #mayFail(): boolean {
    return this.#failures < failuresMax + (this.#explorer?.asked ?? 0) / inputsPerFailure
  }

  #ask(task: NodeTask, ask: Ask | 'begin' | 'pause'): NodeExecution {
    const execution = { search: 'deviations', variant: 0, task } as const
    this.#asks.set(execution, ask)
    return execution
  }

  #taskOf(state: LocalState, more: readonly NodeInput[]): NodeTask {
    const node = this.#options.nodes.names[state.node]!
    const inputs = [...this.#begin.inputsOf(state.node), ...this.#table.inputsTo(state), ...more]
    return { start: { at: 'node', node, after: this.#begin.after, inputs } }
  }

  #triesAgain(execution: NodeExecution): boolean {
    const tries = (this.#tries.get(execution.task) ?? 0) + 1
    if (tries >= triesMax) return false
    this.#tries.set(execution.task, tries)
    this.#again.push(execution)
    return true
  }

  #learnBegin({ last }: NodeOutcome): void {
    this.#begin.learn(last)
    if (!this.#begin.isDone) return
    const roots = this.#begin.nodes.map(({ sight }, node) => this.#table.begin(node, sight))
    this.#explorer = new Explorer({ ...this.#options, table: this.#table }, roots, this.#begin.before)
  }

  #execute(suspicion: Suspicion): Execution {
    const { labels, kind } = suspicion
    const whole = after(this.#experience.begin, labels)
    const start = labels.length === 0 ? whole : startAsOffered(labelsTo(whole))
    const asked = this.#experience.executionOf({ search: 'deviations', start, walks: () => [] })
    const { untilLive, surprises: _, healthy: __, ...task } = asked.task
    const execution = { ...asked, isGuess: true, task: { ...task, ...(kind === 'dead' && untilLive && { untilLive }) } }
    this.#suspicions.set(execution, suspicion)
    return execution
  }
}
