import { expect, test } from 'vitest'
import { answerMax, boundedJson, boundedText } from '../../../cli/mcp/bounded.ts'

const labels = (count: number) => Array.from({ length: count }, (_, index) => `n1→n2 Vote ${index} `.padEnd(60, '.'))

test('JSON that fits is as it was', () => {
  expect(JSON.parse(boundedJson({ schedule: labels(300) }))).toEqual({ schedule: labels(300) })
})

test('of JSON that is too long, the ends of lists are left, and how many are not', () => {
  const json = boundedJson({ verdict: 'violated', schedule: labels(4000), notes: ['one'] })
  expect(json.length).toBeLessThan(answerMax)
  const { verdict, schedule, notes } = JSON.parse(json)
  expect({ verdict, notes }).toEqual({ verdict: 'violated', notes: ['one'] })
  expect(schedule).toEqual([...labels(4000).slice(0, 128), '… 3744 more', ...labels(4000).slice(-128)])
})

test('text that is too long is cut, and says by how much', () => {
  expect(boundedText('x'.repeat(answerMax + 7))).toBe(`${'x'.repeat(answerMax)}\n… 7 more characters`)
})
