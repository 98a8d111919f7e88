import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { loopback, type Service, start } from '../examples/service.ts'

interface Node {
  key: number
  joined: boolean
  predecessor: number
  successors: number[]
  fingers: number[]
}

const program = fileURLToPath(new URL('../../examples/corpus/chord/node.js', import.meta.url))
const address = (host: number) => `${loopback(host)}:7000`

const startNode = (key: number, host: number, bootstrap?: string, env = {}): Service<Node> =>
  start<Node>([program, `${key}`, address(host), ...(bootstrap ? [bootstrap] : [])], env)

test('three nodes form a ring in the order of their keys, with the right fingers', async () => {
  const first = startNode(0, 1)
  await first.state(({ joined }) => joined)
  const nodes = [first, startNode(4, 2, address(1)), startNode(2, 3, address(1))]
  const ring = [
    { key: 0, predecessor: 4, successors: [2, 4], fingers: [2, 2, 4] },
    { key: 4, predecessor: 2, successors: [0, 2], fingers: [0, 0, 0] },
    { key: 2, predecessor: 0, successors: [4, 0], fingers: [4, 4, 0] },
  ]
  for (const [i, node] of nodes.entries()) {
    const { predecessor, successors, fingers } = ring[i]!
    const isThere = (state: Node) =>
      state.predecessor === predecessor &&
      `${state.successors}` === `${successors}` &&
      `${state.fingers}` === `${fingers}`
    expect(await node.state(isThere)).toMatchObject(ring[i]!)
  }
})

/** The node that 2 joins by, played by the test: it answers that 2 is its successor, as it was before it was reset. */
const startForgetful = async () => {
  const sockets = new Set<Socket>()
  const server = createServer(socket => {
    sockets.add(socket)
    createInterface({ input: socket }).on('line', line => {
      if (JSON.parse(line).type !== 'Find') return
      const nodes = [
        { key: 0, address: address(1) },
        { key: 2, address: address(2) },
      ]
      socket.write(`${JSON.stringify({ from: address(1), run: 1, type: 'Found', nodes })}\n`)
    })
  })
  server.listen({ host: loopback(1), port: 7000 })
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
}

test('a node that the ring still knows joins it again', async () => {
  await startForgetful()
  const node = startNode(2, 2, address(1))
  expect(await node.state(({ joined }) => joined)).toMatchObject({ predecessor: 0, successors: [0] })
})

test('it becomes its own predecessor with BUG=chord-pred-self', async () => {
  await startForgetful()
  const node = startNode(2, 2, address(1), { BUG: 'chord-pred-self' })
  expect(await node.state(({ joined, predecessor }) => joined && predecessor === 2)).toMatchObject({
    successors: [0],
  })
})
