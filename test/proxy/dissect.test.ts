import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { pack } from 'msgpackr'
import protobufjs from 'protobufjs'
import { describe, expect, test } from 'vitest'
import { frames } from '../../proxy/dissect/frames.ts'
import type { Dissector, Frame, StreamReader } from '../../proxy/dissector.ts'

type Direction = 'forward' | 'backward'

const labelsOf = (frames: readonly Frame[]) => frames.map(frame => frame.label)
const textsOf = (frames: readonly Frame[]) => frames.map(frame => frame.bytes.toString('latin1'))
const bytesOf = (text: string | Buffer) => (typeof text === 'string' ? Buffer.from(text, 'latin1') : text)

/** All that a reader makes of a stream that comes in pieces. */
const read = (reader: StreamReader, pieces: readonly Buffer[]) => {
  const frames = pieces.flatMap(piece => reader.push(piece))
  return { frames, rest: reader.rest() }
}

/** A stream cut at any places. */
const cutAnywhere = (stream: Buffer) =>
  fc.array(fc.nat({ max: stream.length }), { maxLength: 12 }).map(places => {
    const cuts = [0, ...places.sort((a, b) => a - b), stream.length]
    return cuts.slice(1).map((end, index) => stream.subarray(cuts[index]!, end))
  })

const bytesAreKept = (dissector: Dissector, direction: Direction, stream: Buffer, pieces: readonly Buffer[]) => {
  const { frames, rest } = read(dissector.stream(direction), pieces)
  const kept = Buffer.concat([...frames.map(frame => frame.bytes), rest])
  expect(kept.equals(stream)).toBe(true)
}

const isGoodLabel = (label: string) => label.length > 0 && [...label].length <= 60 && !/\p{C}/u.test(label)

const proto = `
  syntax = "proto3";
  package raft;
  enum Role { follower = 0; leader = 1; }
  message Vote { uint32 term = 1; string candidate = 2; Role role = 3; repeated uint32 log = 4; }
`
const Vote = protobufjs.parse(proto).root.lookupType('raft.Vote')
const vote = Buffer.from(Vote.encode({ term: 2, candidate: 'n1', role: 1, log: [1, 2, 3] }).finish())
const delimited = Buffer.concat([Buffer.from([vote.length]), vote])

const all: Record<string, Dissector> = {
  lines: frames.lines(),
  jsonLines: frames.jsonLines(),
  byte: frames.lengthPrefixed({ bytes: 1 }),
  word: frames.lengthPrefixed({ bytes: 4, endian: 'little', includesHeader: true }),
  varint: frames.lengthPrefixed({ bytes: 'varint' }),
  http1: frames.http1(),
  http2: frames.http2(),
  grpc: frames.grpc({ proto }),
  resp: frames.resp(),
  postgres: frames.postgres(),
  mqtt: frames.mqtt(),
  amqp: frames.amqp(),
  kafka: frames.kafka(),
  protobuf: frames.protobuf({ proto, message: 'raft.Vote' }),
  msgpack: frames.msgpack(),
  prefixedMsgpack: frames.msgpack({ prefix: { bytes: 2 } }),
  fields: frames.lengthPrefixed({ bytes: 2, fields: { type: { u8: { 1: 'ping' } }, rest: 'text' } }),
  datagrams: frames.datagrams({ fields: { term: 'u32' } }),
}

