import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { countsOf } from '../../../proxy/forwarding/counters.ts'
import type { PipeSettings } from '../../../proxy/forwarding/pipe.ts'
import type { Route } from '../../../proxy/forwarding/plan.ts'
import { headerLength, type Port, Router } from '../../../proxy/forwarding/router.ts'

/** Hosts in memory: what they send, and what they were given, with the time. */
class Hosts {
  now = 0
  readonly received: { host: number; at: number; text: string }[] = []
  readonly #toSend: Buffer[][]
  readonly router: Router

  constructor(count: number, pipes: readonly PipeSettings[], routes: readonly Route[]) {
    this.#toSend = Array.from({ length: count }, () => [])
    const addresses = Array.from({ length: count }, (_, host) => `10.0.0.${host}`)
    const ports = this.#toSend.map(
      (queue, host): Port => ({
        read: into => queue.shift()?.copy(into) ?? 0,
        write: (packet, length) => {
          const text = packet.toString('latin1', headerLength + 20, length)
          this.received.push({ host, at: this.now, text })
        },
      }),
    )
    this.router = new Router({ addresses, pipes, routes, seed: 1 }, ports)
  }

  send(from: number, to: number, text: string): void {
    const packet = Buffer.alloc(headerLength + 20 + text.length)
    packet.set([10, 0, 0, to], headerLength + 16)
    packet.write(text, headerLength + 20, 'latin1')
    this.#toSend[from]!.push(packet)
    this.router.takeFrom(from, this.now)
  }

  /** Goes on, at each time at which something is due, until then. */
  runTo(time: number): void {
    while (this.router.due <= time) {
      this.now = this.router.due
      this.router.release(this.now)
    }
    this.now = time
  }
}

const both = (pipes: readonly number[]): Route[] => [
  { from: 0, to: 1, pipes },
  { from: 1, to: 0, pipes },
]

describe('a router', () => {
  it('passes packets on at once where there is no pipe', () => {
    const hosts = new Hosts(2, [], both([]))
    hosts.send(0, 1, 'a')
    hosts.send(1, 0, 'b')
    expect(hosts.received).toEqual([
      { host: 1, at: 0, text: 'a' },
      { host: 0, at: 0, text: 'b' },
    ])
  })

  it('takes them through every pipe of their way', () => {
    const hosts = new Hosts(2, [{ delayMs: 5 }, { delayMs: 7, bandwidth: 8000 * 22 }], both([0, 1]))
    hosts.send(0, 1, 'ab')
    hosts.send(0, 1, 'cd')
    hosts.runTo(100)
    // 22 bytes a millisecond; the second packet waits for the first.
    expect(hosts.received.map(({ at, text }) => [Math.round(at), text])).toEqual([
      [13, 'ab'],
      [14, 'cd'],
    ])
  })

  it('lets ways share a pipe, and its bandwidth', () => {
    const routes = [
      { from: 0, to: 2, pipes: [0] },
      { from: 1, to: 2, pipes: [0] },
    ]
    const hosts = new Hosts(3, [{ delayMs: 0, bandwidth: 8000 * 21 }], routes)
    hosts.send(0, 2, 'a')
    hosts.send(1, 2, 'b')
    hosts.runTo(10)
    expect(hosts.received.map(({ at }) => Math.round(at))).toEqual([1, 2])
  })

  it('cuts ways, also for what is on them, and joins them again', () => {
    const hosts = new Hosts(2, [{ delayMs: 10 }], both([0]))
    hosts.send(0, 1, 'a')
    hosts.router.change([{ from: 0, to: 1, isCut: true }], [], 0)
    hosts.send(0, 1, 'b')
    hosts.send(1, 0, 'c')
    hosts.runTo(20)
    hosts.router.change([{ from: 0, to: 1, isCut: false }], [], 0)
    hosts.send(0, 1, 'd')
    hosts.runTo(40)
    expect(hosts.received.map(({ text }) => text)).toEqual(['c', 'd'])
    expect(countsOf(hosts.router.counters)).toMatchObject({ forwarded: 2, cut: 2 })
  })

  it('lays one more pipe on a way, and takes it away', () => {
    const hosts = new Hosts(2, [{ delayMs: 10 }], both([0]))
    hosts.router.change([{ from: 0, to: 1, extra: { delayMs: 30 } }], [], 0)
    hosts.send(0, 1, 'a')
    hosts.runTo(100)
    hosts.router.change([{ from: 0, to: 1, extra: null }], [], 0)
    hosts.send(0, 1, 'b')
    hosts.runTo(200)
    expect(hosts.received.map(({ at }) => at)).toEqual([40, 110])
  })

  it('doubles packets, and turns one bit of them over', () => {
    const hosts = new Hosts(2, [{ delayMs: 10, duplicate: 1, corrupt: 1 }], both([0]))
    hosts.send(0, 1, '\0\0\0\0'.repeat(1000))
    hosts.runTo(100)
    const bits = [...hosts.received[0]!.text].reduce(
      (sum, each) => sum + each.charCodeAt(0).toString(2).replaceAll('0', '').length,
      0,
    )
    expect(hosts.received).toHaveLength(2)
    expect(bits).toBe(1)
  })

  it('counts what has no way', () => {
    const hosts = new Hosts(2, [], [])
    hosts.send(0, 0, 'a')
    hosts.send(0, 9, 'b')
    expect(hosts.received).toEqual([])
    expect(countsOf(hosts.router.counters)).toMatchObject({ unroutable: 2 })
  })

  it('takes hosts without a route for adjacent, and cuts and lays pipes between them all the same', () => {
    const hosts = new Hosts(2, [], [])
    hosts.send(0, 1, 'a')
    hosts.router.change([{ from: 0, to: 1, extra: { delayMs: 30 } }], [], 0)
    hosts.send(0, 1, 'b')
    hosts.runTo(100)
    hosts.router.change([{ from: 0, to: 1, isCut: true }], [], 100)
    hosts.send(0, 1, 'c')
    expect(hosts.received.map(({ text, at }) => [text, at])).toEqual([
      ['a', 0],
      ['b', 30],
    ])
  })

  it('loses nothing but what it counts, and keeps order, whatever the pipes are', () => {
    const settings = fc.record({
      delayMs: fc.nat(20),
      loss: fc.constantFrom(0, 0.3),
      bandwidth: fc.integer({ min: 10_000, max: 1_000_000 }),
      queue: fc.record({ packets: fc.integer({ min: 1, max: 5 }) }),
    })
    const sent = fc.array(fc.record({ gap: fc.nat(5), size: fc.integer({ min: 1, max: 1400 }) }), { maxLength: 60 })
    fc.assert(
      fc.property(fc.array(settings, { maxLength: 3 }), sent, (pipes, packets) => {
        const hosts = new Hosts(2, pipes, [{ from: 0, to: 1, pipes: pipes.map((_, index) => index) }])
        for (const [index, { gap, size }] of packets.entries()) {
          hosts.runTo(hosts.now + gap)
          hosts.send(0, 1, `${index}.`.padEnd(size))
        }
        hosts.runTo(1e9)
        const order = hosts.received.map(({ text }) => Number.parseInt(text, 10))
        const { forwarded, lost, overflowed } = countsOf(hosts.router.counters)
        expect(order).toEqual(order.toSorted((one, other) => one - other))
        expect(forwarded).toBe(hosts.received.length)
        expect(forwarded + lost + overflowed).toBe(packets.length)
      }),
    )
  })
})
