import { expect, test } from 'vitest'
import { readsOf } from '../../../checker/system/nearness.ts'

interface Node {
  readonly name: string
  readonly state: { readonly leader: boolean; readonly log: readonly number[] } | undefined
}

const stateOf = (...nodes: readonly Node[]) => ({
  nodes,
  node: (name: string) => nodes.find(each => each.name === name)!,
})
type State = ReturnType<typeof stateOf>

test('a predicate reads the more, the more of its conditions hold', () => {
  const goal = (s: State) =>
    s.node('b').state !== undefined && s.node('b').state!.leader && s.nodes[0]!.state!.log.length > 1
  const a = (...log: readonly number[]): Node => ({ name: 'a', state: { leader: false, log } })
  const nothing = readsOf(goal, stateOf(a(), { name: 'b', state: undefined }))
  const state = readsOf(goal, stateOf(a(), { name: 'b', state: { leader: false, log: [] } }))
  const leader = readsOf(goal, stateOf(a(), { name: 'b', state: { leader: true, log: [] } }))
  expect(nothing).toBeGreaterThan(0)
  expect(state).toBeGreaterThan(nothing)
  expect(leader).toBeGreaterThan(state)
})

test('a predicate that throws, and a state that cannot be watched, are measured as far as they go', () => {
  expect(readsOf((s: { none?: { x: number } }) => s.none!.x === 1, {})).toBe(1)
  expect(readsOf((s: Map<string, number>) => s.get('x') === 1, new Map())).toBe(0)
  expect(readsOf((s: { readonly x: number }) => s.x === 1, Object.freeze({ x: 2 }))).toBe(0)
})
