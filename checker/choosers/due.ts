import type { Choice } from '../system/system.ts'
import type { Chooser } from './chooser.ts'

/**
 * Time as a chooser: the choice that is due first. Of several that are due at the same time it takes the first enabled
 * one. Choices without a time, such as faults that nobody planned, never happen.
 */
export const due: Chooser = enabled => {
  let first: Choice | undefined
  for (const choice of enabled)
    if (choice.due !== undefined && (first === undefined || choice.due < first.due!)) first = choice
  return first
}
