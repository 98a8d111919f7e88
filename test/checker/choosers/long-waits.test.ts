import { describe, expect, test } from 'vitest'
import { check } from '../../../checker/check.ts'
import { longWaits } from '../../../checker/choosers/long-waits.ts'
import { defaultWeights } from '../../../checker/choosers/weights.ts'
import { always } from '../../../checker/system/property.ts'
import { Random } from '../../../checker/system/random.ts'
import { type Shape, shapes, systemOf, type Waiting } from '../systems/waiting.ts'

const sound = always<Waiting>(({ bad }) => !bad)

describe('a fault after a long wait between finished conversations', () => {
  test.each(shapes.map(shape => [shape.name, shape] as const))('%s', async (_, shape: Shape) => {
    const { verdict, discovery, coverage } = await check(systemOf(shape), { sound }, { executions: 1_000, seed: 1 })
    if (process.env.SHOW) console.log(shape.name, discovery?.execution, discovery?.by, coverage.completed)
    expect(verdict).toBe('violated')
  })
})

test('a call begins only when nothing is in flight and no node waits, and calls are left after a long wait', async () => {
  const shape = shapes.find(({ name }) => name.startsWith('a payment'))!
  let [calls, hasWaited] = [0, 0]
  for (let seed = 0; seed < 20; seed++) {
    const system = systemOf(shape)
    await system.reset()
    const choose = longWaits(new Random(seed), defaultWeights)
    let waitedMs = 0
    for (let step = 0; step < 128; step++) {
      const enabled = system.enabled()
      const choice = choose(enabled)
      if (choice === undefined) break
      if (choice.kind === 'timer') waitedMs += choice.afterMs ?? 0
      if (choice.kind === 'client') {
        calls += 1
        if (waitedMs >= 30_000) hasWaited += 1
      }
      await system.execute(choice)
    }
  }
  expect(calls).toBeGreaterThan(40)
  expect(hasWaited).toBeGreaterThan(calls / 5)
})

test('where no client calls, no walk waits, and the other searches do the same as without it', async () => {
  const shape = { ...shapes[0]!, clients: {} }
  const { coverage } = await check(systemOf(shape), { sound }, { executions: 60, seed: 1 })
  expect(coverage.searches.find(({ name }) => name === 'patient')?.executions).toBe(0)
})
