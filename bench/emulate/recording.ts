/**
 * What it costs to hold a service in real time, and to record it. The same load is put on two processes without this tool,
 * at the pace native, and at the pace real, where every packet is a step, with and without a trace.
 */

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { clocksStartUnsaid } from '../../checker/trace/again.ts'
import { createTrace, headerOf } from '../../cli/traces/record.ts'
import { StepReader } from '../../cli/traces/step-reader.ts'
import { Cluster } from '../../harness/cluster.ts'
import { defineSystem, type ResolvedSystem, resolveSystem } from '../../harness/config/config.ts'
import { TimedRun, type TimedRunOptions } from '../../harness/emulation/timed-run.ts'
import type { Reader } from '../../harness/steering/live-execution.ts'
import { timedSystem } from '../../harness/timed/timed-system.ts'
import type { Timing } from '../../harness/timed/timing.ts'
import { planOf } from '../../harness/timed/wiring.ts'
import { median, row, whole } from '../table.ts'
import { natively } from './natively.ts'

const rounds = 3
const program = join(import.meta.dirname, '../../../bench/service/load.cjs')

/** A server, and what is asked of it. */
interface Load {
  readonly what: string
  readonly kind: 'redis' | 'http'
  readonly connections: number
  /** So few that the pace real needs seconds. */
  readonly requests: number
}

const loads: readonly Load[] = [
  { what: 'redis, GET, 1 connection', kind: 'redis', connections: 1, requests: 3000 },
  { what: 'redis, GET, 50 connections', kind: 'redis', connections: 50, requests: 10_000 },
  { what: 'HTTP of Node.js, 1 connection', kind: 'http', connections: 1, requests: 3000 },
  { what: 'HTTP of Node.js, 50 connections', kind: 'http', connections: 50, requests: 10_000 },
]

type Words = [string, ...string[]]
const servers: Readonly<Record<Load['kind'], { readonly port: number; readonly command: Words }>> = {
  redis: { port: 6379, command: ['redis-server', '--save', '', '--protected-mode', 'no'] },
  http: { port: 8080, command: ['node', program, 'serve'] },
}

const client = (host: string, { kind, connections, requests }: Load): Words => [
  ...(['node', program, 'ask', kind, host] as Words),
  ...[servers[kind].port, connections, requests].map(String),
]
const nodesFor = (load: Load) => ({
  server: { command: servers[load.kind].command },
  client: { command: client('{{server.address}}', load), exits: 'allowed' as const },
})

/** Requests a second, as the client prints them. */
const rateIn = (printed: string): number => (JSON.parse(printed) as { rate: number }).rate

const direct = async (load: Load): Promise<number> => {
  const [name, ...words] = servers[load.kind].command
  const server = spawn(name, words, { stdio: 'ignore' })
  try {
    await sleep(500)
    const [program, ...asked] = client('127.0.0.1', load)
    return rateIn(spawnSync(program, asked, { encoding: 'utf8' }).stdout)
  } finally {
    server.kill('SIGTERM')
    await once(server, 'exit')
  }
}

const atNative = (load: Load): Promise<number> =>
  natively(nodesFor(load), undefined, async ({ cluster, output }) => {
    await cluster.join('server')
    await sleep(500)
    await cluster.join('client')
    while (output('client') === '') await sleep(50)
    return rateIn(output('client'))
  })

const directory = mkdtempSync(join(tmpdir(), 'lastnail-recording-'))

interface Held {
  readonly rate: number
  /** CPU time of this process for each step, in microseconds. */
  readonly cpuUs: number
  readonly steps: number
  readonly traceBytes: number
}

/** Ends when the client does. */
const atReal = async (load: Load, isRecorded: boolean): Promise<Held> => {
  const definition = defineSystem({ name: 'recording', nodes: nodesFor(load) })
  const system = timedSystem(resolveSystem(definition, { directory }))
  const names = system.nodes.map(({ name }) => name)
  const wiring = { topology: undefined, hops: 'collapsed', seed: 1 } as const
  const { pipes, routes, seed } = planOf(
    names.map(name => ({ name, address: name })),
    wiring,
  )
  const timing: Timing = {
    pace: 'real',
    initial: names,
    events: [],
    wiring: { pipes, routes, seed },
    pausesMs: {},
    clocks: system.emulation.clocks,
    inputs: [],
  }
  const cluster = new Cluster(system, { rewind: false, timing })
  const trace = join(directory, 'run.trace')
  const config = { definition, directory, path: '', sha256: '', isDocker: false }
  const writer = isRecorded
    ? createTrace(
        trace,
        headerOf(config as never, system, {
          seed: 1,
          clocksStart: clocksStartUnsaid,
          options: {},
          addresses: cluster.addresses,
        }),
      )
    : undefined
  try {
    let begun = process.cpuUsage()
    const onStart = () => {
      begun = process.cpuUsage()
    }
    const run = new TimedRun(cluster, system, { ...optionsOf(cluster, system, writer, onStart), pace: 'real' })
    const over = new AbortController()
    const look = setInterval(() => {
      if (run.steps > 0 && run.nodes.some(({ name, isAlive }) => name === 'client' && !isAlive)) over.abort()
    }, 20)
    await run.run(over.signal)
    clearInterval(look)
    writer?.close()
    const { user, system: kernel } = process.cpuUsage(begun)
    const printed = cluster.state().nodes.find(({ name }) => name === 'client')!.output.stdout
    const traceBytes = writer ? statSync(trace).size : 0
    return { rate: rateIn(printed), cpuUs: (user + kernel) / run.steps, steps: run.steps, traceBytes }
  } finally {
    cluster.close()
  }
}

const optionsOf = (
  cluster: Cluster,
  system: ResolvedSystem,
  writer: ReturnType<typeof createTrace> | undefined,
  onStart: () => void,
): Omit<TimedRunOptions, 'pace'> => ({
  forMs: 600_000,
  lookEveryMs: 1000,
  joined: undefined,
  progress: { start: onStart, update: () => undefined, end: () => undefined } as never,
  reader: writer ? new StepReader(cluster, system.properties) : blind,
  besides: undefined,
  onStep: step => writer?.step(step),
})

const blind: Reader = { values: new Map(), observer: () => ({}), copy: () => blind }

const several = async <Figure>(measure: () => Promise<Figure>): Promise<Figure[]> => {
  const figures: Figure[] = []
  for (let round = 0; round < rounds; round++) figures.push(await measure())
  return figures
}

try {
  for (const load of loads) {
    row(`${load.what}: without this tool`, whole(median(await several(() => direct(load)))), 'a second')
    row('  at native', whole(median(await several(() => atNative(load)))), 'a second')
    for (const isRecorded of [false, true]) {
      const held = await several(() => atReal(load, isRecorded))
      row(`  at real${isRecorded ? ', recorded' : ''}`, whole(median(held.map(({ rate }) => rate))), 'a second')
      row('    CPU of the tool for a step', median(held.map(({ cpuUs }) => cpuUs)).toFixed(0), 'µs')
      if (isRecorded) row('    the trace, for a step', (held[0]!.traceBytes / held[0]!.steps).toFixed(0), 'bytes')
    }
  }
} finally {
  rmSync(directory, { recursive: true, force: true })
}
