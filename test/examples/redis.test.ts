import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { execa } from 'execa'
import { describe, expect, onTestFinished, test } from 'vitest'
import { acknowledgedWritesSurvive, observe, promote, type Server, write } from '../../examples/redis/cluster.ts'
import { redis } from '../../examples/redis/redis.ts'
import type { ClientCall, GlobalState, NodeHandle } from '../../harness/config.ts'
import { loopback } from './service.ts'

const installed = spawnSync('redis-server', ['--version']).status === 0
const port = 6379

/** What the clients and the observer use of a node. */
const handle = (name: string, address: string) =>
  ({ name, address, tcp: (to: number) => connect(to, address) }) as unknown as NodeHandle

/** A server that is ended when the test is over; a replica where it is given a primary. */
const startServer = async (name: string, address: string, primary?: string) => {
  const child = execa(
    'redis-server',
    [
      ...['--bind', address, '--protected-mode', 'no', '--save', '', '--repl-diskless-load', 'on-empty-db'],
      ...['--repl-diskless-sync-delay', '0', ...(primary ? ['--replicaof', `${primary} ${port}`] : [])],
    ],
    { cwd: tmpdir(), reject: false, stdout: 'ignore' },
  )
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await child
  })
  const node = handle(name, address)
  await until(async () => (await redis(node, 'PING')) === 'PONG')
  return { node, child }
}

/** Tries again until it is so; a server that cannot be reached yet is not. */
const until = async (isSo: () => Promise<boolean>) => {
  while (!(await isSo().catch(() => false))) await sleep(20)
}

/** A link to a server that carries everything until it is held; what comes then is lost when it is cut. */
const startLink = async (address: string, to: string) => {
  const sockets: Socket[] = []
  const link = createServer(replica => {
    const primary = connect(port, to)
    sockets.push(replica, primary)
    for (const socket of [replica, primary]) socket.on('error', () => {})
    replica.on('data', bytes => primary.write(bytes))
    primary.on('data', bytes => held || replica.write(bytes))
  })
  let held = false
  const cut = () => {
    link.close()
    for (const socket of sockets) socket.destroy()
  }
  onTestFinished(cut)
  await once(link.listen(port, address), 'listening')
  const hold = () => {
    held = true
  }
  return { hold, cut }
}

const call = (client: string, step: number, value: unknown): ClientCall => ({
  client,
  ordinal: 1,
  invokedAt: step,
  completedAt: step,
  value,
  error: undefined,
})

/** The part of a global state that the property reads. */
const stateOf = (calls: ClientCall[], replica1: Server) =>
  ({ calls, node: () => ({ state: replica1 }) }) as unknown as GlobalState<Server>

describe.skipIf(!installed)('a primary and a replica (needs redis-server)', () => {
  test('replicate a write, and the replica is not promoted while it has its primary', async () => {
    const primary = await startServer('primary', loopback(11))
    const replica1 = await startServer('replica1', loopback(12), loopback(11))
    await until(async () => (await observe(replica1.node)).link === 'connected')
    expect(await write({ primary: primary.node }, { ordinal: 1 })).toBe('write1')
    await until(async () => (await observe(replica1.node)).writes.length > 0)
    expect(await promote({ replica1: replica1.node })).toBe('not needed')
    expect(await observe(replica1.node)).toEqual({ role: 'slave', link: 'connected', writes: ['write1'] })
    expect(await observe(primary.node)).toEqual({ role: 'master', link: undefined, writes: ['write1'] })
  })

  test('that never met are no reason to promote the replica', async () => {
    const replica1 = await startServer('replica1', loopback(12), loopback(11))
    expect(await promote({ replica1: replica1.node })).toBe('not needed')
  })

  test('lose an acknowledged write that was on its way when the link was cut', async () => {
    const primary = await startServer('primary', loopback(11))
    const link = await startLink(loopback(13), loopback(11))
    const replica1 = await startServer('replica1', loopback(12), loopback(13))
    await until(async () => (await observe(replica1.node)).link === 'connected')
    link.hold()
    const written = await write({ primary: primary.node }, { ordinal: 1 })
    link.cut()
    await until(async () => (await promote({ replica1: replica1.node })) === 'promoted')
    const promoted = await observe(replica1.node)
    expect(promoted).toEqual({ role: 'master', link: undefined, writes: [] })
    expect(
      acknowledgedWritesSurvive(stateOf([call('write', 1, written), call('promote', 3, 'promoted')], promoted)),
    ).toBe(false)
  })
})

describe('that acknowledged writes survive', () => {
  const promoted: Server = { role: 'master', link: undefined, writes: ['write1'] }
  const promotion = call('promote', 5, 'promoted')

  test('is asked of writes acknowledged before the promotion alone', () => {
    const holds = (...calls: ClientCall[]) => acknowledgedWritesSurvive(stateOf(calls, promoted))
    expect(holds(call('write', 4, 'write1'), promotion)).toBe(true)
    expect(holds(call('write', 4, 'write2'), promotion)).toBe(false)
    expect(holds(promotion, call('write', 6, 'write2'))).toBe(true)
    expect(holds({ ...call('write', 4, undefined), completedAt: undefined }, promotion)).toBe(true)
    expect(holds({ ...call('write', 4, undefined), error: 'write: READONLY' }, promotion)).toBe(true)
    expect(holds(call('write', 4, 'write2'), call('promote', 5, 'not needed'))).toBe(true)
  })
})
