import { once } from 'node:events'
import http2 from 'node:http2'
import { duplexPair } from 'node:stream'
import fc from 'fast-check'
import protobufjs from 'protobufjs'
import { expect, test } from 'vitest'
import { frames } from '../../proxy/dissect/frames.ts'
import type { Dissector, StreamReader } from '../../proxy/dissector.ts'

interface Asked {
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: Buffer
}

/** What Node.js's own client and server of HTTP/2 say to each other in memory, in each direction, chunk by chunk in order. */
const conversation = async (requests: readonly Asked[], answer: (path: string) => Asked) => {
  const [near, far] = duplexPair()
  const said: { readonly direction: 'forward' | 'backward'; readonly chunk: Buffer }[] = []
  const note = (direction: 'forward' | 'backward', socket: typeof near) => {
    const write = socket.write.bind(socket) as (...args: unknown[]) => boolean
    Object.assign(socket, {
      write: (chunk: Buffer, ...rest: unknown[]) => {
        said.push({ direction, chunk: Buffer.from(chunk) })
        return write(chunk, ...rest)
      },
    })
  }
  note('forward', near)
  note('backward', far)
  const server = http2.createServer()
  server.on('stream', (stream, headers) => {
    const { headers: more = {}, body } = answer(String(headers[':path']))
    stream.resume()
    stream.respond({ ':status': 200, ...more })
    stream.end(body)
  })
  server.emit('connection', far)
  const client = http2.connect('http://a', { createConnection: () => near })
  for (const { path, headers = {}, body } of requests) {
    const request = client.request({ ':method': 'POST', ':path': path, ...headers })
    request.end(body)
    request.resume()
    await once(request, 'end')
  }
  client.destroy()
  return said
}

const readAll = (dissector: Dissector, said: Awaited<ReturnType<typeof conversation>>) => {
  const forward = dissector.stream('forward')
  const readers = { forward, backward: dissector.stream('backward', forward) }
  const labels: string[] = []
  for (const { direction, chunk } of said)
    labels.push(...readers[direction].push(chunk).map(({ label }) => `${direction === 'forward' ? '>' : '<'} ${label}`))
  expect([readers.forward.rest().length, readers.backward.rest().length]).toEqual([0, 0])
  return labels
}

test('a request and its answer have method, path, status and stream', async () => {
  const said = await conversation([{ path: '/state', body: Buffer.from('x') }, { path: '/state' }], () => ({
    path: '',
    body: Buffer.from('hello'),
  }))
  const labels = readAll(frames.http2(), said)
  expect(labels.filter(label => label.includes('stream'))).toEqual([
    '> POST /state stream 1',
    '> 1 byte of state stream 1',
    '< 200 stream 1',
    '< 5 bytes of state stream 1',
    '> POST /state stream 3',
    '> 0 bytes of state stream 3',
    '< 200 stream 3',
    '< 5 bytes of state stream 3',
  ])
  expect(labels.filter(label => label.startsWith('>')).slice(0, 2)).toEqual(['> preface', '> settings'])
})

const proto = `
  syntax = "proto3";
  package store.v1;
  message Put { string key = 1; uint32 value = 2; }
  message Done { bool isNew = 1; }
  service KV { rpc Put(Put) returns (Done); }
`
const messages = protobufjs.parse(proto).root
const grpcBytes = (type: string, value: object): Buffer => {
  const message = Buffer.from(messages.lookupType(`store.v1.${type}`).encode(value).finish())
  const head = Buffer.alloc(5)
  head.writeUInt32BE(message.length, 1)
  return Buffer.concat([head, message])
}

