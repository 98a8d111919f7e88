/** Whether loss and bandwidth are as set, over 100,000 packets, and whether TCP is as fast as the Mathis formula says. */
import { setTimeout as sleep } from 'node:timers/promises'
import { row, whole } from '../table.ts'
import { type Received, receivedIn } from './blast.ts'
import { type NativeRun, natively, pair } from './natively.ts'

const packets = 100_000
const program = (name: string, ...words: readonly string[]) => ({
  command: ['node', `../../../bench/service/${name}.cjs`, ...words],
})

const blast = (size: number, perSecond: number) => ({
  a: program('blast', 'send', '{{b.address}}', String(packets), String(size), String(perSecond)),
  b: program('blast', 'receive'),
})

const afterBlast = async ({ cluster, output }: NativeRun): Promise<Received> => {
  await cluster.join('b')
  await sleep(500)
  await cluster.join('a')
  while (!output('a').includes('sent')) await sleep(200)
  // Packets that wait for bandwidth still arrive.
  for (let before = -1; ; await sleep(1000)) {
    const last = receivedIn(output('b'))
    if (last.received === before) return last
    before = last.received
  }
}

const percent = (found: number, expected: number) => `${((100 * found) / expected - 100).toFixed(2)} %`

const loss = 0.1
const { received } = await natively(blast(100, 10_000), pair({ delayMs: 10, loss }), afterBlast)
row(`packets of ${whole(packets)} that came, loss ${loss}`, whole(received), '')
row('  lost, beyond what was set', percent(packets - received, packets * loss), '')

const bandwidth = 50e6
const queue = { packets: 100_000 }
const { bytes, milliseconds } = await natively(blast(1200, 10_000), pair({ delayMs: 10, bandwidth, queue }), afterBlast)
row(`bandwidth of a pipe of ${bandwidth / 1e6} Mbit/s`, ((bytes * 8) / milliseconds / 1000).toFixed(2), 'Mbit/s')
row('  beyond what was set', percent((bytes * 8000) / milliseconds, bandwidth), '')

/** Mathis, Semke, Mahdavi and Ott, CCR 1997: for random loss and a receiver that acknowledges each packet or each second. */
const mathis = (p: number, roundTripMs: number, packetsPerAck: number) =>
  (1448 * 8 * Math.sqrt(3 / (2 * packetsPerAck * p))) / (roundTripMs / 1000)

const p = 0.002
const delayMs = 40
const bits = await natively(
  { a: program('reno', 'send', '{{b.address}}'), b: program('reno', 'receive') },
  pair({ delayMs, loss: p }),
  async ({ cluster, output }) => {
    await cluster.join('b')
    await sleep(500)
    await cluster.join('a')
    await sleep(130_000)
    const lines = output('b')
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line))
    // Leave out slow start.
    const [first, last] = [lines[10], lines.at(-1)]
    return ((last.bytes - first.bytes) * 8) / ((last.at - first.at) / 1000)
  },
)
row(`TCP (Reno) over ${2 * delayMs} ms that lose ${p}`, (bits / 1e6).toFixed(2), 'Mbit/s')
for (const packetsPerAck of [1, 2])
  row(
    `  beyond Mathis, ${packetsPerAck} packets an acknowledgement`,
    percent(bits, mathis(p, 2 * delayMs, packetsPerAck)),
    '',
  )
