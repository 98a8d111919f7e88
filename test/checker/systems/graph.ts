import fc from 'fast-check'
import { always, eventually } from '../../../checker/system/property.ts'
import { Model, type ModelOptions } from './model.ts'

/** A system that is nothing but its states, 0 the initial one, with the ways out of each. */
export interface Graph {
  readonly ways: readonly (readonly number[])[]
  readonly live: readonly number[]
  readonly bad: number
}

/** Graphs of so many states, with up to two ways out of each. */
export const graphs = (size: number): fc.Arbitrary<Graph> =>
  fc.record({
    ways: fc.array(fc.uniqueArray(fc.nat(size - 1), { maxLength: 2 }), { minLength: size, maxLength: size }),
    live: fc.uniqueArray(fc.nat(size - 1), { minLength: 1, maxLength: 2 }),
    bad: fc.nat(size - 1),
  })

export const modelOf = ({ ways }: Graph, options?: ModelOptions): Model<number> =>
  new Model<number>(
    0,
    state => ways[state]!.map(to => ({ kind: 'timer', node: 'n', label: `to ${to}`, next: () => to })),
    options,
  )

export const propertiesOf = ({ live, bad }: Graph) => ({
  good: always<number>(state => state !== bad),
  alive: eventually<number>(state => live.includes(state)),
})

/** By state that can be reached from one, the fewest steps to it. */
export const distances = ({ ways }: Graph, from = 0): Map<number, number> => {
  const found = new Map([[from, 0]])
  for (const [state, distance] of found) for (const to of ways[state]!) if (!found.has(to)) found.set(to, distance + 1)
  return found
}

/** Whether no live state can be reached from a state. */
export const isDead = (graph: Graph, state: number): boolean =>
  ![...distances(graph, state).keys()].some(reached => graph.live.includes(reached))

export const deadStates = (graph: Graph): number[] => [...distances(graph).keys()].filter(state => isDead(graph, state))
