import type { Solo } from '../../cells/alone.ts'
import type { Properties } from '../../cells/executor.ts'
import type { Budget } from '../../system/budget.ts'
import { Diverged, MarkLost } from '../../system/errors.ts'
import type { NodeEntry, NodeSight, Nodes } from '../../system/node-system.ts'
import { Begin } from '../local/beginning.ts'
import type { LocalState, Table } from '../local/table.ts'
import { Explorer, type ExplorerOrder, type Suspicion } from './explorer.ts'

export interface PredictOptions<State> {
  readonly nodes: Pick<Nodes<State>, 'names' | 'join' | 'faults' | 'overlaps'>
  readonly properties: Properties<State>
  /** `deviations` by default. */
  readonly order?: ExplorerOrder
  /** What is known of nodes alone. It is kept for later predictions, from other states of the same run too. */
  readonly table: Table
  /** Executes nodes alone. */
  readonly solo: Pick<Solo, 'perform'>
  /** The schedule of the whole system to the state in which it begins, and the random numbers of its nodes. */
  readonly begin: { readonly after: readonly string[]; readonly variant: number }
  /** Ends after this many inputs of nodes, so that the result is the same on any machine. */
  readonly inputsMax: number
  /** Ends after this many steps in memory. */
  readonly transitionsMax?: number
  /** Also ends at this time of `performance.now()`, in ms: the result then depends on the machine. */
  readonly untilMs?: number | undefined
  readonly depthMax?: number
  readonly deviationsMax?: number
  /** Ends after this many suspicions; 1 by default. */
  readonly suspicionsMax?: number
  /** See `ExplorerOptions`. */
  readonly prevented?: ReadonlySet<string> | undefined
  readonly within?: ReadonlySet<string> | undefined
  readonly budget: Budget
}

export interface Prediction {
  /** Ways to something that looks wrong. Only an execution of the whole system can tell whether it is. */
  readonly suspicions: readonly Suspicion[]
  /** Steps taken in memory, inputs that nodes were given for them, and distinct states of the system. */
  readonly transitions: number
  readonly inputs: number
  readonly states: number
  /** Of the longest way, in steps; and of the last ones, in deviations. */
  readonly depth: number
  readonly deviations: number
  /** Whether nothing is left to follow. */
  readonly isDone: boolean
  /** Whether it ended early, because the state in which it began is lost. */
  readonly isLost: boolean
  /** Why properties were not evaluated. */
  readonly undecided: ReadonlyMap<string, string>
}

const lost = Symbol('the mark is lost')

/**
 * What may come soon, from one state of a system: a search by deviations or consequence, with nothing around it. The same state, table and
 * limits give the same result.
 *
 * @throws BudgetSpent, UsageError
 *
 * @throws MarkLost if the state in which it begins is lost already
 */
export const predict = async <State>(options: PredictOptions<State>): Promise<Prediction> => {
  const { nodes, table, begin, inputsMax, transitionsMax = Number.POSITIVE_INFINITY, suspicionsMax = 1 } = options
  const { untilMs = Number.POSITIVE_INFINITY } = options
  const beginning = new Begin(nodes.names, begin.after)
  for (let task = beginning.next(); task; task = beginning.next())
    beginning.learn((await options.solo.perform(task, begin.variant, options.budget)).last)
  const roots = beginning.nodes.map(({ sight }, node) => table.begin(node, sight))
  const explorer = new Explorer(options, roots, beginning.before)
  const enter = async (state: LocalState, input: NodeEntry): Promise<NodeSight | typeof lost | undefined> => {
    const inputs = [...beginning.inputsOf(state.node), ...table.inputsTo(state), input]
    const start = { at: 'node', node: nodes.names[state.node]!, after: beginning.after, inputs } as const
    try {
      return (await options.solo.perform({ start }, begin.variant, options.budget)).last
    } catch (error) {
      if (error instanceof MarkLost) return lost
      // What cannot be repeated is left out.
      if (error instanceof Diverged) return undefined
      throw error
    }
  }
  const suspicions: Suspicion[] = []
  let isLost = false
  while (!isLost && !explorer.isDone && suspicions.length < suspicionsMax) {
    if (explorer.asked >= inputsMax || explorer.transitions >= transitionsMax || performance.now() >= untilMs) break
    options.budget.check()
    const ask = explorer.next(Math.min(transitionsMax - explorer.transitions, transitionsPerLook))
    if (ask) {
      const entered = await enter(ask.state, ask.input)
      if (entered === lost) isLost = true
      else explorer.learn(ask, entered)
    }
    suspicions.push(...explorer.takeSuspicions())
  }
  explorer.lookForHopeless()
  suspicions.push(...explorer.takeSuspicions())
  const { transitions, asked: inputs, points: states, depth, deviations, isDone, undecided } = explorer
  return { suspicions, transitions, inputs, states, depth, deviations, isDone, isLost, undecided }
}

/** Steps in memory between two looks at the time. */
const transitionsPerLook = 10_000
