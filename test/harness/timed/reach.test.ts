import { expect, test } from 'vitest'
import { Reach } from '../../../harness/timed/reach.ts'

const cuts = (reach: Reach) => reach.changes().map(({ from, to, isCut }) => `${from}→${to} ${isCut ? 'cut' : 'joined'}`)

test('a partition cuts between groups; nodes of no group are one more', () => {
  const reach = new Reach(4)
  reach.partition([[0]])
  expect(cuts(reach)).toEqual(['0→1 cut', '0→2 cut', '0→3 cut', '1→0 cut', '2→0 cut', '3→0 cut'])
  reach.partition([[0, 1], [2]])
  expect(cuts(reach)).toEqual([
    ...['0→1 joined', '1→0 joined', '1→2 cut', '1→3 cut', '2→1 cut', '2→3 cut', '3→1 cut', '3→2 cut'],
  ])
  expect(cuts(reach)).toEqual([])
})

test('what is cut for two reasons is joined when neither is left', () => {
  const reach = new Reach(2)
  reach.partition([[0], [1]])
  reach.cutNode(1, true)
  reach.cutWay(0, 1, true)
  expect(cuts(reach)).toEqual(['0→1 cut', '1→0 cut'])
  reach.heal()
  expect(cuts(reach)).toEqual([])
  reach.cutNode(1, false)
  expect(cuts(reach)).toEqual(['1→0 joined'])
  reach.cutWay(0, 1, false)
  expect(cuts(reach)).toEqual(['0→1 joined'])
})