test('with a .proto, data are messages; without, they name the method', async () => {
  const headers = { 'content-type': 'application/grpc' }
  const said = await conversation(
    [{ path: '/store.v1.KV/Put', headers, body: grpcBytes('Put', { key: 'x', value: 7 }) }],
    () => ({ path: '', headers, body: grpcBytes('Done', { isNew: true }) }),
  )
  const labelsOf = (dissector: Dissector) => readAll(dissector, said).filter(label => label.includes('stream'))
  expect(labelsOf(frames.grpc({ proto }))).toEqual([
    '> KV/Put stream 1',
    '> Put key=x value=7 stream 1',
    '< 200 stream 1',
    '< Done isNew=true stream 1',
  ])
  expect(labelsOf(frames.http2())).toEqual([
    '> KV/Put stream 1',
    '> 10 bytes of KV/Put stream 1',
    '< 200 stream 1',
    '< 7 bytes of KV/Put stream 1',
  ])
  const own = frames.grpc({ proto, label: ({ kind, message }) => `${kind} ${message.key.toUpperCase()}` })
  expect(labelsOf(own)[0]).toBe('> KV/Put stream 1')
  expect(readAll(own, said)).toContain('> data X')
})

test('a .proto that cannot be read is refused at once', () => {
  expect(() => frames.grpc({ proto: 'message {' })).toThrow(/^cannot read the given .proto text: /)
  expect(() => frames.grpc({ proto: '/none.proto' })).toThrow(/^cannot read \/none.proto: /)
})

/** Whatever another implementation encodes is decoded: with and without Huffman's code, and by the table of earlier headers. */
test('headers are those that were sent', async () => {
  const value = fc
    .string({ unit: fc.constantFrom(...'abcXYZ019 ~!{}%+/=?'), minLength: 1, maxLength: 40 })
    .map(text => text.trim() || 'x')
  const name = fc.constantFrom('x-a', 'x-longer-name', 'cookie', 'accept', 'x-b')
  const asked = fc.record({
    path: fc.constantFrom('/a', '/b?c=1', '/a/very/long/path'),
    headers: fc.dictionary(name, value, { maxKeys: 4 }),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(asked, { minLength: 1, maxLength: 6 }), async requests => {
      const said = await conversation(requests, path => ({ path, headers: { 'x-path': path } }))
      const seen: Record<string, string>[] = []
      const dissector = frames.http2(({ kind, headers }) => {
        if (kind === 'headers') seen.push({ ...headers })
        return kind
      })
      readAll(dissector, said)
      const asked = seen.filter(headers => headers[':path'] !== undefined)
      expect(asked).toEqual(
        requests.map(({ path, headers }) => expect.objectContaining({ ':method': 'POST', ':path': path, ...headers })),
      )
      const answered = seen.filter(headers => headers[':status'] !== undefined)
      expect(answered.map(headers => headers['x-path'])).toEqual(requests.map(({ path }) => path))
    }),
    { numRuns: 30 },
  )
})

test('frames are the same however the stream is cut, by copies of the reader too', async () => {
  const headers = { 'x-a': 'some text', 'x-b': 'another' }
  const said = await conversation(
    [
      { path: '/a', headers, body: Buffer.alloc(20_000) },
      { path: '/b', headers },
    ],
    path => ({ path, headers, body: Buffer.from('answer') }),
  )
  const stream = Buffer.concat(said.flatMap(({ direction, chunk }) => (direction === 'forward' ? [chunk] : [])))
  const whole = frames.http2().stream('forward').push(stream)
  expect(Buffer.concat(whole.map(({ bytes }) => bytes)).equals(stream)).toBe(true)
  fc.assert(
    fc.property(fc.array(fc.nat({ max: stream.length }), { maxLength: 12 }), places => {
      const cuts = [0, ...places.sort((a, b) => a - b), stream.length]
      let reader: StreamReader = frames.http2().stream('forward')
      const given = cuts.slice(1).flatMap((end, index) => {
        const copy = reader.copy!()
        reader.push(Buffer.from('whatever the other reads'))
        reader = copy
        return reader.push(stream.subarray(cuts[index]!, end))
      })
      expect(given.map(({ label }) => label)).toEqual(whole.map(({ label }) => label))
      expect(reader.rest().length).toBe(0)
    }),
    { numRuns: 50 },
  )
})
