import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { loopback, type Service, start } from '../examples/service.ts'

interface Node {
  self: string
  parent: string | null
  children: string[]
}

const program = fileURLToPath(new URL('../../examples/corpus/brokentree/node.js', import.meta.url))
const address = (host: number) => `${loopback(host)}:7000`
const startNode = (host: number, env = {}): Service<Node> => start<Node>([program, address(host), address(1)], env)

test('four nodes form a tree under the root, the last of them a level down', async () => {
  const root = startNode(1)
  await root.state(() => true)
  const first = [startNode(2), startNode(3)]
  for (const node of first)
    expect(await node.state(({ parent }) => parent !== null)).toMatchObject({ parent: address(1) })
  await root.state(({ children }) => children.length === 2)
  const last = await startNode(4).state(({ parent }) => parent !== null)
  expect([address(1), address(2), address(3)]).toContain(last.parent)
})

test('a node takes itself in with BUG=brokentree-self', async () => {
  const root = startNode(1)
  await root.state(() => true)
  const nodes = [2, 3].map(host => startNode(host, { BUG: 'brokentree-self' }))
  const own = ({ self, children }: Node) => children.includes(self)
  expect(await Promise.race(nodes.map(node => node.state(own)))).toMatchObject({ moving: true })
})
