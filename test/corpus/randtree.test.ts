import { expect, onTestFinished, test, vi } from 'vitest'
// @ts-expect-error: plain JavaScript without declarations, as a service is
import { Tree } from '../../examples/corpus/randtree/tree.js'
import { loopback, type Service, start } from '../examples/service.ts'

interface Node {
  state: string
  root: string
  parent: string | null
  children: string[]
  isRecovering: boolean
}

const program = new URL('../../examples/corpus/randtree/node.js', import.meta.url).pathname
const address = (host: number) => `${loopback(host)}:7000`
const node = (host: number, ...peers: number[]) => start<Node>([program, address(host), ...peers.map(address)])

const joined = (service: Service<Node>, root: number) =>
  service.state(({ state, root: known }) => state === 'joined' && known === address(root))

test('nodes that join one after the other become one tree, and the smallest address its root', async () => {
  const n3 = node(3)
  await joined(n3, 3)
  const n2 = node(2, 3)
  await joined(n2, 2)
  const services = [node(1, 2), n2, n3]
  const parentOf = async (service: Service<Node>) => (await joined(service, 1)).parent
  expect(await parentOf(services[0]!)).toBe(address(1))
  for (const host of [2, 3]) {
    const parent = await parentOf(services[host - 1]!)
    const father = services.find((_, n) => address(n + 1) === parent)!
    await father.state(({ children }) => children.includes(address(host)))
  }
  for (const service of services) await service.state(({ isRecovering }) => isRecovering)
})

test('a node whose parent ends is the root of its own tree, and joins again when the parent is back', async () => {
  const [n1, n2] = [node(1), node(2, 1)]
  await n2.state(({ parent }) => parent === address(1))
  process.kill(n1.pid, 'SIGKILL')
  await n2.state(({ state, root }) => state === 'joined' && root === address(2))
  const before = n2.states.length
  node(1)
  await n2.state(state => n2.states.indexOf(state) >= before && state.parent === address(1))
})

// The checker found two trees that never met: nodes probed their own relatives.
test('a node looks for another tree among strangers, each time it looks', () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const [child, stranger] = [address(2), address(3)]
  const sent: [string, string][] = []
  const send = (peer: string, { type }: { type: string }) => sent.push([type, peer]) > 0
  const tree = new Tree(address(1), [child, stranger], { send, close: () => undefined, changed: () => undefined })
  tree.join()
  tree.onMessage({ type: 'ForceRoot', root: address(1) }, child)
  tree.onMessage({ type: 'Join', joiner: child, request: 1 }, child)
  expect([...tree.children.keys()]).toEqual([child])
  sent.length = 0
  for (let times = 1; times <= 3; times++) {
    vi.advanceTimersToNextTimer()
    expect(sent.splice(0)).toEqual([
      ['Ping', child],
      ['Probe', stranger],
    ])
  }
})
