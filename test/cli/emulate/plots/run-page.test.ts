import { expect, test } from 'vitest'
import { runPage } from '../../../../cli/emulate/plots/run-page.ts'
import { generate } from '../../../../topologies/generate/generate.ts'
import { place } from '../../../../topologies/place.ts'

test('a topology that has a client for each node is drawn as it is', () => {
  const nodes = [{ name: 'a' }, { name: 'b' }] as unknown as Parameters<typeof runPage>[0]['nodes']
  const star = generate('star', 5, 1)
  const made = place(star, ['a', 'b'], 1)
  const [drawn, placed] = [made, star].map(topology => runPage({ name: 's', nodes }, { topology, seed: 1 })('t').body)
  expect(drawn).toBe(placed)
})
