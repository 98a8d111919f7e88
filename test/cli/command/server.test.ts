import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { json } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { UsageError } from '../../../checker/system/errors.ts'
import { type Server, serve } from '../../../cli/command/server.ts'

/** As if code of this tool had thrown it. */
const defect = (): Error =>
  Object.assign(new Error('a mistake of ours'), {
    stack: `Error\n    at go (${join(import.meta.dirname, '../../../cli/command/server.ts')}:1:1)`,
  })

let server: Server
beforeAll(async () => {
  server = await serve({
    reads: { list: () => ({ type: 'application/json', body: '{"listed":true}' }) },
    actions: {
      echo: async asked => asked,
      refuse: async () => Promise.reject(new UsageError('not that')),
      fail: async () => Promise.reject(defect()),
    },
  })
})
afterAll(() => server.close())

const ask = async (method: string, path: string, chunks: readonly string[] = [], token = server.token) => {
  const { port } = new URL(server.origin)
  const asked = request({ host: '127.0.0.1', port, method, path, headers: { authorization: `Bearer ${token}` } })
  asked.on('error', () => undefined)
  for (const chunk of chunks) asked.write(chunk)
  asked.end()
  const [answer] = (await once(asked, 'response')) as [IncomingMessage]
  return { status: answer.statusCode, answer: await json(answer) }
}

test('an invalid URL or an inherited property is not found; without the token nothing is answered', async () => {
  for (const path of ['//', '///', '//:99999', '/constructor', '/__proto__', '/toString', '/hasOwnProperty', '/%'])
    for (const method of ['GET', 'POST']) {
      expect(await ask(method, path, [], 'no')).toMatchObject({ status: 401 })
      expect(await ask(method, path)).toEqual({ status: 404, answer: { error: `nothing is at ${path}` } })
    }
  expect(await ask('GET', '/list')).toEqual({ status: 200, answer: { listed: true } })
})

test('invalid JSON or a refused request is a client error, and a failure is a server error', async () => {
  expect(await ask('POST', '/echo', ['{"a":', '[1]}'])).toEqual({ status: 200, answer: { a: [1] } })
  for (const body of [[], ['{'], ['\u0000']])
    expect(await ask('POST', '/echo', body)).toEqual({
      status: 400,
      answer: { error: expect.stringMatching(/^expected JSON: /) },
    })
  expect(await ask('POST', '/refuse', ['{}'])).toEqual({ status: 400, answer: { error: 'not that' } })
  expect(await ask('POST', '/fail', ['{}'])).toMatchObject({ status: 500 })
})

test('a body has a limit, also where its length is not said', async () => {
  const piece = 'x'.repeat(1 << 16)
  expect(await ask('POST', '/echo', [`"${'x'.repeat((1 << 20) - 2)}"`])).toMatchObject({ status: 200 })
  expect(await ask('POST', '/echo', Array(40).fill(piece))).toEqual({
    status: 413,
    answer: { error: 'expected at most 1048576 bytes' },
  })
})

test('whoever has the token is answered beside any number of connections that say nothing', async () => {
  const { port } = new URL(server.origin)
  const silent = Array.from({ length: 200 }, () => connect(Number(port), '127.0.0.1'))
  try {
    await Promise.all(silent.map(socket => once(socket, 'connect')))
    expect(await ask('GET', '/list')).toEqual({ status: 200, answer: { listed: true } })
    const closed = () => silent.filter(({ closed }) => closed).length
    await expect.poll(closed, { timeout: 20_000 }).toBeGreaterThanOrEqual(136)
  } finally {
    for (const socket of silent) socket.destroy()
  }
})
