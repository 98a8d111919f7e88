import fc from 'fast-check'
import { expect, test } from 'vitest'
import { frames } from '../../proxy/dissect/frames.ts'
import type { Dissector } from '../../proxy/dissector.ts'

/** What both sides of a connection say, in order: `>` from its opener, `<` from the listener, with the label of each message. */
type Conversation = readonly (readonly [direction: '>' | '<', bytes: Buffer, label: string])[]

const labelsOf = (dissector: Dissector, said: readonly (readonly ['>' | '<', Buffer])[]) => {
  const forward = dissector.stream('forward')
  const readers = { '>': forward, '<': dissector.stream('backward', forward) }
  const labels = said.flatMap(([direction, bytes]) =>
    readers[direction].push(bytes).map(({ label }) => `${direction} ${label}`),
  )
  expect([readers['>'].rest().length, readers['<'].rest().length]).toEqual([0, 0])
  return labels
}

/** Each message cut at any places gives the labels that it has as a whole. */
const holds = (dissector: Dissector, conversation: Conversation) => {
  const expected = conversation.map(([direction, , label]) => `${direction} ${label}`)
  const piecesOf = ([direction, bytes]: Conversation[number], at: number): ['>' | '<', Buffer][] => [
    [direction, bytes.subarray(0, at % bytes.length)],
    [direction, bytes.subarray(at % bytes.length)],
  ]
  expect(
    labelsOf(
      dissector,
      conversation.map(([direction, bytes]) => [direction, bytes]),
    ),
  ).toEqual(expected)
  fc.assert(
    fc.property(fc.nat(500), at => {
      const pieces = conversation.flatMap(said => piecesOf(said, at)).filter(([, bytes]) => bytes.length > 0)
      expect(labelsOf(dissector, pieces)).toEqual(expected)
    }),
  )
}

const u16 = (value: number) => Buffer.from([value >> 8, value & 0xff])
const u32 = (value: number) => Buffer.concat([u16(Math.floor(value / 65_536)), u16(value & 0xffff)])
const join = (...parts: readonly (Buffer | string)[]) =>
  Buffer.concat(parts.map(part => (typeof part === 'string' ? Buffer.from(part) : part)))

test('PostgreSQL: a simple query, a prepared one, rows and an error', () => {
  const message = (type: string, ...parts: (Buffer | string)[]) => {
    const body = join(...parts)
    return join(type, u32(body.length + 4), body)
  }
  const startup = join(u32(196_608), 'user\0ann\0database\0shop\0\0')
  holds(frames.postgres(), [
    ['>', join(u32(8), u32(80_877_103)), 'SSLRequest'],
    ['<', Buffer.from('N'), 'no'],
    ['>', join(u32(startup.length + 4), startup), 'startup user=ann database=shop'],
    ['<', message('R', u32(5), 'salt'), 'authentication by MD5'],
    ['>', message('p', 'md5secret\0'), 'password'],
    ['<', message('S', 'TimeZone\0UTC\0'), 'setting TimeZone=UTC'],
    ['<', message('K', u32(1), u32(2)), 'key data'],
    ['<', message('Z', 'I'), 'ready'],
    ['>', message('Q', 'select 1\0'), 'query select 1'],
    ['<', message('T', u16(0)), 'columns'],
    ['<', message('D', u16(2), u32(1), '1', u32(0xffffffff)), 'row 1, null'],
    ['<', message('C', 'SELECT 1\0'), 'complete SELECT 1'],
    ['<', message('E', 'SERROR\0C40001\0Mcould not serialize\0\0'), 'error 40001 could not serialize'],
    ['<', message('Z', 'T'), 'ready in a transaction'],
    ['>', message('P', 'one\0insert into t values ($1)\0', u16(0)), 'parse one insert into t values ($1)'],
    ['>', message('B', '\0one\0', u16(0), u16(1), u32(2), 'x1', u16(0)), 'bind one x1'],
    ['>', message('D', 'Sone\0'), 'describe statement one'],
    ['>', message('E', '\0', u32(0)), 'execute'],
    ['>', message('B', 'p'), 'bind 1 byte'],
    ['<', message('A', u32(7), 'jobs\0new\0'), 'notification jobs new'],
    ['>', message('X'), 'terminate'],
  ])
})

test('PostgreSQL: after TLS was agreed upon, bytes come as they are', () => {
  expect(
    labelsOf(frames.postgres(), [
      ['>', join(u32(8), u32(80_877_103))],
      ['<', Buffer.from('S')],
      ['>', Buffer.from([0x16, 3, 1, 0, 5])],
      ['<', Buffer.from([0x16, 3, 3])],
    ]),
  ).toEqual(['> SSLRequest', '< yes', '> 5 bytes', '< 3 bytes'])
})

const text = (value: string) => join(u16(value.length), value)

test('MQTT 3.1.1: a client publishes with and without an answer', () => {
  const packet = (first: number, ...parts: (Buffer | string)[]) => {
    const body = join(...parts)
    return join(Buffer.from([first, body.length]), body)
  }
  holds(frames.mqtt(), [
    ['>', packet(0x10, text('MQTT'), Buffer.from([4, 2, 0, 60]), text('ann')), 'connect ann'],
    ['<', packet(0x20, Buffer.from([0, 0])), 'connected'],
    ['<', packet(0x20, Buffer.from([0, 5])), 'connected refused 5'],
    ['>', packet(0x82, u16(1), text('lights/#'), Buffer.from([1])), 'subscribe lights/#'],
    ['<', packet(0x90, u16(1), Buffer.from([1])), 'subscribed #1'],
    ['>', packet(0x30, text('lights/1'), 'on'), 'publish lights/1 on'],
    ['>', packet(0x3a, text('lights/1'), u16(7), 'off'), 'publish lights/1 #7 again off'],
    ['<', packet(0x40, u16(7)), 'published #7'],
    ['>', packet(0x3a, u16(900)), 'publish 2 bytes'],
    ['>', packet(0xc0), 'ping'],
    ['<', packet(0xd0), 'pong'],
    ['>', packet(0xe0), 'disconnect'],
  ])
})

