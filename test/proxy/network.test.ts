import fc from 'fast-check'
import { expect, test } from 'vitest'
import { http1 } from '../../proxy/dissect/http1.ts'
import { lines } from '../../proxy/dissect/lines.ts'
import type { Dissector, Frame } from '../../proxy/dissector.ts'
import { Network, type NetworkOptions } from '../../proxy/network.ts'
import { flag, type Segment } from '../../proxy/packets/packet.ts'
import { MemoryKernel, MemorySocket } from './memory-kernel.ts'

const addresses = ['10.0.0.1', '10.0.0.2', '10.0.0.3'] as const
const faultless = { gaps: 0, retransmissions: 0, resent: 0, corrupt: 0 }
const everything = Number.POSITIVE_INFINITY

/** n1, n2 and n3, of which each listens on 7000. */
const build = (options?: NetworkOptions) => {
  const network = new Network(options)
  const kernels = addresses.map((address, index) => {
    const kernel = new MemoryKernel(address)
    kernel.listen(7000)
    network.attachments.attach(`n${index + 1}`, address, kernel)
    return kernel
  })
  return { network, kernels: kernels as [MemoryKernel, MemoryKernel, MemoryKernel] }
}

const step = (network: Network) => {
  while (network.kernels.pump() || network.kernels.feed());
  network.endStep()
}

/** Delivers all there is, again and again. */
const settle = (network: Network, act: () => void = () => {}) => {
  do {
    for (const message of network.messages.deliverable()) network.messages.deliver(message)
    step(network)
    act()
    step(network)
  } while (network.messages.deliverable().length > 0)
}

const connect = () => {
  const { network, kernels } = build()
  const opener = kernels[0].connect(addresses[1], 7000)
  settle(network)
  return { network, kernels, opener, listener: kernels[1].accepted[0]! }
}

const inFlight = (network: Network) => network.messages.all().map(message => message.label)
const deliverable = (network: Network) => network.messages.deliverable().map(message => message.label)
const deliverFirst = (network: Network) => network.messages.deliver(network.messages.deliverable()[0]!)

type Command =
  | { do: 'write' | 'read'; side: 0 | 1; length: number }
  | { do: 'close'; side: 0 | 1 }
  | { do: 'step' }
  | { do: 'deliver'; index: number }

const side = fc.constantFrom(0 as const, 1 as const)
const commands: fc.Arbitrary<Command[]> = fc.array(
  fc.oneof(
    {
      arbitrary: fc.record({ do: fc.constant('write' as const), side, length: fc.oneof(fc.nat(20), fc.nat(12_000)) }),
      weight: 4,
    },
    { arbitrary: fc.record({ do: fc.constant('read' as const), side, length: fc.nat(6000) }), weight: 4 },
    { arbitrary: fc.record({ do: fc.constant('close' as const), side }), weight: 1 },
    { arbitrary: fc.record({ do: fc.constant('step' as const) }), weight: 4 },
    { arbitrary: fc.record({ do: fc.constant('deliver' as const), index: fc.nat() }), weight: 6 },
  ),
  { maxLength: 60 },
)

test('whatever the order of writing, reading, closing and delivering, each side reads what the other wrote', () => {
  fc.assert(
    fc.property(commands, commands => {
      const { network, opener, listener } = connect()
      const sockets: [MemorySocket, MemorySocket] = [opener, listener]
      const written: [Buffer[], Buffer[]] = [[], []]
      const read: [Buffer[], Buffer[]] = [[], []]
      const isClosed = [false, false]
      for (const command of commands) {
        if (command.do === 'write' && !isClosed[command.side]) {
          const bytes = Buffer.alloc(command.length, written[command.side].length + 1)
          written[command.side].push(bytes)
          sockets[command.side].write(bytes)
        }
        if (command.do === 'read') read[command.side].push(sockets[command.side].read(command.length))
        if (command.do === 'close') {
          isClosed[command.side] = true
          sockets[command.side].close()
        }
        if (command.do === 'step') endStepOfOneMessage(network)
        if (command.do === 'deliver' && network.messages.deliverable().length > 0)
          network.messages.deliver(
            network.messages.deliverable()[command.index % network.messages.deliverable().length]!,
          )
      }
      const length = (buffers: Buffer[]) => buffers.reduce((sum, { length }) => sum + length, 0)
      const readAll = () => {
        for (const side of [0, 1] as const) read[side].push(sockets[side].read(everything))
      }
      let before = -1
      while (before !== length(read.flat())) {
        before = length(read.flat())
        settle(network, readAll)
      }
      for (const side of [0, 1] as const) {
        expect(Buffer.concat(read[side]).equals(Buffer.concat(written[side === 0 ? 1 : 0]))).toBe(true)
        expect(sockets[side].isEnded).toBe(isClosed[1 - side])
      }
      expect(inFlight(network)).toEqual([])
      expect(network.anomalies()).toEqual(faultless)
      expect(network.faults.connections().length).toBe(isClosed[0] && isClosed[1] ? 0 : 1)
    }),
    {
      numRuns: 150,
      examples: [
        [
          [
            // Two messages enter one after the other, of which the first is longer than a segment.
            { do: 'write', side: 1, length: 1001 },
            { do: 'step' },
            { do: 'write', side: 1, length: 1 },
            { do: 'step' },
            { do: 'deliver', index: 0 },
          ],
        ],
      ],
    },
  )
})

