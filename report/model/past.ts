import type { ShownExecution } from './execution.ts'

/**
 * The step itself and all steps that it may depend on: earlier steps of the nodes that it acts on, the steps that sent
 * the messages that it takes, and whatever these depend on in turn (happened before: Lamport, 1978).
 */
export const pastOf = (execution: ShownExecution, step: number): ReadonlySet<number> => {
  const past = new Set([step])
  /** Nodes whose earlier steps belong to the past. */
  const wanted = new Set(execution.nodesTouchedBy(step))
  const needed = new Set([...sendersOf(execution, step)])
  for (let index = step - 1; index >= 0; index -= 1) {
    const touched = execution.nodesTouchedBy(index)
    if (!needed.has(index) && !touched.some(node => wanted.has(node))) continue
    past.add(index)
    for (const node of touched) wanted.add(node)
    for (const sentAt of sendersOf(execution, index)) needed.add(sentAt)
  }
  return past
}

const sendersOf = (execution: ShownExecution, step: number) =>
  execution.journeysEndedAt(step).map(({ sentAt }) => sentAt)
