import { expect, test } from 'vitest'
import { runPage } from '../../../../cli/emulate/plots/run-page.ts'
import type { RunMap } from '../../../../report/run-data.ts'
import { generate } from '../../../../topologies/generate/generate.ts'
import { place } from '../../../../topologies/place.ts'

const nodes = [{ name: 'a' }, { name: 'b' }] as unknown as Parameters<typeof runPage>[0]['nodes']
const star = generate('star', 5, 1)

const mapOf = (topology: typeof star): RunMap => {
  const { body } = runPage({ name: 's', nodes }, { topology, seed: 1 })('t')
  return JSON.parse(/id="data">(.*?)<\/script>/.exec(String(body))![1]!).map
}

test('a topology that has a client for each node is drawn as it is, without places for others', () => {
  const made = mapOf(place(star, ['a', 'b'], 1))
  const placed = mapOf(star)
  expect(made.lines).toEqual(placed.lines)
  expect([made.spares, placed.spares.length]).toEqual([[], 8])
})

test('each node, and each that may be added, has the place of the node to which it is linked', () => {
  const { points, attached, spares, given } = mapOf(star)
  expect(given).toBe(2)
  for (const name of ['a', 'b', ...spares]) expect(points[name]).toEqual(points[attached[name]!])
})