/** However often a node writes in a step, each direction carried one message of data. */
const endStepOfOneMessage = (network: Network) => {
  while (network.kernels.pump() || network.kernels.feed());
  const before = new Set(network.messages.all())
  network.endStep()
  const data = network.messages.all().filter(message => message.kind === 'data' && !before.has(message))
  expect(new Set(data.map(({ from }) => from)).size).toBe(data.length)
}

/** Something that happens to three nodes and the network between them; `at` chooses among what there is. */
const events = fc.array(
  fc.record({
    kind: fc.constantFrom(
      ...(['connect', 'connect', 'write', 'write', 'write', 'close', 'abort', 'step', 'step', 'step'] as const),
      ...(['deliver', 'deliver', 'deliver', 'deliver', 'deliver', 'deliver'] as const),
      ...(['crash', 'restart', 'reset', 'break', 'cut', 'heal'] as const),
    ),
    at: fc.nat(1000),
  }),
  { maxLength: 80 },
)

test('whatever happens to nodes and connections, no byte is out of place, and in the end nothing is in flight', () => {
  fc.assert(
    fc.property(events, events => {
      const { network, kernels } = build()
      const openers: MemorySocket[] = []
      const choose = <T>(items: readonly T[], at: number): T | undefined => items[at % Math.max(1, items.length)]
      const sockets = () => [...openers, ...kernels.flatMap(({ accepted }) => accepted)]
      const restart = (node: number) => {
        if (network.attachments.isUp(`n${node + 1}`)) return
        kernels[node] = new MemoryKernel(addresses[node]!)
        kernels[node].listen(7000)
        network.attachments.attach(`n${node + 1}`, addresses[node]!, kernels[node])
      }
      const act = {
        connect: (at: number) => {
          const [from, to] = [at % 3, (at + 1 + (at % 2)) % 3]
          if (network.attachments.isUp(`n${from + 1}`)) openers.push(kernels[from]!.connect(addresses[to]!, 7000))
        },
        write: (at: number) => choose(sockets(), at)?.write(Buffer.alloc(at * 9, at)),
        close: (at: number) => choose(sockets(), at)?.close(),
        abort: (at: number) => {
          const socket = choose(sockets(), at)
          if (socket?.state === 'open') socket.reset()
        },
        step: () => step(network),
        deliver: (at: number) => {
          const message = choose(network.messages.deliverable(), at)
          if (message) network.messages.deliver(message)
        },
        crash: (at: number) => {
          const name = `n${(at % 3) + 1}`
          if (network.attachments.isUp(name)) network.attachments.detach(name, at % 2 ? 'reset' : 'nothing')
        },
        restart: (at: number) => restart(at % 3),
        reset: (at: number) => {
          const connection = choose(network.faults.connections(), at)
          if (connection) network.faults.resetConnection(connection)
        },
        break: (at: number) => {
          const message = choose(network.messages.deliverable(), at)
          if (message && network.faults.isBreakable(message)) network.faults.breakAt(message)
          else if (message?.kind === 'abort') network.messages.drop(message)
        },
        cut: (at: number) => network.faults.cut([[`n${(at % 3) + 1}`, `n${((at + 1) % 3) + 1}`]]),
        heal: () => network.faults.heal(),
      }
      for (const { kind, at } of events) act[kind](at)
      network.faults.heal()
      for (const index of [0, 1, 2]) restart(index)
      const readAll = () => sockets().reduce((sum, socket) => sum + socket.read(everything).length, 0)
      let bytes = -1
      while (bytes !== 0) {
        bytes = 0
        settle(network, () => {
          bytes += readAll()
        })
      }
      expect(inFlight(network)).toEqual([])
      expect(network.anomalies()).toEqual(faultless)
    }),
    { numRuns: 300 },
  )
})

