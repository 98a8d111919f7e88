import { BudgetSpent } from '../../checker/system/budget.ts'
import { Diverged, Unfaithful } from '../../checker/system/errors.ts'
import { type ErrorExplanation, explainError, WorkerFailed } from '../command/exit-code.ts'

/** An error on its way from one process to another. */
export type Failure =
  | { readonly budget: BudgetSpent['what'] }
  | { readonly unfaithful: Pick<Unfaithful, 'step' | 'expected' | 'what' | 'isCutShort'> }
  | { readonly diverged: Pick<Diverged, 'step' | 'expected' | 'enabled'> }
  | { readonly failed: ErrorExplanation }

export const sentFailure = (error: unknown): Failure => {
  if (error instanceof BudgetSpent) return { budget: error.what }
  if (error instanceof Unfaithful)
    return {
      unfaithful: { step: error.step, expected: error.expected, what: error.what, isCutShort: error.isCutShort },
    }
  if (error instanceof Diverged)
    return { diverged: { step: error.step, expected: error.expected, enabled: error.enabled } }
  return { failed: explainError(error) }
}

export const errorOf = (failure: Failure): Error => {
  if ('budget' in failure) return new BudgetSpent(failure.budget)
  if ('unfaithful' in failure) {
    const { step, expected, what, isCutShort } = failure.unfaithful
    return new Unfaithful(step, expected, what, isCutShort)
  }
  if ('diverged' in failure) {
    const { step, expected, enabled } = failure.diverged
    return new Diverged(step, expected, enabled)
  }
  return new WorkerFailed(failure.failed)
}
