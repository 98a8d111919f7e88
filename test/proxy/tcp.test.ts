import { expect, test } from 'vitest'
import { decode, encodeSegment, flag, type Segment } from '../../proxy/packets/packet.ts'
import * as tcp from '../../proxy/tcp.ts'
import { MemoryKernel } from './memory-kernel.ts'

const node = 0x0a00_0001
const peer = 0x0a00_0002
const ports = { node, nodePort: 7000, peer, peerPort: 49_152 }

const recorder = () => {
  const sent: Segment[] = []
  const anomalies: tcp.Anomalies = { gaps: 0, retransmissions: 0, resent: 0, corrupt: 0 }
  return { sent, anomalies, send: (segment: Segment) => void sent.push(segment) }
}

const segment = (fields: Partial<Segment>): Segment => ({
  kind: 'tcp',
  source: node,
  destination: peer,
  sourcePort: 7000,
  destinationPort: 49_152,
  sequence: 1000,
  acknowledgement: 0,
  flags: flag.ACK,
  window: 1000,
  mss: 0,
  scale: -1,
  payload: Buffer.alloc(0),
  ...fields,
})

/** An open side to a node whose next byte is 1001. */
const open = () => {
  const wire = recorder()
  const side = tcp.ask(ports, 1, wire)
  const answer = { flags: flag.SYN | flag.ACK, acknowledgement: side.sendNext, mss: 1460, scale: 0 }
  expect(tcp.receive(side, segment(answer), wire)).toEqual({ answer: 'accept', entered: 0 })
  wire.sent.length = 0
  const receive = (fields: Partial<Segment>) =>
    tcp.receive(side, segment({ acknowledgement: side.sendNext, ...fields }), wire)
  return { side, wire, receive, acknowledgements: () => wire.sent.map(({ acknowledgement }) => acknowledgement) }
}

test('keep-alives and window probes are acknowledged again, and are no retransmission', () => {
  const { wire, receive, acknowledgements } = open()
  expect(receive({ sequence: 1000 })).toEqual({ entered: 0 })
  expect(receive({ sequence: 1000, payload: Buffer.from('x') })).toEqual({ entered: 0 })
  expect(acknowledgements()).toEqual([1001, 1001])
  expect(wire.anomalies.retransmissions).toBe(0)
})

test('a pure acknowledgement in order is not answered', () => {
  const { wire, receive } = open()
  receive({ sequence: 1001 })
  expect(wire.sent).toEqual([])
})

test('what came before is counted and not given twice; what is new behind it is given', () => {
  const { wire, receive, acknowledgements } = open()
  expect(receive({ sequence: 1001, payload: Buffer.from('abc') }).data).toEqual(Buffer.from('abc'))
  expect(receive({ sequence: 1001, payload: Buffer.from('abc') }).data).toBe(undefined)
  expect(receive({ sequence: 1002, payload: Buffer.from('bcde') }).data).toEqual(Buffer.from('de'))
  expect(acknowledgements()).toEqual([1004, 1004, 1006])
  expect(wire.anomalies).toEqual({ gaps: 0, retransmissions: 5, resent: 0, corrupt: 0 })
})

test('what came before is known as such across the wrap of sequence numbers', () => {
  const { side, wire, receive } = open()
  side.receiveNext = 0xffff_fffe
  expect(receive({ sequence: 0xffff_fffe, payload: Buffer.from('abc') }).data).toEqual(Buffer.from('abc'))
  expect(side.receiveNext).toBe(1)
  expect(receive({ sequence: 0xffff_fffe, payload: Buffer.from('abcd') }).data).toEqual(Buffer.from('d'))
  expect(wire.anomalies).toEqual({ gaps: 0, retransmissions: 3, resent: 0, corrupt: 0 })
})

test('several messages enter before the node acknowledges any', () => {
  const { side, wire } = open()
  for (const text of ['ab', 'cd', 'e']) tcp.sendBytes(side, Buffer.from(text), wire)
  expect(wire.sent.map(({ payload }) => payload.toString())).toEqual(['ab', 'cd', 'e'])
})

test('what comes ahead is a gap: not taken, and what is expected is said', () => {
  const { wire, receive, acknowledgements } = open()
  expect(receive({ sequence: 1002, payload: Buffer.from('x') })).toEqual({ entered: 0 })
  expect(acknowledgements()).toEqual([1001])
  expect(wire.anomalies.gaps).toBe(1)
})

test('what a kernel dropped is sent again, and that is counted', () => {
  const { side, wire } = open()
  expect(tcp.sendBytes(side, Buffer.from('abc'), wire)).toBe(3)
  tcp.finish(side, wire)
  tcp.resendLost(side, wire)
  expect(wire.sent.map(({ flags, payload }) => [flags & flag.FIN, payload.toString()])).toEqual([
    [0, 'abc'],
    [1, ''],
    [0, 'abc'],
    [1, ''],
  ])
  expect(wire.anomalies.resent).toBe(1)
})

