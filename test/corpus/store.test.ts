import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { loopback, start } from '../examples/service.ts'

interface Node {
  holds: string[]
  index: Record<string, Record<string, object>>
}

const program = fileURLToPath(new URL('../../examples/corpus/store/node.js', import.meta.url))

/** Belongs to the first of four nodes. */
const object = 'letter'

const disk = () => {
  const directory = mkdtempSync(join(tmpdir(), 'store-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

const run = (hosts: readonly number[]) => {
  const members = hosts.map(host => `${loopback(host)}:7000`)
  const disks = members.map(disk)
  const begin = (i: number) => start<Node>([program, members[i]!, disks[i]!, ...members])
  return { members, begin, nodes: members.map((_, i) => begin(i)) }
}

const tell = async (address: string, message: object) => {
  const [host, port] = address.split(':')
  const socket = connect(Number(port), host!)
  socket.end(`${JSON.stringify({ ...message, from: 'client', run: 0 })}\n`)
  await once(socket, 'close')
}

/** Resolves when the process has ended, and its port is free. */
const gone = async (pid: number) => {
  try {
    for (;;) {
      process.kill(pid, 0)
      await nextTurn()
    }
  } catch {}
}

const isIndexedAt = (holders: readonly string[]) => (node: Node) =>
  Object.keys(node.index[object] ?? {})
    .sort()
    .join() === [...holders].sort().join()

test('an object has three replicas, also after a node was drained', async () => {
  const { members, nodes } = run([71, 72, 73, 74])
  const [first, second, third, fourth] = members as [string, string, string, string]
  await Promise.all(nodes.map(node => node.state(() => true)))
  await tell(first, { type: 'put', object, content: 'Dear' })
  await nodes[0]!.state(isIndexedAt([second, third, fourth]))
  await tell(second, { type: 'drain', to: first })
  await nodes[0]!.state(isIndexedAt([first, third, fourth]))
  expect(nodes[0]!.states.at(-1)!.holds).toEqual([object])
  const { states } = nodes[1]!
  await nodes[1]!.state(() => states.some(({ holds }) => holds.length > 0) && states.at(-1)!.holds.length === 0)
})

test('an owner that comes back with an empty memory indexes what the others hold', async () => {
  const { members, nodes, begin } = run([75, 76, 77, 78])
  await Promise.all(nodes.map(node => node.state(() => true)))
  await tell(members[0]!, { type: 'put', object, content: 'Dear' })
  await nodes[0]!.state(isIndexedAt(members.slice(1)))
  process.kill(nodes[0]!.pid, 'SIGKILL')
  await gone(nodes[0]!.pid)
  const back = begin(0)
  await back.state(isIndexedAt(members.slice(1)))
})

// The checker found replicas that nobody indexed: of two nodes that had lost each other only one had noticed.
test('who is told by a node that lost it tells it too, though it noticed nothing itself', async () => {
  const [owner, holder] = [79, 80].map(host => `${loopback(host)}:7000`) as [string, string]
  const heard: unknown[] = []
  const listening = createServer(socket => void listen(socket))
  const listen = async (socket: Socket) => {
    for await (const line of createInterface(socket)) {
      const { type, objects } = JSON.parse(line)
      heard.push(objects ? { type, objects } : { type })
    }
  }
  listening.listen(7000, owner.split(':')[0])
  onTestFinished(() => void listening.close())
  const node = start<Node>([program, holder, disk(), owner, holder])
  await node.state(() => true)
  const socket = connect(7000, holder.split(':')[0]!)
  onTestFinished(() => void socket.destroy())
  void listen(socket)
  const say = (message: object) => socket.write(`${JSON.stringify({ ...message, from: owner, run: 1 })}\n`)
  say({ type: 'store', object, content: 'Dear' })
  await node.state(({ holds }) => holds.length === 1)
  say({ type: 'holds', objects: [] })
  const answer = { type: 'holds', objects: [object] }
  await expect.poll(() => heard, { timeout: 20_000 }).toContainEqual(answer)
})
