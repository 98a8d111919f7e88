import { randomBytes, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { z } from 'zod'
import { UsageError } from '../checker/errors.ts'

export interface Content {
  /** Of its media. */
  readonly type: string
  readonly body: string
}

/** What is answered: what can be read, and JSON. */
export interface Answers {
  /** By name, that of a page is empty. @param token that a page has to show with whatever it asks */
  readonly reads: Readonly<Record<string, (token: string) => Content>>
  /** By name; each gets what was asked for as JSON. */
  readonly actions: Readonly<Record<string, (asked: unknown) => Promise<unknown>>>
  /** What is wrong with what was asked, in one line. */
  readonly explain: (error: unknown) => string
}

export interface Server {
  /** With the token: who has it may open the page. */
  readonly url: string
  /** Without it. */
  readonly origin: string
  readonly token: string
  close(): void
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE: 'it is taken',
  EACCES: 'permission denied',
  ERR_SOCKET_BAD_PORT: 'there is no such port',
}

const bodyBytesMax = 1 << 20

/**
 * Serves on loopback alone, to whoever has the token: a page of another origin has not, and names of other hosts that lead
 * here are refused.
 *
 * @param port 0: any
 * @throws UsageError where the port is taken
 */
export const serve = async (answers: Answers, port = 0): Promise<Server> => {
  const token = randomBytes(24).toString('base64url')
  const server = createServer((request, response) => void answer(request, response, answers, token))
  server.listen(port, '127.0.0.1')
  await once(server, 'listening').catch(cause => {
    throw new UsageError(`cannot listen on port ${port}: ${reasons[cause.code] ?? cause.message}`, { cause })
  })
  const { port: own } = server.address() as AddressInfo
  const origin = `http://127.0.0.1:${own}`
  return {
    url: `${origin}/?token=${token}`,
    origin,
    token,
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

const answer = async (request: IncomingMessage, response: ServerResponse, answers: Answers, token: string) => {
  const { pathname, searchParams, host } = new URL(request.url!, 'http://127.0.0.1')
  const say = (status: number, type: string, body: string) => {
    response.writeHead(status, { 'content-type': type, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' })
    response.end(body)
  }
  const refuse = (status: number, why: string) => say(status, 'application/json', JSON.stringify({ error: why }))
  if (!isOurs(request) || host === '') return refuse(403, 'this is served to its own page alone')
  const given = searchParams.get('token') ?? request.headers.authorization?.replace(/^Bearer /, '')
  if (!isSame(given, token)) return refuse(401, 'the address that was printed has a token: open that')
  const read = answers.reads[pathname.slice(1)]
  if (request.method === 'GET' && read) {
    const { type, body } = read(token)
    return say(200, type, body)
  }
  const action = answers.actions[pathname.slice(1)]
  if (request.method !== 'POST' || action === undefined) return refuse(404, `nothing is at ${pathname}`)
  if (Number(request.headers['content-length'] ?? 0) > bodyBytesMax) return refuse(413, 'that is too much')
  try {
    say(200, 'application/json', JSON.stringify(await action(await json(request))))
  } catch (error) {
    refuse(400, answers.explain(error))
  }
}

/** Whether it was asked by the name of this machine, and not by a page of another origin. */
const isOurs = ({ headers: { host, origin } }: IncomingMessage): boolean =>
  /^(127\.0\.0\.1|localhost):\d+$/.test(host ?? '') && (origin === undefined || origin === `http://${host}`)

const isSame = (given: string | undefined, token: string): boolean => {
  const [one, other] = [Buffer.from(given ?? ''), Buffer.from(token)]
  return one.length === other.length && timingSafeEqual(one, other)
}

/** What was asked for as what a schema describes. @throws UsageError */
export const checkAsked = <Asked>(schema: z.ZodType<Asked>, given: unknown): Asked => {
  const checked = schema.safeParse(given)
  if (checked.success) return checked.data
  throw new UsageError(z.prettifyError(checked.error))
}
