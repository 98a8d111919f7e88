import { expect, test } from 'vitest'
import { oldestFirst } from '../../../checker/verdict/oldest-first.ts'
import { cellsOf } from '../systems/cells-of.ts'
import { Model, type ModelOptions, type Transition } from '../systems/model.ts'

interface Done {
  readonly x: number
  readonly y: number
  /** Who was last, where the system can tell. */
  readonly last?: string
}

/** Node x takes two steps, the second once the first is done; node y takes one at any time. */
const pair = (tellsOrder: boolean, options?: ModelOptions) => {
  const step = (node: 'x' | 'y', done: Done): Transition<Done> => ({
    kind: 'deliver',
    node,
    label: `${node}${done[node] + 1}`,
    next: () => ({ ...done, [node]: done[node] + 1, ...(tellsOrder && { last: node }) }),
  })
  const transitions = (done: Done) => [
    ...(done.x < 2 ? [step('x', done)] : []),
    ...(done.y < 1 ? [step('y', done)] : []),
  ]
  return cellsOf(new Model<Done>({ x: 0, y: 0 }, transitions, options), {})
}

test('what has waited longer comes first', async () => {
  expect(await oldestFirst(pair(false), ['x1', 'x2', 'y1'], {})).toEqual(['x1', 'y1', 'x2'])
  expect(await oldestFirst(pair(false), ['y1', 'x1', 'x2'], {})).toEqual(['y1', 'x1', 'x2'])
})

test('another order that leads to another state is another schedule', async () => {
  expect(await oldestFirst(pair(true), ['x1', 'x2', 'y1'], {})).toEqual(['x1', 'x2', 'y1'])
})

test('without fingerprints, or with a spent budget, the schedule stays as it is', async () => {
  expect(await oldestFirst(pair(false, { fingerprints: false }), ['x1', 'x2', 'y1'], {})).toEqual(['x1', 'x2', 'y1'])
  expect(await oldestFirst(pair(false), ['x1', 'x2', 'y1'], { executions: 1 })).toEqual(['x1', 'x2', 'y1'])
})
