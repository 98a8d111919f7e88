import { expect, test } from 'vitest'
import { jsonLines } from '../../../harness/config/config.ts'
import { clusterOf, labelsOf, take } from '../system.ts'

const counts =
  'let n = 0; const next = () => console.log(JSON.stringify({ n: n++ % 3 })); next(); setInterval(next, 1000)'

test('a state tells those of before; that they differ counts once somebody has asked for them', async () => {
  const cluster = clusterOf({ nodes: { a: { command: ['node', '-e', counts] } }, state: jsonLines() })
  const goTo = async (steps: number) => {
    await cluster.reset()
    for (let step = 0; step < steps; step++)
      await take(cluster, labelsOf(cluster).find(label => /^a timer/.test(label))!)
    return cluster.state().node('a')
  }
  const { past } = await goTo(2)
  const unasked = cluster.parts()
  expect(past(3)).toEqual([{ n: 1 }, { n: 0 }])
  expect(() => past(17)).toThrow('past: expected how many states, from 1 to 16, found 17')
  const after5 = await goTo(5)
  const asked = cluster.parts()
  expect(after5.past(16)).toEqual([1, 0, 2, 1, 0].map(n => ({ n })))
  // What was given before stays as it was.
  expect(past(3)).toEqual([{ n: 1 }, { n: 0 }])
  expect(Object.keys(asked)).toEqual(expect.arrayContaining([...Object.keys(unasked), 'states of before']))
  expect(Object.keys(unasked)).not.toContain('states of before')
})
