import type { Model } from '../../../checker/history/model.ts'
import type { Operation } from '../../../checker/history/operation.ts'

/** Whether an operation has to come before another one. */
type Precedes = (one: Operation, other: Operation) => boolean

const inTime: Precedes = (one, other) => one.returned !== undefined && one.returned < other.invoked
const inProcess: Precedes = (one, other) => one.process === other.process && inTime(one, other)

/** By the definitions: whether any permutation of what happened, and of any part of what may have, is an order. */
export const isLinearizable = (history: readonly Operation[], model: Model): boolean => hasOrder(history, model, inTime)

export const isSequentiallyConsistent = (history: readonly Operation[], model: Model): boolean =>
  hasOrder(history, model, inProcess)

const hasOrder = (history: readonly Operation[], model: Model, precedes: Precedes): boolean =>
  subsets(history.filter(({ outcome }) => outcome === 'unknown')).some(happened =>
    permutations([...history.filter(({ outcome }) => outcome === 'ok'), ...happened]).some(
      order => isInOrder(order, precedes) && isLegal(order, model),
    ),
  )

const isInOrder = (order: readonly Operation[], precedes: Precedes): boolean =>
  order.every((one, i) => order.slice(0, i).every(earlier => !precedes(one, earlier)))

const isLegal = (order: readonly Operation[], model: Model): boolean => {
  const states = new Map<string | undefined, unknown>()
  return order.every(operation => {
    const { key } = operation
    const next = model.step(states.has(key) ? states.get(key) : model.initial, operation)
    if (next) states.set(key, next.state)
    return next !== undefined
  })
}

const subsets = <T>([first, ...others]: readonly T[]): T[][] =>
  first === undefined ? [[]] : subsets(others).flatMap(subset => [subset, [first, ...subset]])

const permutations = <T>(items: readonly T[]): T[][] =>
  items.length === 0
    ? [[]]
    : items.flatMap((item, i) => permutations(items.toSpliced(i, 1)).map(rest => [item, ...rest]))