/** Streams that are well-formed, with the messages that they are cut into. */
const samples: [
  name: string,
  dissector: Dissector,
  direction: Direction,
  messages: [bytes: string | Buffer, label: string][],
][] = [
  [
    'lines',
    frames.lines(),
    'forward',
    [
      ['hello\n', 'hello'],
      ['\r\n', 'empty line'],
      ['vote  for\tme\r\n', 'vote for me'],
      [Buffer.from('grüß dich\n'), 'grüß dich'],
      [Buffer.from([0xff, 0xfe, 0x0a]), '2 bytes'],
      [`${'x'.repeat(80)}\n`, `${'x'.repeat(59)}…`],
    ],
  ],
  [
    'JSON lines',
    frames.jsonLines(),
    'forward',
    [
      ['{"type":"vote","term":2,"from":"n1"}\n', 'vote term=2 from=n1'],
      ['{"term":3,"entries":[1,2],"meta":{"a":1},"ok":null}\r\n', 'term=3 entries=[2] meta={…} ok=null'],
      ['{}\n', '{}'],
      ['[1,2]\n', '[2]'],
      ['"text"\n', 'text'],
      ['ready\n', 'ready'],
    ],
  ],
  [
    'JSON lines with a label of the user',
    frames.jsonLines(m => (m.term === 9 ? m.none.at : `${m.type}/${m.term}`)),
    'forward',
    [
      ['{"type":"vote","term":2}\n', 'vote/2'],
      ['{"term":9}\n', 'term=9'],
    ],
  ],
  [
    'a length of one byte',
    frames.lengthPrefixed({ bytes: 1 }),
    'forward',
    [
      ['\x05hello', 'hello'],
      ['\x00', '0 bytes'],
      ['\x02\x00\x01', '2 bytes'],
    ],
  ],
  [
    'MessagePack',
    frames.msgpack(),
    'forward',
    [
      [
        Buffer.from(pack({ type: 'vote', term: 2, log: [1, 2], data: Buffer.from('ab') })),
        'vote term=2 log=[2] data=[2]',
      ],
      [Buffer.from(pack([0, 7, 'put', ['k', 1]])), '[0, 7, put, [2]]'],
      [Buffer.from(pack([1, 2, 3, 4, 5, 6, 7, 8, 9])), '[1, 2, 3, 4, 5, 6, 7, 8, …]'],
      [Buffer.from(pack(5_000_000_000)), '5000000000'],
      [Buffer.from(pack(null)), 'null'],
      [Buffer.from(pack('text')), 'text'],
    ],
  ],
  [
    'MessagePack that is preceded by its length, with a label of the user',
    frames.msgpack({ prefix: { bytes: 2 }, label: m => `${m.type}/${m.term.toFixed()}` }),
    'forward',
    [
      [Buffer.concat([Buffer.from([0, 16]), pack({ type: 'a', term: 9 })]), 'a/9'],
      [Buffer.from([0, 1, 0x80]), '{}'],
      ['\x00\x02\xc1\x01', '2 bytes'],
    ],
  ],
  [
    'a length, and fields',
    frames.lengthPrefixed({
      bytes: 2,
      fields: {
        type: {
          u8: { 1: 'ping', 2: ['vote', { term: 'u32', from: 'text8', delta: 'i16' }], 3: ['put', { value: 'text' }] },
        },
      },
    }),
    'forward',
    [
      ['\x00\x01\x01', 'ping'],
      ['\x00\x0a\x02\x00\x00\x00\x07\x02n1\xff\xfe', 'vote term=7 from=n1 delta=-2'],
      ['\x00\x03\x03ab', 'put value=ab'],
      ['\x00\x01\x09', 'type=9'],
      // Too short, and too long.
      ['\x00\x03\x02\x00\x00', '3 bytes'],
      ['\x00\x02\x01\x01', '2 bytes'],
    ],
  ],
  [
    'a length and fields, the least byte first',
    frames.lengthPrefixed({
      ...{ bytes: 2, endian: 'little', includesHeader: true },
      fields: { size: 'u64', ok: 'bool', data: 'bytes8' },
    }),
    'forward',
    [['\x0e\x00\x02\x01\x00\x00\x00\x00\x00\x00\x01\x02ab', 'size=258 ok=true data=[2]']],
  ],
  ['a length of two bytes', frames.lengthPrefixed({ bytes: 2 }), 'forward', [['\x00\x02ab', 'ab']]],
  [
    'a length of four bytes',
    frames.lengthPrefixed({ bytes: 4, endian: 'little' }),
    'forward',
    [['\x02\0\0\0ab', 'ab']],
  ],
  ['a length of eight bytes', frames.lengthPrefixed({ bytes: 8 }), 'forward', [['\0\0\0\0\0\0\0\x02ab', 'ab']]],
  [
    'a length that counts itself',
    frames.lengthPrefixed({ bytes: 2, includesHeader: true, label: payload => `payload of ${payload.length}` }),
    'forward',
    [
      ['\x00\x04ab', 'payload of 2'],
      ['\x00\x02', 'payload of 0'],
    ],
  ],
  [
    'a varint length',
    frames.lengthPrefixed({ bytes: 'varint' }),
    'forward',
    [
      [`\xac\x02${'a'.repeat(300)}`, `${'a'.repeat(59)}…`],
      ['\x01b', 'b'],
    ],
  ],
  [
    'protobuf',
    all.protobuf!,
    'forward',
    [
      [delimited, 'Vote term=2 candidate=n1 role=leader log=[3]'],
      [Buffer.from([0]), 'Vote {}'],
      [Buffer.from([2, 0x0d, 0]), '2 bytes'],
    ],
  ],
  [
    'HTTP requests',
    frames.http1(),
    'forward',
    [
      ['GET /state?full=1 HTTP/1.1\r\nHost: 10.0.0.1:7000\r\n\r\n', 'GET /state?full=1'],
      ['\r\nGET http://10.0.0.1:7000/x HTTP/1.0\nA: b\n\n', 'GET /x'],
      ['POST /put HTTP/1.1\r\nContent-Length: 3\r\n\r\nx=1', 'POST /put'],
      ['PUT /k HTTP/1.1\r\nContent-Length: 2, 2\r\nX: a\r\n b\r\n\r\nab', 'PUT /k'],
      ['POST /large HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n', 'POST /large'],
      ['abcd', '4 bytes more'],
      ['OPTIONS * HTTP/1.1\r\n\r\n', 'OPTIONS *'],
    ],
  ],
  [
    'HTTP responses',
    frames.http1(),
    'backward',
    [
      ['HTTP/1.1 100 Continue\r\n\r\n', '100 Continue'],
      ['HTTP/1.1 200 OK\r\nDate: Mon, 01 Jan 2024 00:00:00 GMT\r\nContent-Length: 2\r\n\r\nok', '200 OK'],
      ['HTTP/1.1 204 No Content\r\n\r\n', '204 No Content'],
      ['HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n', '304 Not Modified'],
      ['HTTP/1.1 500\r\nContent-Length: 0\r\n\r\n', '500'],
    ],
  ],
  [
    'RESP commands',
    frames.resp(),
    'forward',
    [
      ['*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\n1\r\n', 'SET k 1'],
      ['PING\r\n', 'PING'],
      ['*2\r\n$3\r\nGET\r\n$0\r\n\r\n', 'GET ""'],
      ['*3\r\n$5\r\nPSYNC\r\n$1\r\n?\r\n$2\r\n-1\r\n', 'PSYNC ? -1'],
      ['*3\r\n$8\r\nREPLCONF\r\n$3\r\nACK\r\n$2\r\n14\r\n', 'REPLCONF ACK 14'],
    ],
  ],
  [
    'RESP replies',
    frames.resp(),
    'backward',
    [
      ['+OK\r\n', 'OK'],
      ['-ERR unknown command\r\n', 'ERR unknown command'],
      [':42\r\n', '42'],
      ['$5\r\nvalue\r\n', 'value'],
      ['$0\r\n\r\n', '""'],
      ['$-1\r\n', 'nil'],
      ['*-1\r\n', 'nil'],
      ['*3\r\n$1\r\na\r\n:2\r\n*1\r\n+x\r\n', '[a, 2, [1]]'],
      ['*0\r\n', '[]'],
      ['%1\r\n+k\r\n#t\r\n', '[k, true]'],
      ['~2\r\n,1.5\r\n_\r\n', '[1.5, nil]'],
      ['>2\r\n+message\r\n(12345678901234567890\r\n', '[message, 12345678901234567890]'],
      ['=8\r\ntxt:some\r\n', 'some'],
      ['!5\r\nERR x\r\n', 'ERR x'],
      ['|1\r\n+ttl\r\n:3\r\n:7\r\n', '7'],
      [',inf\r\n', 'Infinity'],
    ],
  ],
  [
    "a replica's connection, with a snapshot of known length",
    frames.resp(),
    'backward',
    [
      ['+PONG\r\n', 'PONG'],
      [`+FULLRESYNC ${'0123456789'.repeat(4)} 0\r\n`, 'FULLRESYNC <id> 0'],
      ['\n', 'keep-alive'],
      ['\n', 'keep-alive'],
      ['$9\r\nREDIS\r\n\x00*', 'RDB snapshot'],
      ['*1\r\n$4\r\nPING\r\n', 'PING'],
      ['*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$1\r\n1\r\n', 'SET k 1'],
    ],
  ],
  [
    "a replica's connection, with a snapshot up to a mark",
    frames.resp(),
    'backward',
    [
      ['+FULLRESYNC abc 0\r\n', 'FULLRESYNC abc 0'],
      [`$EOF:${'m'.repeat(40)}\r\nREDIS\xff${'m'.repeat(40)}`, 'RDB snapshot'],
      ['*1\r\n$4\r\nPING\r\n', 'PING'],
    ],
  ],
  [
    "a replica's connection that is continued",
    frames.resp(),
    'backward',
    [
      ['+CONTINUE\r\n', 'CONTINUE'],
      ['*2\r\n$3\r\nDEL\r\n$1\r\nk\r\n', 'DEL k'],
    ],
  ],
]

