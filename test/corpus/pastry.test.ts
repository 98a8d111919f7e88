import { createSocket } from 'node:dgram'
import { on, once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { loopback, type Service, start } from '../examples/service.ts'

interface Node {
  joined: boolean
  left: number | null
  right: number | null
}

const program = fileURLToPath(new URL('../../examples/corpus/pastry/node.js', import.meta.url))
const address = (host: number) => `${loopback(host)}:7000`

const startNode = (key: number, host: number, bootstrap?: string, env = {}): Service<Node> =>
  start<Node>([program, `${key}`, address(host), ...(bootstrap ? [bootstrap] : [])], env)

test('four nodes become neighbours in the order of their keys', async () => {
  const first = startNode(0, 1)
  await first.state(({ joined }) => joined)
  const nodes = [first, ...[24, 10, 50].map((key, i) => startNode(key, 2 + i, address(1)))]
  const neighbours = [
    { left: 50, right: 10 },
    { left: 10, right: 50 },
    { left: 0, right: 24 },
    { left: 24, right: 0 },
  ]
  for (const [i, node] of nodes.entries()) {
    const { left, right } = neighbours[i]!
    expect(await node.state(state => state.left === left && state.right === right)).toMatchObject({ joined: true })
  }
})

/** What a node that has not joined answers to the Join of another, which the test passes on to it. */
const answerToJoin = async () => {
  const socket = createSocket('udp4')
  onTestFinished(() => void socket.close())
  await once(socket.bind(7000, loopback(1)), 'listening')
  const answers = on(socket, 'message')
  startNode(24, 2, address(1))
  await answers.next()
  socket.send(JSON.stringify({ type: 'Join', node: { key: 34, address: address(3) }, firstRow: 0 }), 7000, loopback(2))
  for await (const [bytes] of answers) {
    const { type } = JSON.parse(bytes)
    if (type !== 'Join') return type
  }
}

test('a node that has not joined says so to whoever passes a Join on to it', async () => {
  expect(await answerToJoin()).toBe('NotJoined')
})
