import { expect, test } from 'vitest'
import { Samples } from '../../../cli/check/samples.ts'

const progress = (executions: number) => ({
  ...{ phase: 'searching' as const, executions, steps: 10 * executions, states: 2 * executions, depth: 0 },
  seconds: executions / 8,
})

test('a search of any length leaves few samples, from its begin to near its end, evenly', () => {
  for (const length of [1, 200, 201, 5000, 100_000]) {
    const samples = new Samples()
    for (let executions = 1; executions <= length; executions += 1) samples.add(progress(executions))
    const { list } = samples
    expect(list.length).toBeLessThanOrEqual(200)
    expect(list.length).toBeGreaterThanOrEqual(Math.min(length, 100))
    expect(list[0]).toEqual({ seconds: 0.125, executions: 1, states: 2 })
    const distances = new Set(list.slice(1).map(({ executions }, index) => executions - list[index]!.executions))
    expect(distances.size).toBeLessThanOrEqual(1)
    expect(list.at(-1)!.executions).toBeGreaterThanOrEqual(length * 0.98)
  }
})
