import { expect, test } from 'vitest'
import { formatAddress, parseAddress } from '../../../linux/address.ts'
import type { ForwardingPlan } from '../../../proxy/forwarding/plan.ts'
import { headerLength, type Port, Router } from '../../../proxy/forwarding/router.ts'
import { age } from '../../../proxy/packets/ip-header.ts'
import { decode, encodeDatagram, encodePortUnreachable } from '../../../proxy/packets/packet.ts'

const [sender, receiver] = [parseAddress('10.77.0.1'), parseAddress('10.77.0.2')]
const usual = 64

/** Two hosts with two routers between. The links take 1, 10 and 100 ms there, and 2, 20 and 200 ms back. */
const line: ForwardingPlan = {
  addresses: [sender, receiver].map(formatAddress),
  pipes: [1, 10, 100, 2, 20, 200].map(delayMs => ({ delayMs })),
  routes: [
    { from: 0, to: 1, pipes: [0, 1, 2] },
    { from: 1, to: 0, pipes: [5, 4, 3] },
  ],
  hops: [
    [
      { address: '100.64.0.7', back: 3 },
      { address: '100.64.0.8', back: 4 },
    ],
    [
      { address: '100.64.0.8', back: 2 },
      { address: '100.64.0.7', back: 1 },
    ],
  ],
  seed: 1,
}

interface Received {
  readonly host: number
  readonly at: number
  readonly packet: Buffer
}

/** What the hosts get, and when, after the first of them has sent this packet. */
const send = (
  packet: Buffer,
  { plan = line, change }: { plan?: ForwardingPlan; change?: (router: Router) => void } = {},
) => {
  const sent = [Buffer.concat([Buffer.alloc(headerLength, 0xff), packet])]
  const received: Received[] = []
  let now = 0
  const ports = [0, 1].map(
    (host): Port => ({
      read: into => (host === 0 ? (sent.shift()?.copy(into) ?? 0) : 0),
      write: (bytes, length) => {
        received.push({ host, at: Math.round(now), packet: Buffer.from(bytes.subarray(headerLength, length)) })
      },
    }),
  )
  const router = new Router(plan, ports)
  change?.(router)
  router.takeFrom(0, now)
  while (router.due < Number.POSITIVE_INFINITY) {
    now = router.due
    router.release(now)
  }
  return received
}

const datagram = (timeToLive: number): Buffer => {
  const bytes = Buffer.alloc(2000)
  const ports = { sourcePort: 40_000, destinationPort: 33_434 }
  const length = encodeDatagram(bytes, {
    kind: 'udp',
    source: sender,
    destination: receiver,
    ...ports,
    payload: Buffer.from('hello'),
  })
  age(bytes, usual - timeToLive)
  return bytes.subarray(0, length)
}

/** An intact ICMP message: what it says, and of whom. */
const icmpIn = (packet: Buffer) => {
  expect(decode(packet, packet.length)).toMatchObject({ kind: 'other', protocol: 1, destination: sender })
  const words = Array.from({ length: (packet.length - 20) / 2 }, (_, i) => packet.readUInt16BE(20 + 2 * i))
  expect(words.reduce((sum, word) => sum + word, 0) % 0xffff).toBe(0)
  const quoted = packet.subarray(28)
  return {
    from: formatAddress(packet.readUInt32BE(12)),
    said: packet.readUInt16BE(20),
    timeToLive: packet[8]!,
    quoted: { timeToLive: quoted[8]!, port: quoted.readUInt16BE(22), length: quoted.length },
  }
}

test.each([
  { timeToLive: 1, from: '100.64.0.7', at: 1 + 2 },
  { timeToLive: 2, from: '100.64.0.8', at: 1 + 10 + 20 + 2 },
])(
  'router $timeToLive answers a packet that may pass no more of them, after the time of the way there and back',
  ({ timeToLive, from, at }) => {
    const [answer, ...others] = send(datagram(timeToLive))
    expect(others).toEqual([])
    expect([answer!.host, answer!.at]).toEqual([0, at])
    expect(icmpIn(answer!.packet)).toEqual({
      ...{ from, said: 0x0b00, timeToLive: usual + 1 - timeToLive },
      quoted: { timeToLive: 1, port: 33_434, length: 28 },
    })
  },
)

test('a packet that passes all routers arrives intact, with a time to live that each has lowered', () => {
  for (const timeToLive of [3, usual]) {
    const [{ host, at, packet } = expect.fail(), ...others] = send(datagram(timeToLive))
    expect(others).toEqual([])
    expect([host, at, packet[8]]).toEqual([1, 111, timeToLive - 2])
    expect(decode(packet, packet.length)).toMatchObject({ kind: 'udp', payload: Buffer.from('hello') })
  }
})

test('a setting of the way is passed before the first router; a cut way has no answers', () => {
  const slower = (router: Router) => router.change([{ from: 0, to: 1, extra: { delayMs: 1000 } }], [], 0)
  expect(send(datagram(1), { change: slower }).map(({ host, at }) => [host, at])).toEqual([[0, 1003]])
  expect(send(datagram(1), { change: router => router.change([{ from: 0, to: 1, isCut: true }], [], 0) })).toEqual([])
})

test('what tells of an error is not answered, nor is what could not be answered', () => {
  const bytes = Buffer.alloc(2000)
  const ports = { sourcePort: 40_000, destinationPort: 33_434 }
  const error = { source: receiver, destination: sender, ...ports, payload: Buffer.alloc(0) }
  const length = encodePortUnreachable(bytes, error)
  age(bytes, usual - 1)
  expect(send(bytes.subarray(0, length))).toEqual([])
  const corrupt = datagram(1)
  corrupt[3]! ^= 0x40
  expect(send(corrupt)).toEqual([])
  const oneWay = { ...line, hops: [[{ address: '100.64.0.7' }, { address: '100.64.0.8', back: 4 }], line.hops![1]!] }
  expect(send(datagram(2), { plan: oneWay })).toEqual([])
})

test('where no hops are told, the time to live stays', () => {
  const { hops: _, ...collapsed } = line
  const [{ host, packet } = expect.fail()] = send(datagram(1), { plan: collapsed })
  expect([host, packet[8]]).toEqual([1, 1])
})
