/** How long transfers take over the same pipes at the pace virtual, by its model of TCP, and at native, by the kernels' own. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Pipe } from '../../topologies/topology.ts'
import { median } from '../table.ts'
import { type NativeRun, natively } from './natively.ts'
import { fetchFrom, isDone, serve, type Times, timesIn, topologyOf } from './transfers.ts'

const root = join(import.meta.dirname, '../../..')
const config = join(import.meta.dirname, 'transfer.config.js')

/** Delays are those of one direction: half of the round trip. */
const pipes: Readonly<Record<string, Pipe>> = {
  '10 ms, 100 Mbit/s': { delayMs: 5, bandwidth: 100e6, queue: { packets: 100 } },
  '130 ms, 5 Mbit/s': { delayMs: 65, bandwidth: 5e6, queue: { packets: 100 } },
  '80 ms, 0.5 % loss': { delayMs: 40, bandwidth: 100e6, loss: 0.005, queue: { packets: 1000 } },
}

/** What `native` was measured with. */
let congestionControl: string | undefined

const directory = mkdtempSync(join(tmpdir(), 'lastnail-paces-'))

const nodes = { a: { command: serve }, b: { command: fetchFrom('{{a.address}}') } }

const atVirtual = async (name: string, pipe: Pipe, seed: number): Promise<Times> => {
  const place = join(directory, `${name.replaceAll('/', ' per ')}, seed ${seed}`)
  writeFileSync(`${place}.json`, JSON.stringify(topologyOf(pipe)))
  const options = ['--topology', `${place}.json`, '--for', '20m', '--seed', String(seed), '--out', place]
  const run = spawn(process.execPath, [join(root, 'bin/lastnail.js'), 'emulate', config, ...options], {
    stdio: 'ignore',
  })
  await once(run, 'exit')
  return timesIn(readFileSync(join(place, 'transfer/latest/output/b.stdout'), 'utf8'))
}

/** What the model is of; or where this kernel does not let a namespace choose it, what that comes near to here. */
const chooseCongestionControl = (): string => {
  for (const name of ['cubic', 'reno'])
    try {
      writeFileSync('/proc/sys/net/ipv4/tcp_congestion_control', name)
      return name
    } catch {
      // Try the next one.
    }
  throw new Error('no congestion control can be chosen')
}

const atNative = (pipe: Pipe, seed: number): Promise<Times> => {
  const work = async ({ cluster, output }: NativeRun): Promise<Times> => {
    const chosen = cluster.nodes.map(({ namespace }) => namespace.run(chooseCongestionControl))
    await cluster.join('a')
    await sleep(500)
    await cluster.join('b')
    while (!isDone(output('b'))) await sleep(200)
    congestionControl = chosen[0]
    return timesIn(output('b'))
  }
  return natively(nodes, topologyOf(pipe), work, seed)
}

/** One run without random loss; with it several, each with losses of its own. */
const runsOf = async (pipe: Pipe, run: (seed: number) => Promise<Times>): Promise<Times> => {
  const seeds = pipe.loss === undefined ? [1] : [1, 2, 3, 4, 5]
  const runs = await Promise.all(seeds.map(run))
  return new Map([...runs[0]!.keys()].map(what => [what, runs.flatMap(times => times.get(what)!)]))
}

try {
  const runAll = (run: (name: string, pipe: Pipe, seed: number) => Promise<Times>): Promise<Times[]> =>
    Promise.all(Object.entries(pipes).map(([name, pipe]) => runsOf(pipe, seed => run(name, pipe, seed))))
  // One after the other: nodes that are held have real-time priority.
  const virtual = await runAll(atVirtual)
  const native = await runAll((_, pipe, seed) => atNative(pipe, seed))
  const deviations: { readonly what: string; readonly percent: number }[] = []
  for (const [index, [name, pipe]] of Object.entries(pipes).entries()) {
    console.log(`${name}: ms at virtual, at native (least to most), beyond it`)
    for (const [what, found] of native[index]!) {
      // Without random loss, a busy machine can only make a transfer slower.
      const middle = pipe.loss === undefined ? Math.min(...found) : median(found)
      const [one, other] = [median(virtual[index]!.get(what)!), middle]
      const percent = (100 * one) / other - 100
      deviations.push({ what: `${name}, ${what}`, percent })
      const range = `(${Math.min(...found).toFixed(0)} to ${Math.max(...found).toFixed(0)})`
      console.log(
        `  ${what.padEnd(14)} ${one.toFixed(1).padStart(9)} ${other.toFixed(1).padStart(9)} ${range.padEnd(18)} ${percent.toFixed(1)} %`,
      )
    }
  }
  console.log(`native: ${congestionControl}`)
  const sorted = deviations.toSorted((one, other) => Math.abs(one.percent) - Math.abs(other.percent))
  const worst = sorted.at(-1)!
  console.log(`median of ${sorted.length} deviations: ${Math.abs(sorted[sorted.length >> 1]!.percent).toFixed(1)} %`)
  console.log(`the worst: ${worst.what}: ${worst.percent.toFixed(1)} %`)
} finally {
  rmSync(directory, { recursive: true, force: true })
}
