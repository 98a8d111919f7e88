import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { loopback, start } from '../examples/service.ts'

interface Node {
  blocks: number[]
  senders: Record<string, { view: number[] }>
}

const program = fileURLToPath(new URL('../../examples/corpus/bullet/node.js', import.meta.url))

test('every node gets the whole file, and is told what its senders have', async () => {
  const [source, r1, r2] = [81, 82, 83].map(host => `${loopback(host)}:7000`) as [string, string, string]
  const receivers = [start<Node>([program, r1, '0', r2]), start<Node>([program, r2, '0', r1])]
  const all = await Promise.all(
    [...receivers, start<Node>([program, source, '3', r1, r2])].map(node =>
      node.state(({ blocks }) => blocks.length === 3),
    ),
  )
  expect(all.map(({ blocks }) => blocks)).toEqual([
    [0, 1, 2],
    [0, 1, 2],
    [0, 1, 2],
  ])
  const knowsAll = (state: Node) => Object.values(state.senders).filter(({ view }) => view.length === 3).length === 2
  await Promise.all(receivers.map(node => node.state(knowsAll)))
})
