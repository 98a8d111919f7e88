import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { check } from '../../cli/library.ts'
import { always, defineSystem, jsonLines, type NodeHandle, type SystemDefinition } from '../../harness/config/config.ts'
import { directoryWith } from '../harness/system.ts'
import { has } from '../has.ts'

/**
 * Correct services of the common kinds: none of them may be accused, and none may end undetermined. Every execution that
 * begins in place must be the one that begins on new processes, or a check of a correct service cannot be held.
 */
const fixture = (name: string) => join(import.meta.dirname, 'fixtures', name)

const post = async (...nodes: (NodeHandle | undefined)[]) => {
  for (const node of nodes) await (await node!.http(8080, '/', { method: 'POST' })).body.text()
}

/** Two servers, and two clients that call them in opposite orders. */
const pair = (command: readonly string[]): SystemDefinition =>
  defineSystem({
    name: 'pair',
    nodes: {
      s1: { command: [...command], listens: [8080] },
      s2: { command: [...command], listens: [8080] },
    },
    state: jsonLines('stdout'),
    clients: { a: ({ s1, s2 }) => post(s1, s2), b: ({ s1, s2 }) => post(s2, s1) },
    properties: {
      countsCalls: always(s => s.nodes.every(({ state }) => ((state as { count: number })?.count ?? 0) <= 2)),
    },
  })

/** A search may be over sooner. */
const expectHeld = async (system: SystemDefinition, executions: number) => {
  const outcome = await check(system, { executions, workers: 1, out: directoryWith({}) })
  expect(outcome).toMatchObject({ verdict: 'held' })
}

describe('a correct service is held', () => {
  test('HTTP in Node.js', () => expectHeld(pair(['node', fixture('http-node.cjs')]), 150))

  test.skipIf(!has('python3'))('HTTP on Python asyncio (needs python3)', () =>
    expectHeld(pair(['python3', fixture('http-asyncio.py')]), 400),
  )

  test.skipIf(!has('redis-server'))('two shops in Node.js over redis (needs redis-server)', () => {
    const shop = { command: ['node', fixture('shop.cjs'), '{{redis.address}}'], listens: [8080] }
    const system = defineSystem({
      name: 'shops',
      nodes: {
        redis: { command: ['redis-server', '--protected-mode', 'no', '--save', ''], listens: [6379] },
        shop1: shop,
        shop2: shop,
      },
      state: jsonLines('stdout'),
      clients: { a: { run: ({ shop1 }) => post(shop1), times: 2 }, b: { run: ({ shop2 }) => post(shop2), times: 2 } },
      properties: {
        neverOversold: always(
          s => s.nodes.reduce((sum, { state }) => sum + ((state as { sold: number })?.sold ?? 0), 0) <= 2,
        ),
      },
    })
    return expectHeld(system, 150)
  })
})