test('messages of two openers and two directions have a fixed order, and each direction its head alone', () => {
  const { network, kernels } = build()
  kernels[2].connect(addresses[0], 7000)
  kernels[1].connect(addresses[0], 7000)
  kernels[1].connect(addresses[0], 7000)
  kernels[0].connect(addresses[1], 7000).close()
  step(network)
  expect(deliverable(network)).toEqual([
    'n2→n1 #1 open :7000',
    'n2→n1 #2 open :7000',
    'n3→n1 #1 open :7000',
    'n1→n2 #1 open :7000',
  ])
  const last = network.messages.deliverable()[3]!
  network.messages.deliver(last)
  expect(() => network.messages.deliver(last)).toThrow(
    'cannot deliver n1→n2 #1 open :7000: it is not the first that its connection holds',
  )
  step(network)
  expect(inFlight(network)).toContain('n2→n1 #3 accept :7000')
})

test('a SYN that is sent again while it is held asks nothing new; another from the same port does', () => {
  const { network, kernels } = build()
  const opener = kernels[0].connect(addresses[1], 7000)
  step(network)
  opener.transmit(flag.SYN)
  step(network)
  expect(inFlight(network)).toEqual(['n1→n2 #1 open :7000'])
  const restarted = new MemorySocket(kernels[0], 40_000, kernels[1].address, 7000, 5)
  restarted.transmit(flag.SYN)
  step(network)
  expect(inFlight(network)).toEqual(['n1→n2 #1 open :7000', 'n1→n2 #2 open :7000', 'n1→n2 #3 abort :7000'])
})

test('data enter behind the accept, in the same step', () => {
  const { network, kernels } = build()
  const opener = kernels[0].connect(addresses[1], 7000)
  step(network)
  deliverFirst(network)
  step(network)
  kernels[1].accepted[0]!.write(Buffer.from('hello'))
  step(network)
  expect(inFlight(network)).toEqual(['n2→n1 #1 accept :7000', 'n2→n1 #2 5 bytes :7000 "hello"'])
  deliverFirst(network)
  deliverFirst(network)
  step(network)
  expect(opener.read(everything).toString()).toBe('hello')
})

test('a crash that peers see leaves what was sent before in flight, and the abort after it', () => {
  const { network, opener, listener } = connect()
  listener.write(Buffer.from('a'))
  opener.write(Buffer.from('b'))
  step(network)
  network.attachments.detach('n2', 'reset')
  network.endStep()
  expect(inFlight(network)).toEqual(['n2→n1 #2 1 byte :7000 "a"', 'n2→n1 #3 abort :7000'])
  settle(network)
  expect(opener.state).toBe('reset')
  expect(opener.read(everything).toString()).toBe('a')
})

test('after a crash that nobody saw, what was sent waits, and its first arrival is answered with an abort', () => {
  const { network, opener } = connect()
  network.attachments.detach('n2', 'nothing')
  opener.write(Buffer.from('a'))
  step(network)
  opener.write(Buffer.from('b'))
  step(network)
  expect(inFlight(network)).toEqual(['n1→n2 #2 1 byte :7000 "a"', 'n1→n2 #3 1 byte :7000 "b"'])
  expect(deliverable(network)).toEqual([])
  network.attachments.attach('n2', addresses[1], new MemoryKernel(addresses[1]))
  deliverFirst(network)
  step(network)
  expect(inFlight(network)).toEqual(['n2→n1 #2 abort :7000'])
  settle(network)
  expect(opener.state).toBe('reset')
})

