import { expect, test } from 'vitest'
import { formatAddress, parseAddress } from '../../linux/address.ts'
import type { PacketLink } from '../../linux/link.ts'
import { Network } from '../../proxy/network.ts'
import { age } from '../../proxy/packets/ip-header.ts'
import { encodeDatagram, encodeIcmpError } from '../../proxy/packets/packet.ts'
import type { RouterOnWay } from '../../proxy/routers.ts'

const [one, two] = ['10.0.0.1', '10.0.0.2'] as const
const usual = 64
const routers: readonly RouterOnWay[] = ['100.64.0.7', '100.64.0.8'].map(address => ({
  address: parseAddress(address),
  answers: true,
}))

/** A node's wire in memory: what it sends, and the packets that came for it. */
const wire = () => {
  const sent: Buffer[] = []
  const received: Buffer[] = []
  const link: PacketLink = {
    read: into => sent.shift()?.copy(into) ?? 0,
    write: (packet, length) => void received.push(Buffer.from(packet.subarray(0, length))),
    close: () => undefined,
  }
  return { ...link, sent, received }
}

/** Two nodes with two routers between. */
const build = (between = routers) => {
  const network = new Network({ routersBetween: () => between })
  const wires = [wire(), wire()] as const
  network.attachments.attach('a', one, wires[0])
  network.attachments.attach('b', two, wires[1])
  const send = (packet: Buffer) => {
    wires[0].sent.push(packet)
    network.kernels.pump()
    return network.messages.all().map(({ label }) => label)
  }
  return { network, wires, send }
}

const datagram = (timeToLive: number): Buffer => {
  const bytes = Buffer.alloc(100)
  const ports = { sourcePort: 40_000, destinationPort: 33_434 }
  const addresses = { source: parseAddress(one), destination: parseAddress(two) }
  const length = encodeDatagram(bytes, { kind: 'udp', ...addresses, ...ports, payload: Buffer.from('hello') })
  age(bytes, usual - timeToLive)
  return bytes.subarray(0, length)
}

/** An ICMP message from the first to the second with what is sent back in it. */
const icmp = (typeAndCode: number, timeToLive = usual): Buffer => {
  const bytes = Buffer.alloc(100)
  const length = encodeIcmpError(bytes, typeAndCode, Buffer.from('sent back'), parseAddress(one), parseAddress(two))
  age(bytes, usual - timeToLive)
  return bytes.subarray(0, length)
}

test.each([
  { timeToLive: 1, hop: 1, from: '100.64.0.7' },
  { timeToLive: 2, hop: 2, from: '100.64.0.8' },
])('a datagram ends at router $hop, whose answer is a message to the sender', ({ timeToLive, hop, from }) => {
  const { network, wires, send } = build()
  expect(send(datagram(timeToLive))).toEqual([`a→a #1 exceeded :33434 to b at hop ${hop}`])
  expect(network.messages.all()[0]!.end).toEqual({ towards: 'b', hop, bytes: 5 })
  network.messages.deliver(network.messages.deliverable()[0]!)
  const [answer] = wires[0].received
  expect(formatAddress(answer!.readUInt32BE(12))).toBe(from)
  expect(answer!.readUInt16BE(20)).toBe(0x0b00)
  // Of the ports of the datagram that it quotes its kernel finds the socket.
  expect([answer!.readUInt16BE(48), answer!.readUInt16BE(50)]).toEqual([40_000, 33_434])
  expect(wires[1].received).toEqual([])
})

test('what passes all routers arrives with a time to live that each has lowered, also an echo', () => {
  const { network, wires, send } = build()
  expect(send(datagram(3))).toEqual(['a→b #1 5 bytes :33434 "hello"'])
  expect(send(icmp(0x0800))).toEqual(['a→b #1 5 bytes :33434 "hello"', 'a→b #2 echo 9 bytes "sent back"'])
  expect(send(icmp(0x0000)).at(-1)).toBe('a→b #3 echo-reply 9 bytes "sent back"')
  for (const message of network.messages.deliverable()) network.messages.deliver(message)
  while (network.kernels.feed());
  expect(wires[1].received.map(packet => packet[8])).toEqual([1, usual - 2, usual - 2])
  const expected = icmp(0x0800)
  age(expected, 2)
  expect(wires[1].received[1]).toEqual(expected)
})

test('an echo ends at a router as a datagram does, an answer to it too, but no error', () => {
  const { send } = build()
  expect(send(icmp(0x0800, 2))).toEqual(['a→a #1 exceeded to b at hop 2'])
  expect(send(icmp(0x0000, 1))).toEqual(['a→a #1 exceeded to b at hop 2', 'a→a #2 exceeded to b at hop 1'])
  expect(send(icmp(0x0b00, 1))).toHaveLength(2)
})

test('a router answers nothing where no link leads back, nor on a way that is cut, before or after', () => {
  const silent = build(routers.map((router, index) => ({ ...router, answers: index === 0 })))
  expect(silent.send(datagram(2))).toEqual([])
  expect(silent.send(datagram(1))).toHaveLength(1)
  silent.network.faults.cut([['b', 'a']])
  expect(silent.network.messages.all()).toHaveLength(1)
  silent.network.faults.cut([['a', 'b']])
  expect(silent.network.messages.all()).toEqual([])
  expect(silent.send(datagram(1))).toEqual([])
})

test('its answer is in flight in a network that is made from a mark', () => {
  const { network, send } = build()
  send(datagram(2))
  const other = new Network({ routersBetween: () => routers }, network.mark())
  const again = wire()
  other.attachments.attach('a', one, again)
  other.attachments.attach('b', two, wire())
  other.messages.deliver(other.messages.deliverable()[0]!)
  expect(again.received).toHaveLength(1)
})
