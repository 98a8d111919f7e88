import { once } from 'node:events'
import { connect } from 'node:net'
import { createInterface } from 'node:readline'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { expect, onTestFinished, test } from 'vitest'
import { copyOfFixtures, start } from '../lastnail.ts'
import { recordedIn } from '../recorded.ts'

/**
 * Whatever comes in by HTTP: the service goes on, and can be interrupted. `LASTNAIL_FUZZ=10000` for many more than CI has
 * time for.
 */
const requests = Number(process.env.LASTNAIL_FUZZ ?? 1000)
const seed = Number(process.env.LASTNAIL_FUZZ_SEED ?? Date.now() % 1_000_000)
const atOnce = 16

/** Each of these has ended a service once. */
const targets = [
  ...[
    '//',
    '///',
    '//:99999',
    'http://',
    'http:///',
    '*',
    '/%',
    '/%00',
    '/\\',
    '/..',
    '/../../etc/passwd',
    '/?',
    '/?token',
    '?',
  ],
  ...[
    '/constructor',
    '/__proto__',
    '/toString',
    '/hasOwnProperty',
    '/valueOf',
    '/act/',
    '//act',
    '/act',
    '/list',
    '/go',
    '/take',
    '/',
  ],
]
const target = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...targets) },
  {
    weight: 1,
    arbitrary: fc.string({ unit: 'binary-ascii', maxLength: 30 }).map(raw => `/${raw.replaceAll(/[\r\n ]/g, '')}`),
  },
)
const method = fc.constantFrom(
  'GET',
  'POST',
  'PUT',
  'HEAD',
  'OPTIONS',
  'CONNECT',
  'DELETE',
  'TRACE',
  'get',
  'G\u00e9T',
  '',
)

const node = fc.constantFrom('counter', 'reader', 'store', 'nobody', '__proto__', 'constructor', '')
const number = fc.oneof(fc.constantFrom(0, -1, 2 ** 53, 1e308, 1e13, 0.5), fc.integer(), fc.double())
const pipe = fc.record(
  {
    delayMs: number,
    jitterMs: number,
    bandwidth: number,
    loss: number,
    queue: fc.oneof(fc.record({ packets: number }), fc.record({ bytes: number })),
    corrupt: number,
  },
  { requiredKeys: [] },
)
const action = fc.oneof(
  fc.record(
    { does: fc.constantFrom('join', 'reboot', 'leave'), node, manner: fc.constantFrom('kill', 'cut', 'stop', 'x') },
    { requiredKeys: ['does', 'node'] },
  ),
  fc.record({ does: fc.constant('partition'), groups: fc.array(fc.array(node, { maxLength: 3 }), { maxLength: 3 }) }),
  fc.constant({ does: 'heal' }),
  fc.record({ does: fc.constant('reset'), node, peer: node }),
  fc.record({
    does: fc.constant('set'),
    ways: fc.array(
      fc.record({ from: node, to: node, isCut: fc.boolean(), pipe: fc.option(pipe) }, { requiredKeys: ['from', 'to'] }),
      { maxLength: 3 },
    ),
  }),
  fc.record(
    { step: number, label: fc.string(), node, program: fc.array(fc.constantFrom('true', 'no-such-program', '')) },
    { requiredKeys: [] },
  ),
)
const body = fc.oneof(
  { weight: 4, arbitrary: action.map(each => JSON.stringify(each)) },
  { weight: 2, arbitrary: fc.json() },
  { weight: 1, arbitrary: fc.string() },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '',
      '{',
      '[',
      '"',
      'null',
      '{"__proto__":{"does":"heal"}}',
      '['.repeat(100_000),
      `"${'x'.repeat(1 << 21)}"`,
    ),
  },
)
const framing = fc.constantFrom(
  'length',
  'length',
  'length',
  'chunked',
  'chunked',
  'none',
  'short',
  'long',
  'negative',
  'both',
  'endless',
)

interface Sent {
  readonly method: string
  readonly target: string
  readonly body: string
  readonly framing: string
  readonly hasToken: boolean
  readonly isCut: boolean
}
const sent: fc.Arbitrary<Sent> = fc.record({
  method,
  target,
  body,
  framing,
  hasToken: fc.boolean(),
  isCut: fc.boolean(),
})
const likely: fc.Arbitrary<Sent> = fc.record({
  ...{ method: fc.constant('POST'), target: fc.constantFrom('/act', '/go', '/take', '/run'), body, framing },
  ...{ hasToken: fc.constant(true), isCut: fc.constant(false) },
})

