import fc from 'fast-check'
import { expect, test } from 'vitest'
import { Solo } from '../../../../checker/cells/alone.ts'
import { check } from '../../../../checker/check.ts'
import type { Point } from '../../../../checker/searches/deviations/point.ts'
import { predict } from '../../../../checker/searches/deviations/predict.ts'
import { PromptGraph } from '../../../../checker/searches/deviations/prompt-graph.ts'
import { stronglyConnected } from '../../../../checker/searches/deviations/strongly-connected.ts'
import { Table } from '../../../../checker/searches/local/table.ts'
import { Budget } from '../../../../checker/system/budget.ts'
import { eventually } from '../../../../checker/system/property.ts'
import { HandlerSystem, type Handlers, nodesOf, type Whole } from '../../systems/handlers.ts'

/**
 * One asks for a turn again and again, and another answers: `yes` once it has heard of the key, `no` before. The key comes from a third
 * one, by a single message. `mayLose` adds a mistake: an answer that comes before the key lets the other forget what a key is.
 */
const turns = (mayLose: boolean): Handlers<string> => ({
  names: ['asker', 'answerer', 'keeper'],
  initial: name =>
    name === 'keeper' ? { state: 'gave', sent: [{ to: 'answerer', text: 'key' }] } : { state: 'waits' },
  receive: (state, { text }, name) => {
    if (name === 'asker') return { state: text === 'yes' ? 'done' : 'waits' }
    if (text === 'key') return { state: state === 'lost' ? 'lost' : 'knows' }
    const isLost = mayLose && state !== 'knows'
    return { state: isLost ? 'lost' : state, sent: [{ to: 'asker', text: state === 'knows' ? 'yes' : 'no' }] }
  },
  own: (state, name) => {
    if (name === 'asker' && state === 'waits')
      return [{ label: 'asker timer', next: () => ({ state: 'asked', sent: [{ to: 'answerer', text: 'turn' }] }) }]
    return []
  },
})

const isDone = eventually<Whole<string>>(({ nodes }) => nodes[0] === 'done')

const suspicionsIn = async (handlers: Handlers<string>, inputsMax = Number.POSITIVE_INFINITY) => {
  const nodes = nodesOf(handlers)
  const { suspicions } = await predict({
    ...{ nodes, properties: { isDone }, table: new Table(nodes.names), solo: new Solo(nodes), suspicionsMax: 10 },
    ...{ begin: { after: [], variant: 0 }, inputsMax, budget: new Budget({}) },
  })
  return suspicions
}

test('a state from which a prompt network goes round without end is suspected, once no deviation leads out of it', async () => {
  const labels = ['asker timer', 'asker→answerer #1 turn', 'answerer→asker #1 no', 'keeper→answerer #1 key']
  expect(await suspicionsIn(turns(true))).toEqual([{ what: 'isDone', kind: 'dead', labels, deviations: 1 }])
})

test('a state that is seen again and again is not suspected if there is a way from it to a good one', async () => {
  expect(await suspicionsIn(turns(false))).toEqual([])
})

test('nothing is suspected while it is not known where states lead', async () => {
  for (const inputsMax of [1, 2, 3]) expect(await suspicionsIn(turns(true), inputsMax)).toEqual([])
})

test('the search by deviations finds the livelock, and the examination tells it from a long way', async () => {
  const checked = (mayLose: boolean) => {
    const handlers = turns(mayLose)
    const options = { search: 'deviations', milliseconds: 30_000, nodes: nodesOf(handlers) } as const
    return check(new HandlerSystem(handlers), { isDone }, options)
  }
  expect(await checked(false)).toMatchObject({ verdict: 'held' })
  expect(await checked(true)).toMatchObject({
    verdict: 'violated',
    kind: 'liveness',
    property: 'isDone',
    discovery: { by: 'deviations' },
  })
})

test('a way to a state that violates something else, from which nothing is followed, leaves hope', () => {
  const graph = new PromptGraph()
  const point = { cost: 0, depth: 0 } as Point
  graph.arrive(1, point, new Set())
  // It is reached twice: the first time it is a violation, and the second time it is known.
  graph.follow(1, [2], true)
  expect(graph.hopeless('isDone')).toBeUndefined()
  graph.arrive(2, point, new Set(['isDone']))
  graph.follow(2, [], true)
  expect(graph.hopeless('isDone')).toBeUndefined()
  expect(graph.hopeless('another')).toBe(point)
})

test('each cycle without a way out is given once, however often it is asked for and whatever leads to it', () => {
  const graph = new PromptGraph()
  const points = [0, 1, 2, 3].map(depth => ({ cost: 0, depth }) as Point)
  for (const [key, point] of points.slice(0, 3).entries()) graph.arrive(key, point, new Set())
  graph.follow(0, [1], true)
  graph.follow(1, [0], true)
  graph.follow(2, [2], true)
  const asked = () => [1, 2, 3].map(() => graph.hopeless('isDone'))
  expect(asked()).toEqual([points[0], points[2], undefined])
  graph.arrive(3, points[3]!, new Set())
  graph.follow(3, [0], true)
  expect(asked()).toEqual([undefined, undefined, undefined])
  graph.arrive(4, points[3]!, new Set())
  graph.follow(4, [4], true)
  expect(asked()).toEqual([points[3], undefined, undefined])
})

test('strongly connected components are the classes of nodes that lead to each other', () => {
  const graphs = fc.integer({ min: 1, max: 8 }).chain(size => {
    const node = fc.nat(size - 1)
    return fc.array(fc.array(node, { maxLength: 3 }), { minLength: size, maxLength: size })
  })
  fc.assert(
    fc.property(graphs, edges => {
      const nodes = [...edges.keys()]
      const reached = nodes.map(begin => {
        const found = new Set([begin])
        for (const node of found) for (const each of edges[node]!) found.add(each)
        return found
      })
      const together = (one: number) => nodes.filter(other => reached[one]!.has(other) && reached[other]!.has(one))
      const expected = new Set(nodes.map(node => together(node).join()))
      const components = stronglyConnected(nodes, node => edges[node]!)
      expect(new Set(components.map(component => [...component].sort().join()))).toEqual(expected)
      expect(components).toHaveLength(expected.size)
    }),
  )
})
