/** How close round trips are to the model: 100 pairs at once over an INET of 5,000 routers, mean round trip 130 ms. */
import { setTimeout as sleep } from 'node:timers/promises'
import { generate } from '../../topologies/generate/generate.ts'
import { withMeanRoundTrip } from '../../topologies/round-trip.ts'
import { row, whole } from '../table.ts'
import { natively } from './natively.ts'

const count = 100
const seconds = 30
const name = (index: number) => `n${(index % count) + 1}`
const peerOf = (index: number) => name(index + count / 2)

const nodes = Object.fromEntries(
  Array.from({ length: count }, (_, index) => [
    name(index),
    { command: ['busybox', 'ping', '-i', '0.5', `{{${peerOf(index)}.address}}`] },
  ]),
)
const topology = withMeanRoundTrip(generate('inet', 5000, 1), 130)
const excess = await natively(nodes, topology, async ({ cluster, output, delayMs }) => {
  for (let index = 0; index < count; index++) await cluster.join(name(index))
  await sleep(1000 * seconds)
  return Array.from({ length: count }, (_, index) => {
    const model = delayMs(name(index), peerOf(index)) + delayMs(peerOf(index), name(index))
    // The first may have waited for its peer to be there.
    const measured = [...output(name(index)).matchAll(/time=([\d.]+) ms/g)].slice(2)
    return measured.map(([, time]) => Number(time) - model)
  }).flat()
})
const sorted = excess.toSorted((one, other) => one - other)
const at = (share: number) => sorted[Math.floor(share * (sorted.length - 1))]!.toFixed(3)
row('round trips of 100 pairs at once', whole(sorted.length), '')
row('  beyond the model: p50', at(0.5), 'ms')
row('  p90', at(0.9), 'ms')
row('  p99', at(0.99), 'ms')
row('  the least', at(0), 'ms')