const bytesOf = ({ method, target, body, framing, hasToken }: Sent, port: number, token: string): Buffer => {
  const length = Buffer.byteLength(body)
  const lengths: Record<string, string[]> = {
    length: [`Content-Length: ${length}`],
    short: [`Content-Length: ${Math.max(0, length - 3)}`],
    long: [`Content-Length: ${length + 10}`],
    negative: ['Content-Length: -1'],
    chunked: ['Transfer-Encoding: chunked'],
    both: [`Content-Length: ${length}`, 'Transfer-Encoding: chunked'],
    endless: ['Transfer-Encoding: chunked'],
    none: [],
  }
  const head = [
    `${method} ${target} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    ...(hasToken ? [`Authorization: Bearer ${token}`] : []),
    ...lengths[framing]!,
    'Connection: close',
  ]
  const isChunked = framing === 'chunked' || framing === 'both' || framing === 'endless'
  const framed =
    isChunked && length > 0 ? `${length.toString(16)}\r\n${body}\r\n${framing === 'endless' ? '' : '0\r\n\r\n'}` : body
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${framed}`)
}

/** Gives what came back: nothing where the connection was cut, or the service waits for more. */
const send = (request: Sent, port: number, token: string): Promise<string> =>
  new Promise(resolve => {
    let answer = ''
    const socket = connect(port, '127.0.0.1')
    socket.setTimeout(1500, () => socket.destroy())
    socket.on('data', chunk => (answer += chunk.toString('latin1')))
    socket.on('error', () => undefined)
    socket.on('close', () => resolve(answer))
    socket.on('connect', () => {
      socket.write(bytesOf(request, port, token))
      if (request.isCut) setImmediate(() => socket.destroy())
      else if (request.framing === 'endless' || request.framing === 'long') setTimeout(() => socket.destroy(), 50)
    })
  })

/** Sends all of them, several at a time; gives those that were answered as a defect. */
const sendAll = async (all: readonly Sent[], port: number, token: string): Promise<string[]> => {
  const defects: string[] = []
  const left = all.entries()
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (const [, request] of left) {
        const answer = await send(request, port, token)
        if (/^HTTP\/1.1 500/.test(answer)) defects.push(`${JSON.stringify(request).slice(0, 500)}: ${answer}`)
      }
    }),
  )
  return defects
}

const fuzz = (count: number): Sent[] => [
  ...targets.flatMap(target =>
    ['GET', 'POST'].flatMap(method =>
      [true, false].map(hasToken => ({
        method,
        target,
        body: method === 'GET' ? '' : '{}',
        framing: 'length',
        hasToken,
        isCut: false,
      })),
    ),
  ),
  ...fc.sample(fc.oneof(sent, likely), { numRuns: count, seed }),
]

/** It answers still, and a signal ends it. */
const expectInterruptible = async (tool: ReturnType<typeof start>) => {
  expect(tool.exitCode).toBe(null)
  tool.kill('SIGTERM')
  await Promise.race([tool, sleep(20_000, undefined, { ref: false })])
  expect(tool.exitCode).not.toBe(null)
}

const files = () => {
  const { directory, remove } = copyOfFixtures()
  onTestFinished(remove)
  return directory
}

test(`emulate goes on after ${requests} odd requests (seed ${seed})`, { timeout: 60_000 + 60 * requests }, async () => {
  const tool = start(files(), ['emulate', 'counter.config.ts', '--for', '1h', '--look', '1s', '--json'])
  onTestFinished(() => void tool.kill('SIGKILL'))
  let said = ''
  tool.stderr!.on('data', chunk => (said += chunk))
  while (!said.includes('token')) await once(tool.stderr!, 'data')
  const [, port, token] = /:(\d+) with token (\S+)/.exec(said) as unknown as [string, string, string]
  expect(await sendAll(fuzz(requests), Number(port), token)).toEqual([])
  const list = await fetch(`http://127.0.0.1:${port}/list`, { headers: { authorization: `Bearer ${token}` } })
  expect(list.status).toBe(200)
  await expectInterruptible(tool)
  expect(said.replace(/^lastnail: control at .*\n/, '')).toBe('')
  expect([0, 1, 2]).toContain(tool.exitCode)
})

test(`serve goes on after ${requests / 5} odd requests (seed ${seed})`, {
  timeout: 60_000 + 60 * requests,
}, async () => {
  const directory = files()
  const tool = start(directory, ['serve', recordedIn(directory, 'never-written')])
  onTestFinished(() => void tool.kill('SIGKILL'))
  const [line] = (await once(createInterface(tool.stdout!), 'line')) as [string]
  const [, port, token] = /:(\d+)\/\?token=(\S+)/.exec(line) as unknown as [string, string, string]
  expect(await sendAll(fuzz(requests / 5), Number(port), token)).toEqual([])
  const page = await fetch(`http://127.0.0.1:${port}/?token=${token}`)
  expect(page.status).toBe(200)
  const said = text(tool.stderr!)
  await expectInterruptible(tool)
  expect(await said).toBe('')
  expect(tool.exitCode).toBe(0)
})