test('a connection broken in place of a message is reset at the receiver at once, and at the sender by a message', () => {
  const { network, opener, listener } = connect()
  opener.write(Buffer.from('a'))
  listener.write(Buffer.from('b'))
  step(network)
  opener.write(Buffer.from('c'))
  step(network)
  const [message] = network.messages.deliverable().filter(({ to }) => to === 'n2')
  network.faults.breakAt(message!)
  step(network)
  expect(listener.state).toBe('reset')
  expect(listener.read(everything).toString()).toBe('')
  expect(opener.state).toBe('open')
  expect(inFlight(network)).toEqual(['n2→n1 #2 1 byte :7000 "b"', 'n2→n1 #3 abort :7000'])
  settle(network)
  expect(opener.state).toBe('reset')
  expect(opener.read(everything).toString()).toBe('b')
})

test('an end that lost what told it of a reset learns of it when it sends, even to a kernel that began anew', () => {
  const { network, opener } = connect()
  network.attachments.detach('n2', 'reset')
  network.endStep()
  const [abort] = network.messages.deliverable()
  expect(abort!.label).toBe('n2→n1 #2 abort :7000')
  expect(network.faults.isBreakable(abort!)).toBe(false)
  network.messages.drop(abort!)
  settle(network)
  expect(opener.state).toBe('open')
  network.attachments.attach('n2', addresses[1], new MemoryKernel(addresses[1]))
  opener.write(Buffer.from('a'))
  step(network)
  settle(network)
  expect(opener.state).toBe('reset')
})

test('a request for a connection is refused in place of being delivered', () => {
  const { network, kernels } = build()
  const opener = kernels[0].connect(addresses[1], 7000)
  step(network)
  network.faults.breakAt(network.messages.deliverable()[0]!)
  step(network)
  settle(network)
  expect(opener.state).toBe('refused')
})

test('an answer to a request for a connection is not broken', () => {
  const { network, kernels } = build()
  kernels[0].connect(addresses[1], 7000)
  step(network)
  deliverFirst(network)
  step(network)
  const [accept] = network.messages.deliverable()
  expect(accept!.label).toBe('n2→n1 #1 accept :7000')
  expect(network.faults.isBreakable(accept!)).toBe(false)
})

test('a connection asked of a node that goes down unanswered is asked for again', () => {
  const { network, kernels } = build()
  const opener = kernels[0].connect(addresses[1], 7000)
  step(network)
  deliverFirst(network)
  network.attachments.detach('n2', 'reset')
  expect(inFlight(network)).toEqual(['n1→n2 #2 open :7000'])
  network.attachments.attach('n2', addresses[1], new MemoryKernel(addresses[1]))
  settle(network)
  expect(opener.state).toBe('refused')
})

test('a request that is sent once more while its answer is on the way is no other', () => {
  const { network, kernels } = build()
  const asked: Segment[] = []
  const { send } = kernels[0]
  kernels[0].send = segment => {
    asked.push({ kind: 'tcp', source: kernels[0].address, ...segment })
    send.call(kernels[0], segment)
  }
  const opener = kernels[0].connect(addresses[1], 7001)
  step(network)
  deliverFirst(network)
  step(network)
  send.call(kernels[0], asked[0]!)
  deliverFirst(network)
  step(network)
  expect(opener.state).toBe('refused')
  expect(inFlight(network)).toEqual([])
  // The next one from the same port is.
  send.call(kernels[0], { ...asked[0]!, sequence: 77 })
  step(network)
  expect(inFlight(network)).toEqual(['n1→n2 #2 open :7001'])
})

test('a node that sends more than 4 MB is held back until what it sent enters its peer', () => {
  const { network, opener, listener } = connect()
  opener.write(Buffer.alloc(10_000_000))
  step(network)
  expect(network.messages.all().map(({ bytes }) => bytes.length)).toEqual([4_194_304])
  let received = 0
  for (let isMore = true; isMore; ) {
    const bytes = listener.read(everything).length
    received += bytes
    isMore = bytes > 0 || network.messages.deliverable().length > 0
    if (network.messages.deliverable().length > 0) deliverFirst(network)
    step(network)
  }
  expect(received).toBe(10_000_000)
  expect(network.anomalies()).toEqual(faultless)
})

