import { type Model, operationKeyOf, withKeys } from './model.ts'
import { groupBy, type Operation } from './operation.ts'
import { findOrder, isFound, type Order } from './order.ts'

/** A consistency condition for histories. */
export interface Consistency {
  /** Which orders count, in words for a message. */
  readonly where: string
  /** The parts of a history that each need an order, independent of the others. */
  parts(history: readonly Operation[]): readonly (readonly Operation[])[]
  /** The operations of a part that took effect, in such an order. */
  order<State>(part: readonly Operation[], model: Model<State>, limit?: number): Order
}

/**
 * Each operation takes effect at one moment between its invocation and its return (Herlihy, Wing, "Linearizability: A
 * Correctness Condition for Concurrent Objects", TOPLAS 1990). It is local: each key can be checked by itself.
 */
export const linearizability: Consistency = {
  where: 'each between its invocation and its return',
  parts: history => [...groupBy(history, operationKeyOf).values()],
  order: (part, model, limit) => findOrder([part], model, limit),
}

/**
 * All operations take effect one after another, and those of each process in its order (Lamport, "How to Make a
 * Multiprocessor Computer That Correctly Executes Multiprocess Programs", IEEE TC 1979). It is not local.
 */
export const sequentialConsistency: Consistency = {
  where: 'those of each process in its order',
  parts: history => [history],
  order: (part, model, limit) => {
    const keys = groupBy(part, operationKeyOf)
    // A linearizable history is sequentially consistent too. Most histories are, and linearizability is checked much
    // faster, because it is local.
    const orders = [...keys.values()].map(ofKey => findOrder([ofKey], model, limit))
    if (orders.every(isFound)) return orders.flat()
    const lanes = [...groupBy(part, ({ process }) => process).values()]
    return findOrder(lanes, withKeys(model, [...keys.keys()]), limit)
  },
}
