import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Duplex } from 'node:stream'
import { type ConnectionOptions, connect, createSecureContext, TLSSocket } from 'node:tls'
import { expect, onTestFinished, test } from 'vitest'
import { certificateFor } from '../../harness/outside/authority.ts'
import { http1 } from '../../proxy/dissect/http1.ts'
import { lines } from '../../proxy/dissect/lines.ts'
import { tls } from '../../proxy/dissect/tls.ts'
import type { Dissector } from '../../proxy/dissector.ts'

type Direction = 'forward' | 'backward'
type LoggedBy = 'client' | 'server'

/** Bytes that went over a connection, and what was in the log of keys by then. */
interface Carried {
  readonly direction: Direction
  readonly chunk: Buffer
  readonly logged: string
}

const newLog = (text = ''): string => {
  const directory = mkdtempSync(join(tmpdir(), 'lastnail-tls-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  const path = join(directory, 'keys.log')
  writeFileSync(path, text)
  return path
}

/** A client says three lines, and a server answers each. One of them logs the keys. */
const converse = async (options: ConnectionOptions, loggedBy: LoggedBy = 'client') => {
  const carried: Carried[] = []
  let logged = ''
  const end = (direction: Direction, other: () => Duplex) =>
    new Duplex({
      read() {},
      write(chunk: Buffer, _, done) {
        carried.push({ direction, chunk: Buffer.from(chunk), logged })
        other().push(chunk)
        done()
      },
    })
  const near: Duplex = end('forward', () => far)
  const far: Duplex = end('backward', () => near)
  const secureContext = createSecureContext({ ...certificateFor('store'), ...options })
  const server = new TLSSocket(far, { isServer: true, secureContext })
  const client = connect({ socket: near, rejectUnauthorized: false, ...options })
  const log = (line: Buffer) => {
    logged += line
  }
  if (loggedBy === 'client') client.on('keylog', log)
  else server.on('keylog', log)
  server.on('data', data => server.write(`so ${data}`))
  await new Promise<void>((resolve, reject) => {
    client.on('error', reject)
    let answers = 0
    client.on('secureConnect', () => client.write('one\n'))
    client.on('data', () => {
      answers += 1
      if (answers < 3) client.write(`and ${answers}\n`)
      else client.end(resolve)
    })
  })
  return { carried, logged }
}

/** The labels of all frames, which have all bytes that were carried, but for what is rest. */
const read = (dissector: Dissector, carried: readonly Carried[], before: (each: Carried) => void = () => {}) => {
  const forward = dissector.stream('forward')
  const readers = { forward, backward: dissector.stream('backward', forward) }
  const bytes: Record<Direction, Buffer[]> = { forward: [], backward: [] }
  const labels = carried.flatMap(each => {
    before(each)
    return readers[each.direction].push(each.chunk).map(frame => {
      bytes[each.direction].push(frame.bytes)
      return `${each.direction === 'forward' ? '>' : '<'} ${frame.label}`
    })
  })
  for (const direction of ['forward', 'backward'] as const) {
    const all = carried.filter(each => each.direction === direction).map(({ chunk }) => chunk)
    expect(Buffer.concat([...bytes[direction], readers[direction].rest()])).toEqual(Buffer.concat(all))
  }
  return labels
}

const isOfHandshake = (label: string) => / TLS (?!close)/.test(label)

test.each([
  ['1.3 with AES-128', { maxVersion: 'TLSv1.3', ciphers: 'TLS_AES_128_GCM_SHA256' }],
  ['1.3 with AES-256', { maxVersion: 'TLSv1.3', ciphers: 'TLS_AES_256_GCM_SHA384' }],
  ['1.3 with ChaCha20', { maxVersion: 'TLSv1.3', ciphers: 'TLS_CHACHA20_POLY1305_SHA256' }],
  ['1.2 with AES-128', { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-RSA-AES128-GCM-SHA256' }],
  ['1.2 with AES-256', { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-RSA-AES256-GCM-SHA384' }],
  ['1.2 with ChaCha20', { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-RSA-CHACHA20-POLY1305' }],
] as const)('TLS %s is read with the keys that either side logs', async (_, options) => {
  for (const loggedBy of ['client', 'server'] as const) {
    const { carried, logged } = await converse(options, loggedBy)
    const labels = read(tls(lines(), { keys: newLog(logged), loggedBy }), carried)
    expect(labels.slice(0, 2)).toEqual(['> TLS client hello', '< TLS server hello'])
    // A server knows by what the client seals only when it takes that.
    const first = loggedBy === 'server' && options.maxVersion === 'TLSv1.3' ? [] : ['> one']
    const said = [...first, '< so one', '> and 1', '< so and 1', '> and 2', '< so and 2', '> TLS close']
    expect(labels.filter(label => !isOfHandshake(label))).toEqual(said)
  }
})

test('labels are the same while a node logs its secrets as in a later execution, before which they are known', async () => {
  for (const loggedBy of ['client', 'server'] as const)
    for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
      const { carried, logged } = await converse({ maxVersion }, loggedBy)
      const growing = newLog()
      const first = read(tls(lines(), { keys: growing, loggedBy }), carried, each =>
        writeFileSync(growing, each.logged),
      )
      expect(read(tls(lines(), { keys: newLog(logged), loggedBy }), carried)).toEqual(first)
    }
})

test('a line of the log that is written in two parts is read when it is whole', async () => {
  const { carried, logged } = await converse({})
  const log = newLog(logged.slice(0, -40))
  const dissector = tls(lines(), { keys: log, loggedBy: 'client' })
  expect(read(dissector, carried).some(label => label.endsWith('one'))).toBe(true)
  appendFileSync(log, logged.slice(-40))
  expect(read(dissector, carried)).toEqual(read(tls(lines(), { keys: newLog(logged), loggedBy: 'client' }), carried))
})

test('without its keys a connection passes as it is, labelled by lengths', async () => {
  const { carried } = await converse({})
  const labels = read(tls(http1(), { keys: join(newLog(), 'none'), loggedBy: 'client' }), carried)
  expect(labels.slice(0, 2)).toEqual(['> TLS client hello', '< TLS server hello'])
  expect(labels.at(-1)).toMatch(/^> TLS \d+ bytes$/)
})

test('a stream that is not TLS passes as it is', () => {
  const carried = [
    { direction: 'forward', chunk: Buffer.from('GET / HTTP/1.1\r\n\r\n'), logged: '' },
    { direction: 'backward', chunk: Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'), logged: '' },
  ] as const
  expect(read(tls(http1(), { keys: newLog(), loggedBy: 'client' }), carried)).toEqual(['> 18 bytes', '< 28 bytes'])
})

test('a record that comes in parts is one frame', async () => {
  const { carried, logged } = await converse({})
  const bytewise = carried.flatMap(({ chunk, ...each }) =>
    [...chunk].map(byte => ({ ...each, chunk: Buffer.from([byte]) })),
  )
  const dissector = tls(lines(), { keys: newLog(logged), loggedBy: 'client' })
  expect(read(dissector, bytewise)).toEqual(read(dissector, carried))
})