test('what a kernel has had all along is not sent for ever, where its window was too small to send all of it again', () => {
  const { side, wire, receive } = open()
  const first = side.sendNext
  expect(tcp.sendBytes(side, Buffer.from('abcdef'), wire)).toBe(6)
  const all = side.sendNext
  // It took three bytes; of the rest nothing is sent again into a window that is shut.
  receive({ sequence: 1001, acknowledgement: first + 3, window: 0 })
  tcp.resendLost(side, wire)
  expect(side.sendNext).toBe(first + 3)
  expect(receive({ sequence: 1001, acknowledgement: all, window: 1000 })).toEqual({ entered: 0 })
  expect(tcp.waiting(side)).toBe(0)
  expect(tcp.sendBytes(side, Buffer.from('g'), wire)).toBe(1)
  expect(wire.sent.at(-1)).toMatchObject({ sequence: all, payload: Buffer.from('g') })
})

test('what is sent again is not counted as entered a second time', () => {
  const { side, wire, receive } = open()
  const first = side.sendNext
  tcp.sendBytes(side, Buffer.from('abcdef'), wire)
  receive({ sequence: 1001, acknowledgement: first, window: 0 })
  expect(receive({ sequence: 1001, acknowledgement: first, window: 4 })).toEqual({ entered: 0 })
  expect(receive({ sequence: 1001, acknowledgement: first + 4, window: 4 })).toEqual({ entered: 0 })
  expect(receive({ sequence: 1001, acknowledgement: first + 6, window: 4 })).toEqual({ entered: 0 })
  expect(tcp.sendBytes(side, Buffer.from('g'), wire)).toBe(1)
})

test('sequence numbers wrap', () => {
  const kernel = new MemoryKernel('10.0.0.1')
  kernel.listen(7000)
  const packet = Buffer.alloc(65_535)
  const wire = { ...recorder(), send: (segment: Segment) => kernel.write(packet, encodeSegment(packet, segment)) }
  // The last number before the first sequence number wraps itself.
  const side = tcp.ask(ports, 0xffff, wire)
  expect(side.sendNext).toBe(0xffff_0001)
  const incoming = Buffer.alloc(65_535)
  const pump = () => {
    for (let length = kernel.read(incoming); length > 0; length = kernel.read(incoming))
      tcp.receive(side, decode(incoming, length) as Segment, wire)
  }
  pump()
  tcp.sendBytes(side, Buffer.alloc(200_000, 'abc'), wire)
  const received: Buffer[] = []
  for (let part: Buffer = Buffer.alloc(1); part.length > 0; received.push(part)) {
    pump()
    part = kernel.accepted[0]!.read(10_000)
  }
  expect(Buffer.concat(received).equals(Buffer.alloc(200_000, 'abc'))).toBe(true)
  expect(side.sendNext).toBe(0xffff_0001 + 200_000 - 2 ** 32)
})

test('what is shown of a side tells apart what goes on otherwise, and nothing else', () => {
  const { side, wire, receive } = open()
  const shown = [tcp.describeSide(side)]
  const show = () => void shown.push(tcp.describeSide(side))
  tcp.sendBytes(side, Buffer.alloc(1_000, 'a'), wire)
  // The node took all of it, and its window is shut.
  receive({ sequence: 1001, window: 0 })
  show()
  tcp.sendBytes(side, Buffer.from('more'), wire)
  show()
  tcp.finish(side, wire)
  show()
  receive({ sequence: 1001, window: 1000 })
  receive({ sequence: 1001 })
  show()
  receive({ sequence: 1001, flags: flag.FIN | flag.ACK })
  show()
  expect(shown).toEqual([
    'open',
    'open',
    `open waits ${Buffer.from('more').toString('base64')}`,
    `open finish queued waits ${Buffer.from('more').toString('base64')}`,
    'open finish acknowledged',
    'over finish acknowledged finished',
  ])
})

test('a segment that the window cuts short waits until those before it are acknowledged', () => {
  const { side, wire, receive } = open()
  receive({ sequence: 1001, window: 1600 })
  expect(tcp.sendBytes(side, Buffer.alloc(4000), wire)).toBe(1460)
  expect(receive({ sequence: 1001, window: 1600 })).toEqual({ entered: 1460 })
  expect(receive({ sequence: 1001, window: 1600 })).toEqual({ entered: 1080 })
  expect(wire.sent.map(({ payload }) => payload.length)).toEqual([1460, 1460, 1080])
})

test('a segment that the window cuts short is sent where nothing else is in flight', () => {
  const { side, wire, receive } = open()
  receive({ sequence: 1001, window: 100 })
  expect(tcp.sendBytes(side, Buffer.alloc(3000), wire)).toBe(100)
})

test('a node has room for as much as is said, and is told once half of that is free', () => {
  const { side, wire, receive } = open()
  side.room = 1280
  const windows = () => wire.sent.splice(0).map(({ window }) => window << 7)
  receive({ sequence: 1001, payload: Buffer.alloc(640) })
  expect(windows()).toEqual([640])
  receive({ sequence: 1641, payload: Buffer.alloc(640) })
  expect(windows()).toEqual([0])
  tcp.release(side, 512, wire)
  expect(windows()).toEqual([])
  tcp.release(side, 128, wire)
  expect(windows()).toEqual([640])
  // It may have more room from then on.
  side.room = 3840
  tcp.release(side, 128, wire)
  expect(windows()).toEqual([3328])
})
