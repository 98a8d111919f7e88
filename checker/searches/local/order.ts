import { withOrdinal } from '../../system/labels.ts'
import type { NodeInput, Sent } from '../../system/node-system.ts'
import { type Edge, type SpaceState, type StateCut, wayTo } from './space.ts'

/** Messages that were sent before the histories begin. */
export interface Before {
  /** Messages in flight. */
  readonly inFlight: readonly Sent[]
  /** How many were ever sent, by sender and receiver: `n1→n2`. */
  readonly counts: ReadonlyMap<string, number>
}

/** One more input for a node, after all others. */
interface Last {
  readonly node: number
  readonly input: NodeInput
}

type Event = Pick<Edge, 'input' | 'sent'>

/** Limits on the histories tried for one state, and on their combinations over all states. Larger ones find an order more often but take longer. */
const historiesMax = 16
const combinationsMax = 256

/**
 * Labels of an execution of the whole system that brings its nodes to these states; undefined if none was found (LMC,
 * figure 9, `isStateSound`). The first path to each state is tried first, then others within the limits.
 */
export const orderTo = (states: StateCut, before: Before, last?: Last): string[] | undefined => {
  const first = states.map(state => [...wayTo(state), ...lastOf(last, state)])
  const direct = orderOf(first, before)
  if (direct) return direct
  const all = states.map(state => [...take(historiesOf(state), historiesMax)])
  for (const histories of take(combinations(all), combinationsMax)) {
    const order = orderOf(
      histories.map((history, node) => [...history, ...lastOf(last, states[node]!)]),
      before,
    )
    if (order) return order
  }
  return undefined
}

const lastOf = (last: Last | undefined, from: SpaceState): Event[] =>
  last?.node === from.node ? [{ input: last.input, sent: [] }] : []

/**
 * A total order of the histories in which each message is sent before it is received. A greedy choice is enough: an
 * enabled input never disables another, because any message with the same content serves as well.
 */
const orderOf = (histories: readonly (readonly Event[])[], before: Before): string[] | undefined => {
  const net = new Net(before)
  const done = histories.map(() => 0)
  const order: string[] = []
  for (let isMoving = true; isMoving; ) {
    isMoving = false
    for (const [node, history] of histories.entries()) {
      for (let edge = history[done[node]!]; edge; edge = history[done[node]!]) {
        const label = 'choice' in edge.input ? edge.input.choice : net.take(edge.input.deliver)
        if (label === undefined) break
        order.push(label)
        net.put(edge.sent)
        done[node]! += 1
        isMoving = true
      }
    }
  }
  return histories.every((history, node) => done[node] === history.length) ? order : undefined
}

/** The messages in flight while an order is built, numbered as in the whole system. */
class Net {
  readonly #counts: Map<string, number>
  /** By content, the labels of the messages in flight. */
  readonly #labels = new Map<string, string[]>()

  constructor({ inFlight, counts }: Before) {
    this.#counts = new Map(counts)
    for (const { content, label } of inFlight) this.#hold(content, label)
  }

  put(sent: readonly Sent[]): void {
    for (const { from, to, content, label } of sent) {
      const way = `${from}→${to}`
      const ordinal = (this.#counts.get(way) ?? 0) + 1
      this.#counts.set(way, ordinal)
      this.#hold(content, withOrdinal(label, ordinal))
    }
  }

  take({ content }: Sent): string | undefined {
    return this.#labels.get(content)?.shift()
  }

  #hold(content: string, label: string): void {
    const labels = this.#labels.get(content)
    if (labels) labels.push(label)
    else this.#labels.set(content, [label])
  }
}

/** Paths to a state that visit no state twice, in no order of length. */
function* historiesOf(state: SpaceState, later: readonly SpaceState[] = []): Generator<Edge[], void> {
  if (state.first === undefined) yield []
  for (const edge of state.edges) {
    if (edge.from === state || later.includes(edge.from)) continue
    for (const history of historiesOf(edge.from, [...later, state])) yield [...history, edge]
  }
}

/** All ways to pick one item from each list. */
export function* combinations<Item>(lists: readonly (readonly Item[])[]): Generator<Item[], void> {
  const [first, ...others] = lists
  if (first === undefined) yield []
  else for (const item of first) for (const rest of combinations(others)) yield [item, ...rest]
}

export function* take<Item>(items: Iterable<Item>, count: number): Generator<Item, void> {
  let left = count
  if (left === 0) return
  for (const item of items) {
    yield item
    left -= 1
    if (left === 0) return
  }
}
