import { spawnSync } from 'node:child_process'
import { describe, expect, test } from 'vitest'
import { type Reply, redis } from '../../examples/redis/redis.ts'
import type { Cluster } from '../../harness/cluster.ts'
import type { NodeHandle } from '../../harness/config/config.ts'
import { clusterOf, labelsOf, take } from './system.ts'

const installed = spawnSync('redis-server', ['--version']).status === 0
const start = Date.UTC(2026, 0, 1)
const spin = 'for i = 1, 1e7 do end return redis.call("TIME")'

/** A server whose own timer fires after a millisecond and then once a second, with its clients. */
const startServer = async (): Promise<Cluster> => {
  const options = ['--bind', '{{r.address}}', '--protected-mode', 'no', '--save', '', '--hz', '1', '--dynamic-hz', 'no']
  const client =
    (...command: readonly string[]) =>
    ({ r }: Readonly<Record<string, NodeHandle>>) =>
      redis(r!, ...command)
  const cluster = clusterOf({
    nodes: { r: { command: ['redis-server', ...options], listens: 6379 } },
    clients: {
      time: { run: client('TIME'), times: 4 },
      spin: client('EVAL', spin, '0'),
      set999: client('SET', 'k999', 'v', 'PX', '999'),
      set1000: client('SET', 'k1000', 'v', 'PX', '1000'),
      set1001: client('SET', 'k1001', 'v', 'PX', '1001'),
      get: { run: client('MGET', 'k999', 'k1000', 'k1001'), times: 3 },
      left: client('PTTL', 'k1001'),
    },
  })
  expect(await cluster.reset()).toEqual([])
  return cluster
}

/** What the server answers to a client. */
const ask = async (cluster: Cluster, client: string): Promise<Reply> => {
  await take(cluster, `client ${client}`)
  const { value, error } = cluster.state().calls.at(-1)!
  expect(error).toBe(undefined)
  return value as Reply
}

/** Milliseconds since the start, in what `TIME` answers: seconds and microseconds. */
const sinceStart = (time: Reply): number => {
  const [seconds, microseconds] = time as string[]
  return Number(seconds) * 1000 + Number(microseconds) / 1000 - start
}

describe.skipIf(!installed)('redis-server (needs redis-server)', () => {
  test('has a clock that stands still, also while it computes, and goes on by the timer that fires', async () => {
    const cluster = await startServer()
    expect(sinceStart(await ask(cluster, 'time'))).toBe(0)
    expect(sinceStart(await ask(cluster, 'spin'))).toBe(0)
    expect(sinceStart(await ask(cluster, 'time'))).toBe(0)
    await take(cluster, 'r timer +1ms')
    expect(sinceStart(await ask(cluster, 'time'))).toBe(1)
    await take(cluster, 'r timer +1000ms')
    expect(sinceStart(await ask(cluster, 'time'))).toBe(1001)
  })

  test('expires keys to the millisecond: one is there until its time to live is over, and not after', async () => {
    const cluster = await startServer()
    await take(cluster, 'r timer +1ms')
    for (const life of [999, 1000, 1001]) expect(await ask(cluster, `set${life}`)).toBe('OK')
    expect(await ask(cluster, 'get')).toEqual(['v', 'v', 'v'])
    await take(cluster, 'r timer +1000ms')
    expect(await ask(cluster, 'get')).toEqual([null, 'v', 'v'])
    expect(await ask(cluster, 'left')).toBe(1)
    expect(labelsOf(cluster).filter(label => label.includes('timer'))).toEqual(['r timer +1000ms'])
    await take(cluster, 'r timer +1000ms')
    expect(await ask(cluster, 'get')).toEqual([null, null, null])
  })
})
