/** What iperf3 sends and receives in ten seconds over the same pipes at the paces virtual and native, by TCP and by UDP. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Pipe } from '../../topologies/topology.ts'
import { median, row } from '../table.ts'
import { runCommand } from './run-command.ts'
import { topologyOf } from './transfers.ts'

const config = join(import.meta.dirname, 'iperf.config.js')
const directory = mkdtempSync(join(tmpdir(), 'lastnail-iperf-'))

/** Delays are those of one direction: half of the round trip. UDP is sent at 0.8 of the bandwidth. */
const pipes: Readonly<Record<string, Pipe>> = {
  '10 ms, 100 Mbit/s': { delayMs: 5, bandwidth: 100e6, queue: { packets: 100 } },
  '130 ms, 5 Mbit/s': { delayMs: 65, bandwidth: 5e6, queue: { packets: 100 } },
  '80 ms, 20 Mbit/s, 0.1 % loss': { delayMs: 40, bandwidth: 20e6, loss: 0.001, queue: { packets: 200 } },
}

/** Mbit/s at the sender and at the receiver. */
type Rates = readonly [sent: number, received: number]

interface Measured {
  readonly end: Readonly<Record<'sum_sent' | 'sum_received', { readonly bits_per_second: number }>>
}

const measure = (pace: 'virtual' | 'native', pipe: Pipe, how: string, seed: number): Rates => {
  const topology = join(directory, 'topology.json')
  writeFileSync(topology, JSON.stringify(topologyOf(pipe)))
  const options = ['--topology', topology, '--pace', pace, '--seed', String(seed), '--out', directory]
  const { result } = runCommand(['emulate', config, ...options], { HOW: how })
  const output = (node: string): Measured =>
    JSON.parse(readFileSync(join(dirname(String(result.trace)), 'output', `${node}.stdout`), 'utf8'))
  return [output('b').end.sum_sent.bits_per_second / 1e6, output('a').end.sum_received.bits_per_second / 1e6]
}

try {
  for (const [name, pipe] of Object.entries(pipes))
    for (const [kind, how] of [
      ['TCP', ''],
      ['UDP', `-u -l 1400 -b ${0.8 * pipe.bandwidth!}`],
    ] as const) {
      const seeds = pipe.loss === undefined ? [1] : [1, 2, 3]
      const [virtual, native] = (['virtual', 'native'] as const).map(pace =>
        seeds.map(seed => measure(pace, pipe, how, seed)),
      )
      for (const [index, end] of ['sent', 'received'].entries()) {
        const [one, other] = [virtual!, native!].map(rates => median(rates.map(rate => rate[index]!)))
        row(`${name}, ${kind}, ${end}: at virtual`, one!.toFixed(2), 'Mbit/s')
        row('  at native', other!.toFixed(2), 'Mbit/s')
        row('  beyond it', ((100 * one!) / other! - 100).toFixed(1), '%')
      }
    }
} finally {
  rmSync(directory, { recursive: true, force: true })
}
