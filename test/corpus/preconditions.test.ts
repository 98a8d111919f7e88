import { expect, test } from 'vitest'
import { bugs } from '../../bench/corpus/rows.ts'
import { preconditions, some } from '../../bench/emulate/preconditions.ts'

const tree = (...nodes: readonly [self: string, parent: string, children: string[]][]) =>
  new Map(nodes.map(([self, parent, children]) => [self, { self, state: 'joined', parent, children, peers: [] }]))

test('the chain of a bug of RandTree begins where the tree is deep enough', () => {
  const { holds } = preconditions['randtree-children-siblings']!
  expect(holds(tree(['1', '1', ['2', '3']], ['2', '1', []], ['3', '1', []]))).toBe(false)
  expect(holds(tree(['1', '1', ['2', '3']], ['2', '1', ['4']], ['3', '1', []], ['4', '2', []]))).toBe(true)
})

test('a Paxos of which a member is down, or has learned a value, is no beginning', () => {
  const { holds } = preconditions['paxos-last-promise']!
  const members = (...chosen: readonly (string | null)[]) =>
    new Map(chosen.map((each, i) => [`n${i}`, { chosen: each }]))
  expect([members(null, null, null), members(null, null), members(null, 'red', null)].map(holds)).toEqual([
    true,
    false,
    false,
  ])
})

test('preconditions are of bugs of the corpus', () => {
  const ids = bugs.map(({ id }) => id)
  expect(Object.keys(preconditions).filter(id => !ids.includes(id))).toEqual([])
})

test('some states of many are spread evenly, and the last one is first', () => {
  expect(some([1, 2, 3, 4, 5, 6], 3)).toEqual([6, 4, 2])
  expect(some([1, 2], 3)).toEqual([2, 1])
  expect(some([], 3)).toEqual([])
})
