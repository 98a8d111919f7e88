import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64'
import { mersenne } from 'pure-rand/generator/mersenne'
import { expect, test } from 'vitest'
import { lost, overflowed, PacketPipe, type PipeSettings } from '../../../proxy/forwarding/pipe.ts'

const random = (seed: number) => {
  const generator = mersenne(seed)
  return () => uniformFloat64(generator)
}
const pipe = (settings: Omit<PipeSettings, 'delayMs' | 'bandwidth'>, seed = 1) =>
  new PacketPipe({ delayMs: 0, bandwidth: mbit, ...settings }, random(seed))
const mbit = 1e6
/** Bytes that take 8 ms at 1 Mbit/s. */
const bytes = 1000
const sendMs = 8

/** What becomes of packets that are too few and too small to make a difference: when each comes out, less when it came. */
const probed = (one: PacketPipe, count = 20_000, everyMs = 997) =>
  Array.from({ length: count }, (_, index) => {
    const now = index * everyMs
    const out = one.enter(now, 1)
    return out === overflowed || out === lost ? out : out - now
  })

const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length

test.each([
  { load: 0.3, burst: 1 },
  { load: 0.5, burst: 1 },
  { load: 0.8, burst: 1 },
  { load: 0.5, burst: 10 },
  { load: 0.7, burst: 4 },
])('packets wait as in a queue M/D/1: load $load, bursts of $burst', ({ load, burst }) => {
  const waits = probed(pipe({ cross: { bandwidth: load * mbit, bytes, burst } }))
  // Pollaczek and Khinchine: a burst is a customer that is served as long as all of its packets are.
  const expected = (load * burst * sendMs) / (2 * (1 - load))
  expect(mean(waits) / expected).toBeGreaterThan(0.95)
  expect(mean(waits) / expected).toBeLessThan(1.05)
  // And it is free when no burst is served.
  expect(waits.filter(wait => wait < 0.01).length / waits.length).toBeCloseTo(1 - load, 1)
})

test.each([0.5, 1, 2])('a queue with one place is full as often as M/D/1/2 is at load %s', load => {
  const outs = probed(pipe({ queue: { packets: 1 }, cross: { bandwidth: load * mbit, bytes } }))
  const full = outs.filter(out => out === overflowed).length / outs.length
  // None is left behind by a packet while whose sending none came: then the queue is empty so often, and this share is turned away.
  expect(full).toBeCloseTo(1 - 1 / (Math.exp(-load) + load), 2)
})

test('one of packets, and one of bytes, has no more than its limit, however much traffic of others comes', () => {
  for (const queue of [{ packets: 20 }, { bytes: 20 * bytes }]) {
    const outs = probed(pipe({ queue, cross: { bandwidth: 3 * mbit, bytes } }), 2000)
    // A packet of one byte nearly always finds a byte.
    if ('packets' in queue) expect(outs.filter(out => out === overflowed).length).toBeGreaterThan(1000)
    expect(Math.max(...outs)).toBeLessThanOrEqual(21 * sendMs + 0.1)
    expect(Math.max(...outs)).toBeGreaterThan(19 * sendMs)
  }
})

test('it takes its share of the bandwidth from a sender that would fill it', () => {
  const shared = pipe({ queue: { packets: 50 }, cross: { bandwidth: 0.4 * mbit, bytes } })
  const gap = random(2)
  let through = 0
  // As much as the pipe can send: with the others 1.4 times as much, of which each loses the same share.
  for (let now = 0; now < 1_000_000; now += 2 * sendMs * gap())
    if (shared.enter(now, bytes) !== overflowed) through += bytes
  expect((through * 8) / 1000 / mbit).toBeCloseTo(1 / 1.4, 1)
})

test('it yields no loss of its own, and none of bandwidth without limit', () => {
  const lossy = pipe({ loss: 0.25, cross: { bandwidth: 0.5 * mbit, bytes } })
  expect(probed(lossy).filter(out => out === lost).length / 20_000).toBeCloseTo(0.25, 1)
  const unlimited = new PacketPipe({ delayMs: 5, cross: { bandwidth: 1e9 } }, () => {
    throw new Error('nothing is drawn')
  })
  expect(unlimited.enter(3, 1500)).toBe(8)
})

test('it begins and ends when a change says so', () => {
  const changing = pipe({})
  expect(changing.enter(1_000_000, 1)).toBeCloseTo(1_000_000, 1)
  const settings = { delayMs: 0, bandwidth: mbit, queue: { packets: 10 } }
  changing.change({ ...settings, cross: { bandwidth: 10 * mbit, bytes } }, 1_000_000)
  // Nothing has come yet, and all places are taken soon after.
  expect(changing.enter(1_000_000, 1)).toBeCloseTo(1_000_000, 1)
  expect(changing.enter(1_000_050, 1)).toBe(overflowed)
  changing.change({ ...settings, cross: { bandwidth: 0 } }, 1_000_100)
  // Until then the queue was full, and what has waited is sent.
  expect(changing.enter(1_000_100, 1)).toBe(overflowed)
  expect(changing.enter(1_000_200, 1)).toBeCloseTo(1_000_200, 1)
})

test('the same seed draws the same traffic; a silence of a year is made up for in no time', () => {
  const outs = (seed: number) => probed(pipe({ cross: { bandwidth: 0.8 * mbit, bytes } }, seed), 100)
  expect(outs(7)).toEqual(outs(7))
  expect(outs(7)).not.toEqual(outs(8))
  const idle = pipe({ cross: { bandwidth: 0.8 * mbit, bytes } })
  idle.enter(0, 1)
  const begun = process.cpuUsage()
  idle.enter(365 * 86_400_000, 1)
  expect(process.cpuUsage(begun).user).toBeLessThan(200_000)
})
