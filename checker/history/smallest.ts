import { isOk, type Operation, pending, perhaps } from './operation.ts'
import { isFound, type Order } from './order.ts'

/** Looks for an order of operations with limited effort. */
export type FindOrder = (operations: readonly Operation[]) => Order

/**
 * The smallest part found that explains why a history has no order: its shortest prefix without one, reduced to the
 * operations that contradict each other, plus those that are needed to explain all but one of them.
 *
 * Operations are not simply removed: without its write, a read of the written value would contradict any history.
 * Instead, an operation's outcome is made unknown.
 */
export const smallestPart = (history: readonly Operation[], findOrder: FindOrder): readonly Operation[] => {
  const beginning = shortestBeginning(history, findOrder)
  const against = contradiction(beginning, findOrder)
  const others = beginning.filter(operation => !against.includes(operation))
  return [...against, ...explanation(against, others, findOrder)].sort((one, other) => one.invoked - other.invoked)
}

/** The prefix up to the first return after which there is no order. */
const shortestBeginning = (history: readonly Operation[], findOrder: FindOrder): readonly Operation[] => {
  const returns = history.flatMap(({ returned }) => returned ?? []).sort((one, other) => one - other)
  let [some, none] = [-1, returns.length - 1]
  while (none - some > 1) {
    const middle = (some + none) >> 1
    if (findOrder(upTo(history, returns[middle]!)) === 'none') none = middle
    else some = middle
  }
  return upTo(history, returns[none]!)
}

/** The history up to a time: operations invoked by then; those that returned later are pending. */
const upTo = (history: readonly Operation[], time: number): readonly Operation[] =>
  history
    .filter(({ invoked }) => invoked <= time)
    .map(operation => (isOk(operation) && operation.returned! > time ? pending(operation) : operation))

/**
 * A minimal set of operations without a valid order, whichever others took effect: if the outcome of any one were
 * unknown, there would be an order.
 */
const contradiction = (history: readonly Operation[], findOrder: FindOrder): readonly Operation[] => {
  let open = new Set<Operation>()
  const tryToOpen = (operations: readonly Operation[]): void => {
    const more = new Set([...open, ...operations])
    const without = history.map(operation => (more.has(operation) ? perhaps(operation) : operation))
    if (findOrder(without) === 'none') open = more
    else if (operations.length > 1) {
      const half = operations.length >> 1
      tryToOpen(operations.slice(0, half))
      tryToOpen(operations.slice(half))
    }
  }
  tryToOpen(history.filter(isOk))
  return history.filter(operation => isOk(operation) && !open.has(operation))
}

/**
 * The other operations that are needed to see that any single operation of the contradiction may be the wrong one. The
 * rest become unknown.
 */
const explanation = (
  against: readonly Operation[],
  others: readonly Operation[],
  findOrder: FindOrder,
): readonly Operation[] => {
  const open = others.map(perhaps)
  const allButOne = against.map(one => against.map(other => (other === one ? perhaps(other) : other)))
  const orders = allButOne.map(rest => findOrder([...rest, ...open]))
  const explained = allButOne.filter((_, i) => isFound(orders[i]!))
  const isEnough = (needed: readonly Operation[]) => explained.every(rest => isFound(findOrder([...rest, ...needed])))
  const used = new Set(orders.filter(isFound).flat())
  let needed = open.filter(operation => used.has(operation))
  for (const operation of needed) {
    const fewer = needed.filter(other => other !== operation)
    if (isEnough(fewer)) needed = fewer
  }
  const asTheyWere = others.filter(({ invoked }) => needed.some(each => each.invoked === invoked))
  return isEnough(asTheyWere) ? asTheyWere : needed
}