test('a node whose peer dies while it takes no more is held back no longer by what entered in vain', () => {
  const { network, opener } = connect()
  opener.write(Buffer.alloc(10_000_000))
  step(network)
  deliverFirst(network)
  step(network)
  expect(inFlight(network)).toEqual([])
  network.attachments.detach('n2', 'nothing')
  step(network)
  expect(network.messages.all().map(({ bytes }) => bytes.length)).toEqual([4_194_304])
})

test('connections are numbered by opener and way, and named so in what is open', () => {
  const { network, kernels } = build()
  for (const _ of [1, 2]) kernels[0].connect(addresses[1], 7000)
  kernels[1].connect(addresses[0], 7000)
  settle(network)
  expect(network.faults.connections().map(({ label }) => label)).toEqual([
    'n1→n2 connection 1 :7000',
    'n1→n2 connection 2 :7000',
    'n2→n1 connection 1 :7000',
  ])
})

/** Frames end with a full stop. */
const sentences: Dissector = {
  name: 'sentences',
  stream: direction => {
    let rest = ''
    return {
      push: chunk => {
        const parts = (rest + chunk).split(/(?<=\.)/)
        rest = parts.at(-1)!.endsWith('.') ? '' : parts.pop()!
        return parts.map((text): Frame => ({ bytes: Buffer.from(text), label: `${direction} ${text.length}` }))
      },
      rest: () => Buffer.from(rest),
    }
  },
  datagram: payload => `said ${payload}`,
}

test('with a dissector a message is whole frames; half a frame waits for its rest, and at the end goes as it is', () => {
  const { network, kernels } = build({ dissector: port => (port === 7000 ? sentences : undefined) })
  const opener = kernels[0].connect(addresses[1], 7000)
  settle(network)
  opener.write(Buffer.from('One. Two. Thr'))
  step(network)
  expect(inFlight(network)).toEqual(['n1→n2 #2 forward 4 | forward 5'])
  opener.write(Buffer.from('ee. Fo'))
  kernels[1].accepted[0]!.write(Buffer.from('Back.'))
  opener.close()
  step(network)
  expect(inFlight(network)).toEqual([
    'n2→n1 #2 backward 5',
    'n1→n2 #2 forward 4 | forward 5',
    'n1→n2 #4 forward 7',
    'n1→n2 #5 3 bytes :7000 " Fo"',
    'n1→n2 #6 close :7000',
  ])
  settle(network)
  expect(kernels[1].accepted[0]!.read(everything).toString()).toBe('One. Two. Three. Fo')
})

test('what was written together can be divided between its frames, and its rest arrives before what follows', () => {
  const { network, kernels } = build({ dissector: () => sentences })
  const opener = kernels[0].connect(addresses[1], 7000)
  settle(network)
  const read = () => kernels[1].accepted[0]!.read(everything).toString()
  opener.write(Buffer.from(`One. Two. Three. ${'And many more. '.repeat(9)}`))
  step(network)
  opener.write(Buffer.from('Last.'))
  step(network)
  const whole = 'n1→n2 #2 forward 4 | forward 5 | forward 7 | forward 15 | forward 15 | +7'
  expect(inFlight(network)).toEqual([whole, 'n1→n2 #14 forward 6'])
  const [message] = network.messages.deliverable()
  const beginning = network.messages.beginningOf(message!, 2)
  expect(beginning.label).toBe('n1→n2 #2 forward 4 | forward 5')
  expect(inFlight(network)).toHaveLength(2)
  const [first, rest] = network.messages.divide(message!, { after: 2, of: 'frames' })
  expect([first.label, rest.label]).toEqual([
    beginning.label,
    'n1→n2 #4 forward 7 | forward 15 | forward 15 | forward 15 | +6',
  ])
  network.messages.deliver(first)
  step(network)
  expect(read()).toBe('One. Two.')
  expect(inFlight(network)).toEqual([rest.label, 'n1→n2 #14 forward 6'])
  expect(() => network.messages.divide(rest, { after: 10, of: 'frames' })).toThrow('cannot divide')
  network.messages.divide(rest, { after: 1, of: 'frames' })
  settle(network)
  expect(read()).toBe(` Three. ${'And many more. '.repeat(9)}Last.`)
})

