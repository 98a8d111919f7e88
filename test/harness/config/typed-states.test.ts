import { expect, test } from 'vitest'
import { isSystemDefinition as isSystem } from '../../../harness/config/config.ts'
import { always, defineSystem, eventually, fromCompose, jsonLines, linearizable, models } from '../../../index.ts'

interface Stock {
  readonly left: number
}

const nodes = { stock: { command: ['stock'] }, shop: { command: ['shop'] } }
const many = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`n${index}`, { command: ['stock'] }]))

/** `npm run lint` fails where one of these is not refused by TypeScript. */
test('properties know the states that the observer sees, and the names of the nodes', () => {
  const system = defineSystem({
    name: 'shops',
    nodes,
    state: jsonLines<Stock>(),
    properties: {
      neverOversold: always(s => (s.node('stock').state?.left ?? 1) >= 0),
      soldOut: eventually(s => s.nodes.some(({ state }) => state?.left === 0)),
      calls: linearizable(models.register()),
      // @ts-expect-error no state has it
      misspelt: always(s => (s.node('stock').state?.lft ?? 1) >= 0),
      // @ts-expect-error no node is called so
      unknown: always(s => (s.node('stok').state?.left ?? 1) >= 0),
      // @ts-expect-error only `always` and `eventually` make properties
      bare: () => true,
    },
  })
  expect(isSystem(system)).toBe(true)
})

test('with clients too, whose nodes are known by name', () => {
  const system = defineSystem({
    name: 'shops',
    nodes,
    state: jsonLines<Stock>(),
    // @ts-expect-error no node is called so
    clients: { ann: async ({ shop }) => shop.name, bob: async ({ shp }) => shp.name },
    properties: {
      // @ts-expect-error no state has it
      misspelt: always(s => (s.node('stock').state?.lft ?? 1) >= 0),
    },
  })
  expect(isSystem(system)).toBe(true)
})

test('states of which nothing is said can be read as they are, and names that nobody knows yet can be asked for', () => {
  const properties = {
    any: always(s => s.node('n1').state.of.any.kind),
    every: always(s => s.nodes.every(({ state }) => state?.term === 1)),
  }
  for (const system of [
    defineSystem({ name: 'one', nodes, properties: { any: always(s => s.node('shop').state.of.any.kind) } }),
    defineSystem({ name: 'many', count: 3, nodes: many, properties }),
    defineSystem({
      name: 'many',
      count: 3,
      nodes: many,
      state: jsonLines(),
      properties: { any: always(s => s.node('n1').state.of.any.kind) },
    }),
    defineSystem({
      name: 'compose',
      nodes: fromCompose('compose.yaml'),
      clients: { ann: async ({ web }) => web?.name },
      properties: { any: always(s => s.node('web').state.of.any.kind) },
    }),
  ])
    expect(isSystem(system)).toBe(true)
})
