import type { Choice } from '../system.ts'
import type { Chooser } from './chooser.ts'

/**
 * Time as a chooser: what is due first happens first; of several at one time the first in the order of what is enabled. What
 * has no time, as a fault that nobody planned, never happens.
 */
export const due: Chooser = enabled => {
  let first: Choice | undefined
  for (const choice of enabled)
    if (choice.due !== undefined && (first === undefined || choice.due < first.due!)) first = choice
  return first
}
