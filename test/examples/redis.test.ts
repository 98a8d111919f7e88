import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { execa } from 'execa'
import { describe, expect, onTestFinished, test } from 'vitest'
import { acknowledgedWritesSurvive, failover, observe, type Server, write } from '../../examples/redis/cluster.ts'
import { redis } from '../../examples/redis/redis.ts'
import type { ClientCall, GlobalState, NodeHandle } from '../../harness/config/config.ts'
import { execute } from './execute.ts'
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

/** Clients that are connected to a server, the one that asks among them; its replicas are not. */
const clientsOf = async (server: NodeHandle) => {
  const info = (await redis(server, 'INFO', 'clients')) as string
  return Number(/^connected_clients:(\d+)/m.exec(info)?.[1])
}

/** A link to a server that carries everything until it is held; what comes then is lost. */
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
  onTestFinished(() => {
    link.close()
    for (const socket of sockets) socket.destroy()
  })
  await once(link.listen(port, address), 'listening')
  const hold = () => {
    held = true
  }
  return { hold }
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
  test('a primary and a replica of redis replicate a write', async () => {
    const primary = await startServer('primary', loopback(11))
    const replica1 = await startServer('replica1', loopback(12), loopback(11))
    await until(async () => (await observe(replica1.node)).link === 'connected')
    expect(await write({ primary: primary.node }, { ordinal: 1 })).toEqual(['a1', 'b1', 'c1'])
    await until(async () => (await observe(replica1.node)).writes.length === 3)
    expect(await observe(replica1.node)).toEqual({ role: 'slave', link: 'connected', writes: ['a1', 'b1', 'c1'] })
    expect(await observe(primary.node)).toEqual({ role: 'master', link: undefined, writes: ['a1', 'b1', 'c1'] })
  })

  test('that never met are no reason to promote the replica when the primary is lost', async () => {
    const primary = await startServer('primary', loopback(11))
    const replica1 = await startServer('replica1', loopback(12), loopback(13))
    const failedOver = failover({ primary: primary.node, replica1: replica1.node })
    await until(async () => (await clientsOf(primary.node)) === 2)
    primary.child.kill('SIGKILL')
    expect(await failedOver).toBe('not in sync')
    expect(await observe(replica1.node)).toMatchObject({ role: 'slave' })
  })

  test('lose acknowledged writes that were in flight when the primary was lost', async () => {
    const primary = await startServer('primary', loopback(11))
    const link = await startLink(loopback(13), loopback(11))
    const replica1 = await startServer('replica1', loopback(12), loopback(13))
    await until(async () => (await observe(replica1.node)).link === 'connected')
    link.hold()
    const written = await write({ primary: primary.node }, { ordinal: 1 })
    const failedOver = failover({ primary: primary.node, replica1: replica1.node })
    await until(async () => (await clientsOf(primary.node)) === 2)
    primary.child.kill('SIGKILL')
    expect(await failedOver).toBe('promoted')
    const promoted = await observe(replica1.node)
    expect(promoted).toEqual({ role: 'master', link: undefined, writes: [] })
    expect(
      acknowledgedWritesSurvive(stateOf([call('write', 1, written), call('failover', 3, 'promoted')], promoted)),
    ).toBe(false)
  })
})

describe.skipIf(!installed)('under the checker (needs redis-server)', () => {
  const inSync = [
    'client failover',
    'replica1 timer +1ms',
    'replica1→primary #1 open :6379',
    'primary→replica1 #1 accept :6379',
    'replica1→primary #2 PING',
    'primary→replica1 #2 PONG',
    'replica1→primary #3 REPLCONF listening-port 6379 | REPLCONF capa eof capa psync2',
    'primary→replica1 #3 OK | OK',
    'replica1→primary #5 PSYNC ? -1',
    'primary→replica1 #5 FULLRESYNC <id> 0 | RDB snapshot',
    'replica1→primary #6 REPLCONF ACK 0',
  ]
  const carried = ['primary→replica1 #7 SELECT 0 | SET a1 x | SET b1 x | SET c1 x']

  const config = 'redis/lastnail.config.ts'

  test('acknowledged writes that are in flight when the primary is reset are lost', async () => {
    const { diverged, violation, state } = await execute(config, [...inSync, 'client write', 'reset primary'])
    expect(diverged).toBe(undefined)
    expect(violation).toMatchObject({ kind: 'safety', property: 'acknowledgedWritesSurvive', step: inSync.length + 2 })
    expect(state.node('replica1').state).toEqual({ role: 'master', link: undefined, writes: [] })
  })

  test('writes that were carried before it survive', async () => {
    const { diverged, violation, state } = await execute(config, [
      ...inSync,
      'client write',
      ...carried,
      'reset primary',
    ])
    expect(diverged).toBe(undefined)
    expect(violation).toBe(undefined)
    expect(state.node('replica1').state).toEqual({ role: 'master', link: undefined, writes: ['a1', 'b1', 'c1'] })
  })
})

describe('that acknowledged writes survive', () => {
  const promoted: Server = { role: 'master', link: undefined, writes: ['a1'] }
  const promotion = call('failover', 5, 'promoted')

  test('is asked of writes acknowledged before the promotion alone', () => {
    const holds = (...calls: ClientCall[]) => acknowledgedWritesSurvive(stateOf(calls, promoted))
    expect(holds(call('write', 4, ['a1']), promotion)).toBe(true)
    expect(holds(call('write', 4, ['a1', 'b1']), promotion)).toBe(false)
    expect(holds(promotion, call('write', 6, ['a2']))).toBe(true)
    expect(holds({ ...call('write', 4, undefined), completedAt: undefined }, promotion)).toBe(true)
    expect(holds({ ...call('write', 4, undefined), error: 'SET a2 x: READONLY' }, promotion)).toBe(true)
    expect(holds(call('write', 4, ['a2']), call('failover', 5, 'not in sync'))).toBe(true)
  })
})
