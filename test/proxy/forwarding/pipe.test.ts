import * as fc from 'fast-check'
import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64'
import { mersenne } from 'pure-rand/generator/mersenne'
import { describe, expect, it } from 'vitest'
import { lost, overflowed, PacketPipe, type PipeSettings } from '../../../proxy/forwarding/pipe.ts'

const random = (seed = 1) => {
  const generator = mersenne(seed)
  return () => uniformFloat64(generator)
}
const pipe = (settings: PipeSettings, seed?: number) => new PacketPipe(settings, random(seed))

describe('a pipe', () => {
  it('a pipe delays packets', () => {
    expect(pipe({ delayMs: 20 }).enter(100, 1500)).toBe(120)
  })

  it('sends one packet after the other, by its bandwidth', () => {
    // 1,250 bytes are 10 ms at 1 Mbit/s.
    const narrow = pipe({ delayMs: 5, bandwidth: 1e6 })
    expect([0, 0, 2, 40].map(now => narrow.enter(now, 1250))).toEqual([15, 25, 35, 55])
  })

  it('has room for so many packets, beside the one that is being sent', () => {
    const narrow = pipe({ delayMs: 0, bandwidth: 1e6, queue: { packets: 2 } })
    expect([0, 0, 0, 0, 9, 10].map(now => narrow.enter(now, 1250))).toEqual([10, 20, 30, overflowed, overflowed, 40])
  })

  it('has room for so many bytes', () => {
    const narrow = pipe({ delayMs: 0, bandwidth: 1e6, queue: { bytes: 3750 } })
    expect([0, 0, 0, 0, 1, 10].map(now => narrow.enter(now, 1250))).toEqual([10, 20, 30, overflowed, overflowed, 40])
  })

  describe.each(['red', 'codel'] as const)('with a queue by %s', discipline => {
    /** Packets of 1 ms each, of which twice as many come as go; what became of them. */
    const overload = (queue: PipeSettings['queue'], packets: number, gapMs = 0.5) => {
      const narrow = pipe({ delayMs: 0, bandwidth: 10e6, queue: { ...queue!, discipline } })
      return Array.from({ length: packets }, (_, index) => narrow.enter(index * gapMs, 1250))
    }

    it('drops nothing that it can send at once', () => {
      expect(overload({ packets: 100 }, 5000, 1)).not.toContain(overflowed)
    })

    it('never has more than its limit', () => {
      const out = overload({ packets: 100 }, 5000)
      const waits = out.flatMap((at, index) => (at === overflowed ? [] : [at - index * 0.5]))
      expect(Math.max(...waits)).toBeLessThanOrEqual(101)
      expect(waits.length).toBeGreaterThan(2400)
    })

    it('drops before it is full, also one of bytes', () => {
      for (const queue of [{ packets: 1000 }, { bytes: 1_250_000 }]) {
        const out = overload(queue, 4000)
        const first = out.indexOf(overflowed)
        expect(first).toBeGreaterThan(0)
        // By then half of what has come waits.
        expect(first / 2).toBeLessThan(1000)
      }
    })
  })

  it('drops by RED with a chance that grows with the average length: none below a sixth', () => {
    const queue = { packets: 1000, discipline: 'red' } as const
    // So many wait all the time: one comes as one goes.
    const shareDropped = (waiting: number) => {
      const steady = pipe({ delayMs: 0, bandwidth: 10e6, queue })
      for (let index = 0; index < waiting; index++) steady.enter(0, 1250)
      const begun = 2000
      let dropped = 0
      for (let now = 0; now < begun + 10_000; now++) {
        let isIn = steady.enter(now, 1250) !== overflowed
        if (now >= begun && !isIn) dropped += 1
        // What is dropped is replaced, so that as many wait as before.
        for (let tries = 0; !isIn && tries < 50; tries++) isIn = steady.enter(now, 1250) !== overflowed
      }
      return dropped / 10_000
    }
    expect(shareDropped(150)).toBe(0)
    // Gaps are uniform from one packet to the chance's reciprocal, so that twice as many are dropped as the chance says.
    expect(shareDropped(330)).toBeCloseTo(2 * 0.1 * 3 * (0.33 - 1 / 6), 1)
    expect(shareDropped(480)).toBeCloseTo(2 * 0.1 * 3 * (0.48 - 1 / 6), 1)
  })

  it('drops by CoDel ever sooner while packets wait too long', () => {
    const narrow = pipe({ delayMs: 0, bandwidth: 10e6, queue: { packets: 10_000, discipline: 'codel' } })
    const drops: number[] = []
    let free = 0
    for (let now = 0; drops.length < 6; now += 0.5) {
      const leaves = Math.max(free, now)
      const out = narrow.enter(now, 1250)
      if (out === overflowed) drops.push(leaves)
      else free = out
    }
    // It has waited for 5 ms after 10 ms, for an interval more after 110.
    expect(drops[0]).toBeCloseTo(110, -1)
    for (const [index, after] of [100, 100 / Math.sqrt(2), 100 / Math.sqrt(3), 50, 100 / Math.sqrt(5)].entries())
      expect(drops[index + 1]! - drops[index]!).toBeCloseTo(after, -1)
  })

  it('keeps packets in order, however much the delay varies', () => {
    const settings = fc.record({
      delayMs: fc.nat(100),
      jitterMs: fc.nat(200),
      bandwidth: fc.integer({ min: 1, max: 1e9 }),
    })
    const gaps = fc.array(fc.nat(50), { minLength: 2, maxLength: 50 })
    fc.assert(
      fc.property(settings, gaps, fc.integer(), (given, gaps, seed) => {
        const varying = pipe(given, seed)
        let now = 0
        const out = gaps.map(gap => varying.enter((now += gap), 100))
        expect(out).toEqual(out.toSorted((one, other) => one - other))
        expect(new Set(out).size).toBe(out.length)
        expect(out[0]).toBeGreaterThanOrEqual(gaps[0]!)
      }),
    )
  })

  it('loses, doubles, turns over and lets overtake the share that is asked for', () => {
    const rough = pipe({ delayMs: 10, loss: 0.2, duplicate: 0.1, corrupt: 0.3, reorder: 0.4 })
    const count = 20_000
    const share = (happens: () => boolean) => Array.from({ length: count }, happens).filter(Boolean).length / count
    let now = 0
    expect(share(() => rough.enter((now += 20), 100) === lost)).toBeCloseTo(0.2, 1)
    expect(share(() => rough.isDuplicated())).toBeCloseTo(0.1, 1)
    expect(share(() => rough.corruptedBit(800) !== undefined)).toBeCloseTo(0.3, 1)
    expect(share(() => rough.enter((now += 20), 100) === now)).toBeCloseTo(0.8 * 0.4, 1)
  })

  it('draws the same for the same seed', () => {
    const outs = (seed: number) => {
      const varying = pipe({ delayMs: 10, jitterMs: 5, loss: 0.1 }, seed)
      return Array.from({ length: 20 }, (_, index) => varying.enter(20 * index, 100))
    }
    expect(outs(7)).toEqual(outs(7))
    expect(outs(7)).not.toEqual(outs(8))
  })
})
