import { randomBytes, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'

/** What is answered: a page, or JSON. */
export interface Answers {
  /** @param token that the page has to show with whatever it asks */
  readonly page: (token: string) => string
  /** By name; each gets what was asked for as JSON, and is done before the next begins. */
  readonly actions: Readonly<Record<string, (asked: unknown) => Promise<unknown>>>
  /** What is wrong with what was asked, in one line. */
  readonly explain: (error: unknown) => string
}

export interface Server {
  /** With the token: who has it may open the page. */
  readonly url: string
  close(): void
}

const bodyBytesMax = 1 << 20

/**
 * Serves on loopback alone, to whoever has the token: a page of another origin has not, and names of other hosts that lead
 * here are refused.
 *
 * @param port 0: any
 */
export const serve = async (answers: Answers, port = 0): Promise<Server> => {
  const token = randomBytes(24).toString('base64url')
  const server = createServer((request, response) => void answer(request, response, answers, token))
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const { port: own } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${own}/?token=${token}`,
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
  if (request.method === 'GET' && pathname === '/') return say(200, 'text/html; charset=utf-8', answers.page(token))
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