describe.each(samples)('%s', (_, dissector, direction, messages) => {
  const stream = Buffer.concat(messages.map(([bytes]) => bytesOf(bytes)))
  const expected = messages.map(([bytes, label]) => ({ bytes: bytesOf(bytes).toString('latin1'), label }))

  test('is cut into its messages, however it comes', () => {
    fc.assert(
      fc.property(cutAnywhere(stream), pieces => {
        const { frames, rest } = read(dissector.stream(direction), pieces)
        expect(frames.map(({ bytes, label }) => ({ bytes: bytes.toString('latin1'), label }))).toEqual(expected)
        expect(rest.length).toBe(0)
      }),
      { numRuns: 50 },
    )
  })

  test('is cut into its messages by copies of its reader, made at any place, whatever the reader reads then', () => {
    fc.assert(
      fc.property(cutAnywhere(stream), pieces => {
        let reader = dissector.stream(direction)
        const given = pieces.flatMap(piece => {
          const copy = reader.copy!()
          reader.push(Buffer.from('+CONTINUE\r\nHTTP/1.1 101 x\r\n\r\n\0'))
          reader = copy
          return reader.push(piece)
        })
        expect(given.map(({ bytes, label }) => ({ bytes: bytes.toString('latin1'), label }))).toEqual(expected)
        expect(reader.rest().length).toBe(0)
      }),
      { numRuns: 50 },
    )
  })

  test('has labels that are short and printable', () => {
    for (const { label } of read(dissector.stream(direction), [stream]).frames) expect(label).toSatisfy(isGoodLabel)
  })

  test('keeps every byte where one of them is wrong', () => {
    const damaged = fc.tuple(fc.nat({ max: stream.length - 1 }), fc.nat({ max: 255 })).map(([place, byte]) => {
      const copy = Buffer.from(stream)
      copy[place] = byte
      return copy
    })
    const inPieces = damaged.chain(stream => cutAnywhere(stream).map(pieces => ({ stream, pieces })))
    fc.assert(
      fc.property(inPieces, ({ stream, pieces }) => bytesAreKept(dissector, direction, stream, pieces)),
      { numRuns: 50 },
    )
  })

  test('is waited for, message by message', () => {
    const reader = dissector.stream(direction)
    for (const [bytes, label] of messages) {
      const whole = bytesOf(bytes)
      expect(reader.push(whole.subarray(0, -1))).toEqual([])
      expect(labelsOf(reader.push(whole.subarray(-1)))).toEqual([label])
    }
  })
})

