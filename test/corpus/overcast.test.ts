import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { loopback, start } from '../examples/service.ts'

interface Node {
  self: string
  parent: string | null
  children: string[]
  lockedBy: string | null
}

const program = fileURLToPath(new URL('../../examples/corpus/overcast/node.js', import.meta.url))
const address = (host: number) => `${loopback(host)}:7000`
const startNode = (host: number) => start<Node>([program, address(host), address(1)])

test('three nodes form a tree, and go on to lock each other', async () => {
  const root = startNode(1)
  await root.state(() => true)
  const nodes = [startNode(2), startNode(3)]
  for (const node of nodes) await node.state(({ parent }) => parent !== null)
  const locked = await Promise.race([root, ...nodes].map(node => node.state(({ lockedBy }) => lockedBy !== null)))
  expect([address(2), address(3)]).toContain(locked.lockedBy)
})
