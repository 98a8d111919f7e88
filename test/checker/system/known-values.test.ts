import { expect, test } from 'vitest'
import { staysAsItIs } from '../../../checker/system/known-values.ts'
import { always, evaluate, history } from '../../../checker/system/property.ts'

const where = () => 'now'

/** A property that counts its evaluations. */
const counted = () => {
  const counts = { evaluations: 0 }
  const isSmall = always<{ value: number }>(({ value }) => {
    counts.evaluations += 1
    return value < 2
  })
  return { counts, isSmall }
}

test('a predicate is evaluated once in a state that stays as it is, under any name', () => {
  const { counts, isSmall } = counted()
  const state = staysAsItIs({ value: 1 })
  expect([evaluate('a', isSmall, state, where), evaluate('b', isSmall, state, where)]).toEqual([true, true])
  expect(counts.evaluations).toBe(1)
  expect(evaluate('a', isSmall, staysAsItIs({ value: 2 }), where)).toBe(false)
  expect(counts.evaluations).toBe(2)
})

test('in any other object it is evaluated again, because the object may have changed', () => {
  const { isSmall } = counted()
  const state = { value: 1 }
  expect(evaluate('a', isSmall, state, where)).toBe(true)
  state.value = 2
  expect(evaluate('a', isSmall, state, where)).toBe(false)
})

test('a property that carries a value along is evaluated again', () => {
  const even = always<object>(
    history<object, number>(
      (count = 0) => count + 1,
      (_, count) => count % 2 === 0,
    ),
  )
  const state = staysAsItIs({})
  expect([1, 2, 3].map(carried => evaluate('even', even, state, where, carried))).toEqual([false, true, false])
})