describe.each(Object.entries(all))('any bytes in %s', (_, dissector) => {
  test.each(['forward', 'backward'] as const)('%s are given again, in order', direction => {
    const inPieces = fc
      .uint8Array({ maxLength: 300 })
      .chain(bytes => cutAnywhere(Buffer.from(bytes)).map(pieces => ({ stream: Buffer.from(bytes), pieces })))
    fc.assert(fc.property(inPieces, ({ stream, pieces }) => bytesAreKept(dissector, direction, stream, pieces)))
  })

  test('have a good label as a datagram', () => {
    fc.assert(
      fc.property(fc.oneof(fc.uint8Array(), fc.string({ unit: 'binary' })), payload => {
        expect(dissector.datagram(Buffer.from(payload as string))).toSatisfy(isGoodLabel)
      }),
    )
  })
})

test.each([
  ['', '""'],
  ['  ', '""'],
  [{ type: '' }, '""'],
  [{}, '{}'],
])('a value without text, %j, has a label', (value, label) => {
  expect(frames.jsonLines().datagram(Buffer.from(JSON.stringify(value)))).toBe(label)
  expect(frames.msgpack().datagram(Buffer.from(pack(value)))).toBe(label)
})

describe('a stream that is not of the protocol', () => {
  const malformed: [name: string, dissector: Dissector, direction: Direction, stream: string][] = [
    ['a line with a NUL', frames.lines(), 'forward', 'a\0b\nc\n'],
    ['a line without an end', frames.lines(), 'forward', 'x'.repeat(2 ** 20 + 1)],
    ['a length beyond all sense', frames.lengthPrefixed({ bytes: 4 }), 'forward', '\xff\xff\xff\xffabc'],
    ['a length below its own', frames.lengthPrefixed({ bytes: 2, includesHeader: true }), 'forward', '\0\x01abc'],
    ['a varint without an end', frames.lengthPrefixed({ bytes: 'varint' }), 'forward', '\xff\xff\xff\xff\xffabc'],
    ['TLS instead of a request', frames.http1(), 'forward', '\x16\x03\x01\x02\0\x01'],
    ['HTTP/2 instead of a request', frames.http1(), 'forward', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['HTTP/1 instead of HTTP/2', frames.http2(), 'forward', 'GET / HTTP/1.1\r\n\r\n'],
    ['no settings at first', frames.http2(), 'backward', '\0\0\0\0\0\0\0\0\x01'],
    ['text instead of a response', frames.http1(), 'backward', 'SSH-2.0-x'],
    ['two lengths', frames.http1(), 'forward', 'POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab'],
    ['a header without a colon', frames.http1(), 'forward', 'GET / HTTP/1.1\r\nnone\r\n\r\n'],
    [
      'a chunk without a size',
      frames.http1(),
      'backward',
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n',
    ],
    [
      'a chunk longer than its size',
      frames.http1(),
      'forward',
      'PUT / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nabc\r\n',
    ],
    ['text instead of a reply', frames.resp(), 'backward', 'hello\r\n'],
    ['a bulk longer than its length', frames.resp(), 'forward', '*1\r\n$1\r\nabc\r\n'],
    ['a count that is none', frames.resp(), 'backward', '*x\r\n'],
    ['lists in lists without an end', frames.resp(), 'backward', '*1\r\n'.repeat(50)],
    ['a snapshot that is none', frames.resp(), 'backward', '$x\r\n'],
  ]
  test.each(malformed)(
    'a stream that is not of the protocol comes as it comes: %s',
    (_, dissector, direction, stream) => {
      const reader = dissector.stream(direction)
      const bytes = Buffer.from(stream, 'latin1')
      expect(labelsOf(reader.push(bytes))).toEqual([`${bytes.length} bytes`])
      expect(reader.push(Buffer.from('GET / HTTP/1.1\r\n\r\n'))).toEqual([
        { bytes: Buffer.from('GET / HTTP/1.1\r\n\r\n'), label: '18 bytes' },
      ])
      expect(reader.push(Buffer.from('x'))).toEqual([{ bytes: Buffer.from('x'), label: '1 byte' }])
      expect(reader.rest().length).toBe(0)
    },
  )

  test('what was whole before it is a message still', () => {
    const reader = frames.resp().stream('forward')
    expect(labelsOf(reader.push(Buffer.from('PING\r\n*1\r\n+x\r\n*1\r\n:z\r\n')))).toEqual(['PING', 'x', '8 bytes'])
  })
})

describe('HTTP/1', () => {
  const chunkedHead = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'

  test('a chunked body is part of its message where all of it has come', () => {
    const reader = frames.http1().stream('backward')
    const whole = `${chunkedHead}5\r\nhello\r\n2;ext=1\r\nxy\r\n0\r\nTrailer: 1\r\n\r\n`
    const next = 'HTTP/1.1 204 No Content\r\n\r\n'
    const given = reader.push(Buffer.from(whole + next))
    expect(labelsOf(given)).toEqual(['200 OK', '204 No Content'])
    expect(textsOf(given)).toEqual([whole, next])
  })

  test('a chunked body that goes on is given as it comes, in whole chunks', () => {
    const reader = frames.http1().stream('backward')
    expect(labelsOf(reader.push(Buffer.from(chunkedHead)))).toEqual(['200 OK'])
    expect(labelsOf(reader.push(Buffer.from('5\r\nhello\r\n2\r\nx')))).toEqual(['10 bytes more'])
    expect(reader.rest().toString()).toBe('2\r\nx')
    expect(textsOf(reader.push(Buffer.from('y\r\n0\r\n')))).toEqual(['2\r\nxy\r\n'])
    expect(textsOf(reader.push(Buffer.from('\r\nHTTP/1.1 204 \r\n\r\n')))).toEqual([
      '0\r\n\r\n',
      'HTTP/1.1 204 \r\n\r\n',
    ])
  })

  test('a body until the end of its connection is given as it comes', () => {
    const reader = frames.http1().stream('backward')
    expect(labelsOf(reader.push(Buffer.from('HTTP/1.0 200 OK\r\n\r\nbegin')))).toEqual(['200 OK'])
    expect(labelsOf(reader.push(Buffer.from('HTTP/1.1 200 OK\r\n\r\n')))).toEqual(['19 bytes'])
  })

  test('what follows an upgrade to another protocol is given as it comes', () => {
    const dissector = frames.http1()
    const reader = dissector.stream('backward')
    const head = 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: other\r\n\r\n'
    expect(labelsOf(reader.push(Buffer.from(`${head}\x01\x02`, 'latin1')))).toEqual([
      '101 Switching Protocols',
      '2 bytes',
    ])
    expect(labelsOf(reader.push(Buffer.from('abc')))).toEqual(['3 bytes'])
  })

  test('what answers a HEAD has a length but no body, in a pipeline too', () => {
    const dissector = frames.http1()
    const requests = dissector.stream('forward')
    const responses = dissector.stream('backward', requests)
    requests.push(Buffer.from('GET /a HTTP/1.1\r\n\r\nHEAD /b HTTP/1.1\r\n\r\nGET /c HTTP/1.1\r\n\r\n'))
    const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n'
    const given = responses.push(Buffer.from(`HTTP/1.1 103 Early Hints\r\n\r\n${ok}aa${ok}${ok}cc`))
    expect(textsOf(given)).toEqual(['HTTP/1.1 103 Early Hints\r\n\r\n', `${ok}aa`, ok, `${ok}cc`])
  })

  test('copies know what was requested, and what they learn does not show in the others', () => {
    const requests = frames.http1().stream('forward')
    const responses = frames.http1().stream('backward', requests)
    requests.push(Buffer.from('HEAD /a HTTP/1.1\r\n\r\nGET /b HTTP/1.1\r\n\r\n'))
    const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n'
    const copies = [1, 2].map(() => {
      const copied = requests.copy!()
      return { copied, answered: responses.copy!(copied) }
    })
    for (const { copied, answered } of copies) {
      copied.push(Buffer.from('HEAD /c HTTP/1.1\r\n\r\n'))
      expect(textsOf(answered.push(Buffer.from(`${ok}${ok}bb${ok}`)))).toEqual([ok, `${ok}bb`, ok])
    }
    expect(textsOf(responses.push(Buffer.from(`${ok}${ok}bb${ok}cc`)))).toEqual([ok, `${ok}bb`, `${ok}cc`])
  })

  test('a response that is early does not put the others out of order', () => {
    const dissector = frames.http1()
    const requests = dissector.stream('forward')
    const responses = dissector.stream('backward', requests)
    requests.push(Buffer.from('POST /a HTTP/1.1\r\nContent-Length: 3\r\n\r\na'))
    const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n'
    expect(textsOf(responses.push(Buffer.from(`${ok}aa`)))).toEqual([`${ok}aa`])
    requests.push(Buffer.from('aaHEAD /b HTTP/1.1\r\n\r\n'))
    expect(textsOf(responses.push(Buffer.from(ok)))).toEqual([ok])
  })

  test('what follows a CONNECT that is granted is given as it comes', () => {
    const dissector = frames.http1()
    const requests = dissector.stream('forward')
    const responses = dissector.stream('backward', requests)
    requests.push(Buffer.from('CONNECT there HTTP/1.1\r\n\r\n'))
    expect(labelsOf(responses.push(Buffer.from('HTTP/1.1 200 OK\r\n\r\nHTTP/1.1')))).toEqual(['200 OK', '8 bytes'])
  })

  test('a label may be made of all of a message', () => {
    const dissector = frames.http1(m => `${m.kind === 'request' ? m.method : m.status} ${m.headers['x-id']} ${m.body}`)
    const [request] = dissector
      .stream('forward')
      .push(Buffer.from('PUT /k HTTP/1.1\r\nX-Id: 7\r\nContent-Length: 2\r\n\r\nab'))
    expect(request!.label).toBe('PUT 7 ab')
    const [response] = dissector.stream('backward').push(Buffer.from('HTTP/1.1 204 None\r\nx-id: 7\r\n\r\n'))
    expect(response!.label).toBe('204 7')
  })
})

describe('labels', () => {
  test('are without ports of this machine and dates', () => {
    const { datagram } = frames.lines()
    expect(datagram(Buffer.from('from 127.0.0.1:34567 to localhost:80 and 127.0.0.1'))).toBe(
      'from <address> to <address> and <address>',
    )
    expect(datagram(Buffer.from('2026-11-21T12:00:00.123Z INFO started 2026-11-21'))).toBe('<date> INFO started <date>')
  })

  test('labels of datagrams', () => {
    expect(frames.jsonLines().datagram(Buffer.from('{"type":"ping","n":1}'))).toBe('ping n=1')
    expect(frames.lengthPrefixed({ bytes: 1 }).datagram(Buffer.from('\x02ab\x01c'))).toBe('ab, c')
    expect(frames.lengthPrefixed({ bytes: 1 }).datagram(Buffer.from('\x02abc'))).toBe('4 bytes')
    expect(all.protobuf!.datagram(vote)).toBe('Vote term=2 candidate=n1 role=leader log=[3]')
    expect(frames.http1().datagram(Buffer.from('NOTIFY * HTTP/1.1\r\n\r\n'))).toBe('NOTIFY *')
    expect(frames.resp().datagram(Buffer.from('PING\r\n'))).toBe('PING')
    expect(frames.lines().datagram(Buffer.alloc(0))).toBe('empty line')
  })
})

describe('fields', () => {
  test.each([
    ['a size that is none', { term: 'u24' }, /^fields\.term: expected one of u8, .*found "u24"$/],
    ['names of what has none', { kind: { bool: { 1: 'a' } } }, /^fields\.kind: expected one of .*\{"bool"/],
    ['a name that is none', { kind: { u8: { 1: 5 } } }, /^fields\.kind\.u8\.1: expected a name for a number, found 5$/],
    ['wrong fields of a name', { kind: { u8: { 1: ['a', { b: 'x' }] } } }, /^fields\.kind\.u8\.1\.b: expected/],
    ['no fields', 'u8', /^fields: expected the fields of a message/],
  ])('%s are refused at once', (_, fields, why) => {
    expect(() => frames.lengthPrefixed({ bytes: 1, fields: fields as never })).toThrow(why)
    expect(() => frames.datagrams({ fields: fields as never })).toThrow(why)
  })

  test('of datagrams alone: what connections carry is given as it comes', () => {
    const dissector = frames.datagrams({ endian: 'little', fields: { type: { u8: { 4: 'join' } }, port: 'u16' } })
    expect(dissector.datagram(Buffer.from([4, 1, 2]))).toBe('join port=513')
    expect(dissector.datagram(Buffer.from([4, 1]))).toBe('2 bytes')
    expect(labelsOf(dissector.stream('forward').push(Buffer.from('hello')))).toEqual(['hello'])
    expect(frames.datagrams(payload => `gossip of ${payload.length}`).datagram(Buffer.from('abc'))).toBe('gossip of 3')
  })
})

describe('protobuf', () => {
  test('reads its schema from a file, and says what it cannot find', () => {
    const directory = mkdtempSync(join(tmpdir(), 'lastnail-proto-'))
    try {
      const path = join(directory, 'raft.proto')
      writeFileSync(path, proto)
      const prefix = { bytes: 4 } as const
      const dissector = frames.protobuf({
        proto: path,
        message: 'raft.Vote',
        prefix,
        label: m => `vote for ${m.candidate}`,
      })
      const framed = Buffer.concat([Buffer.from([0, 0, 0, vote.length]), vote])
      expect(labelsOf(dissector.stream('forward').push(framed))).toEqual(['vote for n1'])
      expect(() => frames.protobuf({ proto: path, message: 'raft.Veto' })).toThrow(
        `expected ${path} to have the message type "raft.Veto", and it has not`,
      )
      const absent = join(directory, 'absent.proto')
      expect(() => frames.protobuf({ proto: absent, message: 'raft.Vote' })).toThrow(`cannot read ${absent}: ENOENT`)
      expect(() => frames.protobuf({ proto: 'message {', message: 'raft.Vote' })).toThrow(
        "cannot read the given .proto text: illegal type name '{' (line 1)",
      )
    } finally {
      rmSync(directory, { recursive: true })
    }
  })
})

test('a large message that comes in small pieces costs no more than its length', () => {
  const length = 2 ** 24
  const reader = frames.lengthPrefixed({ bytes: 4 }).stream('forward')
  const header = Buffer.alloc(4)
  header.writeUInt32BE(length)
  const piece = Buffer.alloc(2 ** 12, 'x')
  expect(reader.push(header)).toEqual([])
  for (let sent = piece.length; sent < length; sent += piece.length) expect(reader.push(piece).length).toBe(0)
  const [frame] = reader.push(piece)
  expect(frame!.bytes.length).toBe(4 + length)
})
