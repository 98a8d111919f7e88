import { expect, test } from 'vitest'
import { Surprises } from '../../../checker/choosers/surprise.ts'
import { choiceOf } from '../systems/model.ts'

const dropOf = (word: string) => choiceOf({ kind: 'drop', node: 'n', label: `drop m→n #1 ${word}` })
const word = (index: number) =>
  `say${String.fromCharCode(97 + (index % 26), 97 + (Math.floor(index / 26) % 26), 97 + Math.floor(index / 676))}`

test('the number of remembered surprises is limited, whatever a service puts into its messages', () => {
  const surprises = new Surprises()
  for (let index = 0; index < 3_000; index++) surprises.note([dropOf(word(index))])
  expect(surprises.all).toHaveLength(2_000)
  const others = Array.from({ length: 500 }, (_, index) => ({
    ...{ name: `drop other ${index}`, group: 'fault' as const, subjects: [`other ${index}`], tried: 1, met: 0 },
  }))
  surprises.learn(others)
  expect(surprises.all).toHaveLength(2_000)
})
