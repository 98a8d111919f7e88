import { Undecided } from '../system/errors.ts'
import type { Property } from '../system/property.ts'
import { type Consistency, linearizability, sequentialConsistency } from './consistency.ts'
import type { Model } from './model.ts'
import type { Operation } from './operation.ts'
import { showOperations } from './show.ts'
import { smallestPart } from './smallest.ts'

/** A state that contains all operations so far. The array stays the same object while nothing is added. */
export interface WithHistory {
  readonly history: readonly Operation[]
}

/**
 * Safety: the operations of an execution could have happened on one object of the model (one for each key), one after
 * another, each between its invocation and its return. A failed operation did not take effect; one with an unknown
 * outcome may have. Throws `Undecided` if that cannot be decided with reasonable effort.
 */
export const linearizable = <State>(model: Model<State>): Property<WithHistory> => consistent(linearizability, model)

/** A weaker property: only the operations of each process must keep their order. */
export const sequentiallyConsistent = <State>(model: Model<State>): Property<WithHistory> =>
  consistent(sequentialConsistency, model)

const consistent = <State>(consistency: Consistency, model: Model<State>): Property<WithHistory> => {
  const known = new WeakMap<readonly Operation[], readonly Operation[] | undefined>()
  const contradiction = (history: readonly Operation[]) => {
    if (!known.has(history)) known.set(history, contradictoryPart(consistency, model, history))
    return known.get(history)
  }
  return {
    kind: 'always',
    holds: ({ history }) => contradiction(history) === undefined,
    about: ({ history }) => history.length,
    explain: ({ history }) => describe(consistency, model, contradiction(history)!),
  }
}

/** A part of a history that has no order; `undefined` if each part has one. */
export const contradictoryPart = <State>(
  consistency: Consistency,
  model: Model<State>,
  history: readonly Operation[],
): readonly Operation[] | undefined => {
  const happened = history.filter(({ outcome }) => outcome !== 'failed')
  const parts = consistency.parts(happened).map(part => ({ part, order: consistency.order(part, model) }))
  const contradictory = parts.find(({ order }) => order === 'none')
  const undecided = parts.find(({ order }) => order === 'undecided')
  if (undecided && !contradictory)
    throw new Undecided(
      `found no order of ${undecided.part.length} operations, and there are too many orders to try all: expected fewer operations that are concurrent or have an unknown outcome`,
    )
  return contradictory?.part
}

/**
 * Limit on the tries of one search among many. A single search may try more; many together would take too long.
 */
const triesMax = (operations: number) => 2_000 + 20 * operations

const describe = <State>(consistency: Consistency, model: Model<State>, part: readonly Operation[]): string => {
  const smallest = smallestPart(part, operations => consistency.order(operations, model, triesMax(operations.length)))
  const title = `no ${model.name} has these operations in any order, ${consistency.where}:`
  return [title, ...showOperations(smallest).map(line => `    ${line}`)].join('\n')
}
