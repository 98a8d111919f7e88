import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { loopback, start } from '../examples/service.ts'

interface Client {
  waiting: object[]
  using: object[]
}

interface Server {
  locks: Record<string, { holders: Record<string, string>; queue: string[] }>
}

const file = (name: string) => fileURLToPath(new URL(`../../examples/corpus/lockserver/${name}`, import.meta.url))

/** The state in which every thread has used what it wanted. */
const isDone =
  (uses: number) =>
  ({ states }: { states: readonly Client[] }) =>
    new Set(states.flatMap(({ using }) => using.map(use => JSON.stringify(use)))).size === uses

test('every thread gets every lock that it asks for, and the server knows who kept it', async () => {
  const [at, a, b] = [61, 62, 63].map(host => `${loopback(host)}:7000`) as [string, string, string]
  const server = start<Server>([file('server.js'), at])
  await server.state(() => true)
  const first = start<Client>([file('client.js'), a, at, 'l1=shared,l1=exclusive', 'l2=exclusive'])
  const second = start<Client>([file('client.js'), b, at, 'l2=shared,l2=exclusive', 'l1=exclusive'])
  await first.state(() => isDone(3)(first))
  await second.state(() => isDone(3)(second))
  for (const { states } of [first, second]) expect(states.every(({ using }) => using.length <= 2)).toBe(true)
  const holdersMax = server.states.flatMap(({ locks }) =>
    Object.values(locks).map(({ holders }) =>
      Object.values(holders).includes('exclusive') ? Object.keys(holders).length : 0,
    ),
  )
  expect(Math.max(...holdersMax)).toBe(1)
})