test('frames that were written together are no longer than a message may be', () => {
  const { network, kernels } = build({ dissector: () => sentences, messageBytesMax: 12 })
  const opener = kernels[0].connect(addresses[1], 7000)
  settle(network)
  opener.write(Buffer.from('One. Two. Three. And a very long one.'))
  step(network)
  expect(inFlight(network)).toEqual(['n1→n2 #2 forward 4 | forward 5', 'n1→n2 #4 forward 7', 'n1→n2 #5 forward 21'])
})

test('what comes back is read with what was asked: the answer to a HEAD is a message of its own', () => {
  const { network, kernels } = build({ dissector: () => http1() })
  const client = kernels[0].connect(addresses[1], 7000)
  settle(network)
  client.write(Buffer.from('HEAD /a HTTP/1.1\r\n\r\nGET /b HTTP/1.1\r\n\r\n'))
  settle(network)
  const server = kernels[1].accepted[0]!
  server.write(Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n'))
  step(network)
  expect(inFlight(network)).toEqual(['n2→n1 #2 200 OK'])
  server.write(Buffer.from('HTTP/1.1 201 Created\r\nContent-Length: 4\r\n\r\nbody'))
  step(network)
  expect(inFlight(network)).toEqual(['n2→n1 #2 200 OK', 'n2→n1 #3 201 Created'])
})

test('a connection is unanswered while its way is cut or its peer is down, and where its peer has forgotten it', () => {
  const { network, kernels } = build()
  const unanswered = () => network.faults.unanswered().map(({ node, kind }) => `${node} ${kind}`)
  kernels[0].connect(addresses[1], 7000)
  step(network)
  expect(unanswered()).toEqual([])
  network.faults.cut([['n1', 'n2']])
  expect(unanswered()).toEqual(['n1 asks'])
  network.faults.heal()
  settle(network)
  expect(unanswered()).toEqual([])
  // The way back alone: nothing that either sends is acknowledged.
  network.faults.cut([['n2', 'n1']])
  expect(unanswered()).toEqual(['n1 idle', 'n2 idle'])
  kernels[1].accepted[0]!.write(Buffer.from('hello'))
  step(network)
  expect(unanswered()).toEqual(['n1 idle', 'n2 waits'])
  network.faults.heal()
  expect(unanswered()).toEqual([])
  settle(network)
  network.attachments.detach('n2', 'nothing')
  step(network)
  expect(unanswered()).toEqual(['n1 idle'])
  const again = new MemoryKernel(addresses[1])
  network.attachments.attach('n2', addresses[1], again)
  expect(unanswered()).toEqual(['n1 denied'])
  network.faults.unanswered()[0]!.deny()
  step(network)
  expect(unanswered()).toEqual([])
  expect(deliverable(network)).toEqual(['n2→n1 #3 abort :7000'])
})

test.each([
  ['from 10.0.0.2:4711 to 10.0.0.30', 'from n2 to <address>'],
  ['10.0.0.1', 'n1'],
  ['version 1.2.3.4.5 of 10.0.0.300, and 10.0.0.1…', 'version 1.2.3.4.5 of 10.0.0.300, and 10.0.0.1…'],
])('a label shows nodes by their names: %s', (text, shown) => {
  const { network, kernels } = build({ dissector: () => lines() })
  const socket = kernels[0].connect(addresses[1], 7000)
  settle(network)
  socket.write(Buffer.from(`${text}\n`))
  step(network)
  expect(inFlight(network)).toEqual([`n1→n2 #2 ${shown}`])
})

test('a played host sends nothing on a connection for which the other kernel has not answered', () => {
  const network = new Network()
  network.attachments.attachPlayed('n1', addresses[0])
  // A kernel that drops the request, as one with a full backlog does.
  network.attachments.attach('n2', addresses[1], { read: () => 0, write: () => {}, close: () => {} })
  const body = { transport: 'tcp', port: 7000, opener: 'n1', number: 1, meaning: undefined } as const
  const segment = (kind: 'open' | 'data', text: string) =>
    ({ from: 'n1', to: 'n2', ...body, kind, bytes: Buffer.from(text) }) as const
  network.messages.deliver(network.messages.play(segment('open', ''))!)
  step(network)
  expect(network.messages.isPlayable(segment('data', 'hello'))).toBe(false)
  expect(network.messages.play(segment('data', 'hello'))).toBeUndefined()
})