test('MQTT 5 has properties, in answers too', () => {
  const five = Buffer.from([5, 2, 0, 60])
  const connect = join(text('MQTT'), five, Buffer.from([2, 0x21, 9]), text('bob'))
  const publish = join(text('t'), Buffer.from([2, 1, 1]), 'hello')
  holds(frames.mqtt(), [
    ['>', join(Buffer.from([0x10, connect.length]), connect), 'connect bob'],
    ['<', join(Buffer.from([0x30, publish.length]), publish), 'publish t hello'],
  ])
})

test('AMQP: channel, method, and the queue or key that it names', () => {
  const frame = (type: number, channel: number, ...parts: (Buffer | string)[]) => {
    const body = join(...parts)
    return join(Buffer.from([type]), u16(channel), u32(body.length), body, Buffer.from([0xce]))
  }
  const name = (value: string) => join(Buffer.from([value.length]), value)
  const method = (type: number, number: number, ...parts: (Buffer | string)[]) =>
    frame(1, 1, u16(type), u16(number), ...parts)
  holds(frames.amqp(), [
    ['>', Buffer.from('AMQP\0\0\x09\x01'), 'protocol 0-9-1'],
    ['<', frame(1, 0, u16(10), u16(10)), 'connection.start'],
    ['>', method(20, 10, name('')), '1: channel.open'],
    ['<', method(20, 11, u32(0)), '1: channel.open-ok'],
    ['>', method(50, 10, u16(0), name('jobs'), Buffer.from([0]), u32(0)), '1: queue.declare jobs'],
    ['>', method(60, 40, u16(0), name(''), name('jobs'), Buffer.from([0])), '1: basic.publish "" jobs'],
    ['>', frame(2, 1, Buffer.alloc(14)), '1: header'],
    ['>', frame(3, 1, 'job 1'), '1: body job 1'],
    [
      '<',
      method(60, 60, name('c1'), u32(0), u32(3), Buffer.from([0]), name(''), name('jobs')),
      '1: basic.deliver "" jobs',
    ],
    ['>', method(60, 80, u32(0), u32(3), Buffer.from([0])), '1: basic.ack #3'],
    ['<', frame(8, 0), 'heartbeat'],
    ['<', method(60, 40, u16(0)), '1: basic.publish'],
    ['<', method(60, 999), '1: basic.999'],
  ])
})

test('Kafka: requests by name and version, and their answers', () => {
  const message = (...parts: (Buffer | string)[]) => {
    const body = join(...parts)
    return join(u32(body.length), body)
  }
  holds(frames.kafka(), [
    ['>', message(u16(18), u16(3), u32(1), text('ann'), Buffer.from([0])), 'ApiVersions v3 #1 of ann'],
    ['>', message(u16(0), u16(9), u32(2), u16(0xffff)), 'Produce v9 #2'],
    ['<', message(u32(1), Buffer.alloc(5)), 'ApiVersions #1 answered, 5 bytes'],
    ['<', message(u32(2), Buffer.alloc(1)), 'Produce #2 answered, 1 byte'],
    ['<', message(u32(2), Buffer.alloc(1)), 'answer #2 answered, 1 byte'],
  ])
})

test('WebSocket: frames after the upgrade, without their masks', () => {
  const frame = (first: number, content: Buffer | string, mask = Buffer.alloc(0)) => {
    const bytes = Buffer.from(content)
    const masked = bytes.map((byte, at) => (mask.length === 0 ? byte : byte ^ mask[at % 4]!))
    const short = bytes.length < 126
    const length = join(
      Buffer.from([(mask.length && 0x80) | (short ? bytes.length : 126)]),
      short ? '' : u16(bytes.length),
    )
    return join(Buffer.from([first]), length, mask, Buffer.from(masked))
  }
  const mask = Buffer.from([1, 2, 3, 4])
  holds(frames.http1(), [
    ['>', Buffer.from('GET /chat HTTP/1.1\r\nUpgrade: websocket\r\n\r\n'), 'GET /chat'],
    ['<', Buffer.from('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n'), '101 Switching Protocols'],
    ['>', frame(0x81, 'hello', mask), 'hello'],
    ['<', frame(0x81, `{"a":1} ${'x'.repeat(200)}`), `{"a":1} ${'x'.repeat(51)}…`],
    ['<', frame(0x01, 'begin'), 'begin …'],
    ['<', frame(0x80, 'end'), 'more end'],
    ['<', frame(0x82, Buffer.from([0, 1])), 'binary 2 bytes'],
    ['<', frame(0xc1, 'zz'), 'text of 2 compressed bytes'],
    ['>', frame(0x89, '', mask), 'ping'],
    ['<', frame(0x8a, ''), 'pong'],
    ['>', frame(0x88, join(u16(1000), 'bye'), mask), 'close 1000 bye'],
  ])
})

test('a refused upgrade goes on with HTTP', () => {
  expect(
    labelsOf(frames.http1(), [
      ['>', Buffer.from('GET /chat HTTP/1.1\r\nUpgrade: websocket\r\n\r\n')],
      ['<', Buffer.from('HTTP/1.1 426 Upgrade Required\r\nUpgrade: websocket\r\nContent-Length: 0\r\n\r\n')],
      ['>', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
      ['<', Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')],
    ]),
  ).toEqual(['> GET /chat', '< 426 Upgrade Required', '> GET /', '< 200 OK'])
})
