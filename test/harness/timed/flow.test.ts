import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Agenda } from '../../../harness/timed/agenda.ts'
import { Flow } from '../../../harness/timed/flow.ts'
import { type Carrier, Ways } from '../../../harness/timed/ways.ts'
import type { PipeSettings } from '../../../proxy/forwarding/pipe.ts'

/** Flows from `a` to `b` through one pipe there, and back through one with the same delay. */
const wire = (there: PipeSettings, back: PipeSettings = { delayMs: there.delayMs }) => {
  const agenda = new Agenda()
  const routes = [
    { from: 0, to: 1, pipes: [0] },
    { from: 1, to: 0, pipes: [1] },
  ]
  const ways = new Ways({ pipes: [there, back], routes, seed: 1 }, ['a', 'b'], agenda)
  return { agenda, flow: () => new Flow(agenda, ways.carrier('a', 'b'), ways.carrier('b', 'a')) }
}

const notCopied = () => {
  throw new Error('nobody copies it')
}
const reader = (arrived: (atMs: number) => void) => ({ arrived, copy: notCopied })

/** When what is sent at once by so many flows has arrived, each at milliseconds. */
const transfers = (settings: PipeSettings, ...sizes: readonly number[]): number[] => {
  const { agenda, flow } = wire(settings)
  const took = sizes.map(() => Number.NaN)
  for (const [index, bytes] of sizes.entries())
    flow().send(
      bytes,
      0,
      reader(at => (took[index] = at)),
    )
  agenda.doUntil(1e7)
  return took
}
const transfer = (settings: PipeSettings, bytes: number): number => transfers(settings, bytes)[0]!

test('the send buffer has room for twice the window with its overhead, never shrinks, and ends at 4 MiB', () => {
  const { agenda, flow } = wire({ delayMs: 50 })
  const sender = flow()
  expect(sender.bufferBytes).toBe(87_040)
  sender.send(
    20e6,
    0,
    reader(() => {}),
  )
  const seen: number[] = []
  for (let ms = 0; ms < 3000; ms += 50) {
    agenda.doUntil(ms)
    seen.push(sender.bufferBytes)
  }
  // Acknowledgements of the first round trip double the window of ten segments.
  expect(seen[1]).toBe(87_040)
  expect(seen[3]).toBe(2 * 87_040)
  expect(seen).toEqual([...seen].sort((one, other) => one - other))
  expect(seen.at(-1)).toBe(4 << 20)
})

describe('what a transfer takes', () => {
  test('a message that fits into the first window takes the way and its own length', () => {
    expect(transfer({ delayMs: 10, bandwidth: 100e6 }, 10_000)).toBeCloseTo(10 + ((10_000 + 7 * 52) * 8) / 100e3, 4)
  })

  test('in slow start the window doubles with each round trip', () => {
    // Windows of 10, 20, 40 segments, and 30 more: three round trips pass before the last of 100 is sent.
    const took = transfer({ delayMs: 50 }, 100 * 1448)
    expect(took).toBeGreaterThan(50 + 3 * 100)
    // What is acknowledged late, for no second segment came, is waited for.
    expect(took).toBeLessThan(50 + 3 * 100 + 41)
  })

  test.each([{ bytes: 50_000 }, { packets: 30 }])(
    'a long transfer has the bandwidth of the pipe, with a queue of %j',
    queue => {
      const bandwidth = 20e6
      const took = transfer({ delayMs: 10, bandwidth, queue }, 20e6)
      const least = (20e6 * 8000 * (1500 / 1448)) / bandwidth
      expect(took).toBeGreaterThan(least)
      expect(took).toBeLessThan(1.1 * least)
    },
  )

  test.each([undefined, { packets: 100 }])('ten flows share one pipe, with a queue of %j', queue => {
    const settings = { delayMs: 10, bandwidth: 10e6, ...(queue && { queue }) }
    const took = transfers(settings, ...Array.from({ length: 10 }, () => 1e6))
    const least = (10e6 * 8000 * (1500 / 1448)) / 10e6
    expect(Math.max(...took)).toBeGreaterThan(least)
    expect(Math.max(...took)).toBeLessThan(1.1 * least)
    expect(Math.min(...took)).toBeGreaterThan(least / 3)
  })

  test('a short transfer does not wait for the end of a long one that began before', () => {
    const { agenda, flow } = wire({ delayMs: 10, bandwidth: 10e6, queue: { packets: 50 } })
    const ends: Record<string, number> = {}
    flow().send(
      20e6,
      0,
      reader(at => (ends.long = at)),
    )
    agenda.doUntil(5000)
    flow().send(
      10_000,
      5000,
      reader(at => (ends.short = at)),
    )
    agenda.doUntil(1e6)
    expect(ends.short! - 5000).toBeLessThan(500)
    expect(ends.long!).toBeGreaterThan(16_000)
  })

  test('a lost segment costs time, and arrives in the end', () => {
    const lossy = transfer({ delayMs: 40, bandwidth: 100e6, loss: 0.01 }, 5e6)
    const whole = transfer({ delayMs: 40, bandwidth: 100e6 }, 5e6)
    expect(lossy).toBeGreaterThan(1.5 * whole)
    expect(lossy).toBeLessThan(60_000)
  })

  test('the first of a connection is sent again after a second, and what a way never lets through is given up', () => {
    const agenda = new Agenda()
    let tries = 0
    const later = (ms: number, todo: (atMs: number) => void) => agenda.at(ms, { do: todo, copy: notCopied })
    const there: Carrier = {
      carry: (atMs, _, packet) => later(atMs + 10, at => (++tries === 1 ? packet.wasLost(atMs) : packet.arrived(at))),
      copy: notCopied,
    }
    const back: Carrier = {
      carry: (atMs, _, packet) => later(atMs + 10, at => packet.arrived(at)),
      copy: notCopied,
    }
    let arrivedMs = 0
    new Flow(agenda, there, back).send(
      1,
      0,
      reader(at => (arrivedMs = at)),
    )
    agenda.doUntil(1e6)
    expect(arrivedMs).toBe(1010)

    expect(transfer({ delayMs: 1, loss: 1 }, 1)).toBeNaN()
  })
})

test('nothing overtakes what was sent before, whatever is lost', () => {
  const sends = fc.array(
    fc.record({ bytes: fc.integer({ min: 1, max: 200_000 }), gap: fc.integer({ min: 0, max: 500 }) }),
    { minLength: 1, maxLength: 20 },
  )
  const share = fc.double({ min: 0, max: 0.3, noNaN: true })
  fc.assert(
    fc.property(sends, share, (all, loss) => {
      const pipe = { delayMs: 20, jitterMs: 10, bandwidth: 5e6, loss, queue: { bytes: 30_000 } }
      const { agenda, flow } = wire(pipe, pipe)
      const one = flow()
      const arrived: number[] = []
      let at = 0
      for (const [index, { bytes, gap }] of all.entries()) {
        at += gap
        agenda.doUntil(at)
        one.send(
          bytes,
          at,
          reader(() => arrived.push(index)),
        )
      }
      // Once all is acknowledged there is nothing left to do.
      for (let entries = 0; agenda.hasUntil(Number.POSITIVE_INFINITY); entries++) {
        expect(entries).toBeLessThan(100_000)
        agenda.doNext()
      }
      expect(arrived).toEqual(all.map((_, index) => index))
    }),
    { numRuns: 50 },
  )
})
