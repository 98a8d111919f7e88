import * as fc from 'fast-check'
import { uniformFloat64 } from 'pure-rand/distribution/uniformFloat64'
import { mersenne } from 'pure-rand/generator/mersenne'
import { describe, expect, it } from 'vitest'
import { lost, overflowed, Pipe, type PipeSettings } from '../../../proxy/forwarding/pipe.ts'

const random = (seed = 1) => {
  const generator = mersenne(seed)
  return () => uniformFloat64(generator)
}
const pipe = (settings: PipeSettings, seed?: number) => new Pipe(settings, random(seed))

describe('a pipe', () => {
  it('delays', () => {
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
