import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Flow } from '../../../harness/timed/flow.ts'
import { Pipe, type PipeSettings } from '../../../proxy/forwarding/pipe.ts'
import { seededRandom } from '../../../topologies/random.ts'

/** A flow through one pipe there, and back with the same delay. */
const flowOver = (settings: PipeSettings, pipe = pipeOf(settings)) =>
  new Flow(() => ({
    pass: (at, bytes) => {
      const arrival = pipe.enter(at, bytes)
      return arrival < 0 ? undefined : arrival
    },
    backMs: settings.delayMs,
  }))
const pipeOf = (settings: PipeSettings) => new Pipe(settings, seededRandom(1))

describe('what a transfer takes', () => {
  test('a message that fits into the first window takes the way and its own length', () => {
    const flow = flowOver({ delayMs: 10, bandwidth: 100e6 })
    expect(flow.send(10_000, 0)).toBeCloseTo(10 + ((10_000 + 7 * 52) * 8) / 100e3, 6)
  })

  test('in slow start the window doubles with each round trip', () => {
    const flow = flowOver({ delayMs: 50 })
    // Windows of 10, 20, 40 segments, and 30 more: three round trips pass before the last of 100 is sent.
    expect(flow.send(100 * 1448, 0)).toBeCloseTo(50 + 3 * 100, 3)
  })

  test('a long transfer has the bandwidth of the pipe', () => {
    const bandwidth = 20e6
    const took = flowOver({ delayMs: 10, bandwidth, queue: { bytes: 50_000 } }).send(20e6, 0)
    const least = (20e6 * 8000 * (1500 / 1448)) / bandwidth
    expect(took).toBeGreaterThan(least)
    expect(took).toBeLessThan(1.1 * least)
  })

  test('ten flows share one pipe', () => {
    const settings = { delayMs: 10, bandwidth: 10e6 }
    const pipe = pipeOf(settings)
    const last = Math.max(...Array.from({ length: 10 }, () => flowOver(settings, pipe).send(1e6, 0)))
    expect(last).toBeGreaterThan((10e6 * 8000) / 10e6)
    expect(last).toBeLessThan((1.15 * (10e6 * 8000)) / 10e6)
  })

  test('what is lost costs time, and comes', () => {
    const lossy = flowOver({ delayMs: 40, bandwidth: 100e6, loss: 0.01 }).send(5e6, 0)
    const whole = flowOver({ delayMs: 40, bandwidth: 100e6 }).send(5e6, 0)
    expect(lossy).toBeGreaterThan(1.5 * whole)
    expect(lossy).toBeLessThan(60_000)
  })

  test('one that is asked for again after a loss waits a second', () => {
    let tries = 0
    const flow = new Flow(() => ({ pass: at => (tries++ === 0 ? undefined : at + 10), backMs: 10 }))
    expect(flow.control(0, true)).toBe(1010)
  })
})

test('nothing overtakes what was sent before, whatever is lost', () => {
  const sends = fc.array(
    fc.record({ bytes: fc.integer({ min: 1, max: 200_000 }), gap: fc.integer({ min: 0, max: 500 }) }),
    {
      minLength: 1,
      maxLength: 20,
    },
  )
  const share = fc.double({ min: 0, max: 0.3, noNaN: true })
  fc.assert(
    fc.property(sends, share, fc.boolean(), (all, loss, isMore) => {
      const flow = flowOver({ delayMs: 20, jitterMs: 10, bandwidth: 5e6, loss, queue: { bytes: 30_000 } })
      let at = 0
      let last = 0
      for (const { bytes, gap } of all) {
        at += gap
        const arrival = flow.send(bytes, at, isMore)
        if (!(arrival >= last) || !(arrival >= 0)) return false
        last = arrival
        at = Math.max(at, isMore ? arrival : at)
      }
      return true
    }),
  )
})
