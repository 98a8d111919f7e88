import { expect, test } from 'vitest'
import { bucketOf } from '../../campaign/schedules/bucket.ts'

const bucket = (...labels: readonly string[]) =>
  bucketOf({ property: 'agreement', kind: 'safety', labels, criticalTransition: null })

const labels = ['a→b #3 Prepare(4)', 'b timer +20ms', 'crash a']

test('a bug has the same name in other nodes, with other numbers, and after other steps', () => {
  expect(bucket('c→d #1 Prepare(9)', 'd timer +5ms', 'crash c')).toBe(bucket(...labels))
  expect(bucket('client ann', ...labels)).toBe(bucket(...labels))
})

test.each([
  [['a→b #3 Prepare(4)', 'b timer +20ms', 'crash b']],
  [['a→b #3 Prepare(4)', 'a timer +20ms', 'crash a']],
  [['a→b #3 Accept(4)', 'b timer +20ms', 'crash a']],
  [['a→b #3 Prepare(4)', 'b timer +20ms', 'reset a']],
  [['a→b #3 Prepare(4)', 'b timer +20ms', 'overlap a→b #3 Prepare(4) & b timer +20ms']],
])('%j is another bug', others => {
  expect(bucket(...others)).not.toBe(bucket(...labels))
})
