import { setImmediate as nextTurn } from 'node:timers/promises'
import { createContext, Script } from 'node:vm'
import { BudgetSpent } from '../../checker/system/budget.ts'
import { UsageError } from '../../checker/system/errors.ts'
import type { GlobalState } from '../../harness/config/config.ts'
import { isInterrupted } from '../../harness/hold/turns/interruption.ts'
import type { ShownExecution } from '../../report/model/execution.ts'
import { RecordedStates } from '../verify/states.ts'

/** An expression that takes longer than this in one state is given up, in milliseconds. */
const patienceMs = 2000
/** Number of steps between checks for signals. With more, Ctrl-C would be slow. */
const turnSteps = 64

/**
 * The first step after `after` at which a JavaScript expression over the state, `s`, is true. It is evaluated over
 * known states, so nothing is executed.
 *
 * @throws UsageError if the expression is invalid, throws, does not end, or is true after no known step
 *
 * @throws BudgetSpent on a signal
 */
export const stepWhere = async (execution: ShownExecution, after: number, expression: string): Promise<number> => {
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
      throw new UsageError(`"${expression}" cannot be evaluated after step ${step}: ${firstLineOf(error)}`)
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

/** Errors come from another realm with its own `Error` class, so `instanceof` would be false. */
const firstLineOf = (error: unknown): string => {
  const { message } = (error ?? {}) as { message?: unknown }
  return String(message ?? error).split('\n', 1)[0]!
}
