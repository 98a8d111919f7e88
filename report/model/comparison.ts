import type { ShownExecution } from './execution.ts'

/** Where two executions diverge. */
export interface Comparison {
  /** Index of the last step up to which both made the same choices; 0 if only the start is common. */
  readonly common: number
  /** Index of the first step that differs. One of the two executions may end before it. */
  readonly firstDifference: number
}

export const compare = (one: ShownExecution, other: ShownExecution): Comparison => {
  let common = 0
  const end = Math.min(one.end, other.end)
  while (common < end && labelAt(one, common + 1) === labelAt(other, common + 1)) common += 1
  return { common, firstDifference: common + 1 }
}

const labelAt = (execution: ShownExecution, step: number) => execution.steps[step]!.choice!.label
