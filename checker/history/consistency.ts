import { keyOf, type Model, withKeys } from './model.ts'
import { groupBy, type Operation } from './operation.ts'
import { findOrder, isFound, type Order } from './order.ts'

/** What a history has to be like. */
export interface Consistency {
  /** Where an order of all operations has to be, for a message. */
  readonly where: string
  /** Parts of a history that are each to be put in order, whatever the others are. */
  parts(history: readonly Operation[]): readonly (readonly Operation[])[]
  /** What of a part happened, where there is such an order. */
  order<State>(part: readonly Operation[], model: Model<State>, limit?: number): Order
}

/**
 * Each operation seems to happen at one moment between its invocation and its return (Herlihy, Wing, "Linearizability: A
 * Correctness Condition for Concurrent Objects", TOPLAS 1990). It is local: each key's operations for themselves.
 */
export const linearizability: Consistency = {
  where: 'each between its invocation and its return',
  parts: history => [...groupBy(history, keyOf).values()],
  order: (part, model, limit) => findOrder([part], model, limit),
}

/**
 * The operations seem to happen one after the other, those of each process in its order (Lamport, "How to Make a
 * Multiprocessor Computer That Correctly Executes Multiprocess Programs", IEEE TC 1979). It is not local.
 */
export const sequentialConsistency: Consistency = {
  where: 'those of each process in its order',
  parts: history => [history],
  order: (part, model, limit) => {
    const keys = groupBy(part, keyOf)
    // What is linearizable is this too, and much sooner found to be: mostly it is, and it is local.
    const orders = [...keys.values()].map(ofKey => findOrder([ofKey], model, limit))
    if (orders.every(isFound)) return orders.flat()
    const lanes = [...groupBy(part, ({ process }) => process).values()]
    return findOrder(lanes, withKeys(model, [...keys.keys()]), limit)
  },
}
