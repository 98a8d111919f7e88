import { setImmediate as nextTurn } from 'node:timers/promises'
import { createContext, Script } from 'node:vm'
import { BudgetSpent } from '../../checker/budget.ts'
import { UsageError } from '../../checker/errors.ts'
import type { GlobalState } from '../../harness/config.ts'
import { isInterrupted } from '../../harness/hold/interruption.ts'
import type { Execution } from '../../report/model/execution.ts'
import { RecordedStates } from '../verify/states.ts'

/** An expression that takes longer in one state is given up. */
const patienceMs = 2000
/** Steps after which signals are looked at. */
const turnSteps = 64

/**
 * The first step after one at which a JavaScript expression over the state, `s`, is true. It is evaluated over the states that
 * are known, so nothing is executed.
 *
 * @throws UsageError where it is no expression, throws, does not end, or is true after no step that is known
 * @throws BudgetSpent where a signal comes
 */
export const stepWhere = async (execution: Execution, after: number, expression: string): Promise<number> => {
  const holds = predicateOf(expression)
  const states = new RecordedStates(execution.trace.header.nodes)
  for (const step of execution.steps) {
    states.next(step)
    if (step.index > after && holds(states.state, step.index)) return step.index
    if (step.index % turnSteps === 0) await nextTurn()
    if (isInterrupted()) throw new BudgetSpent('aborted')
  }
  throw new UsageError(
    `"${expression}" is true after none of the ${execution.end - after} steps from step ${after} to the end`,
  )
}

const predicateOf = (expression: string): ((state: GlobalState, step: number) => boolean) => {
  const script = compiled(expression)
  const context: { s?: GlobalState } = createContext({})
  return (state, step) => {
    context.s = state
    try {
      return Boolean(script.runInContext(context, { timeout: patienceMs }))
    } catch (error) {
      throw new UsageError(`"${expression}" cannot be told after step ${step}: ${firstLineOf(error)}`)
    }
  }
}

const compiled = (expression: string): Script => {
  try {
    return new Script(`(${expression}\n)`)
  } catch (error) {
    throw new UsageError(
      `expected a JavaScript expression over the state, s, found "${expression}": ${firstLineOf(error)}`,
    )
  }
}

/** What it throws comes from another realm, where `Error` is another. */
const firstLineOf = (error: unknown): string => {
  const { message } = (error ?? {}) as { message?: unknown }
  return String(message ?? error).split('\n', 1)[0]!
}
