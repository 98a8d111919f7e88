import { randomBytes, timingSafeEqual } from 'node:crypto'
import { once } from 'node:events'
import {
  createServer,
  type Server as HttpServer,
  type IncomingMessage,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import type { z } from 'zod'
import { UsageError } from '../../checker/system/errors.ts'
import { exitCode, explainError } from './exit-code.ts'

export interface Content {
  /** Media type. */
  readonly type: string
  readonly body: string
  /** The content security policy of a page; other content is no page, and may nothing. */
  readonly policy?: string
}

/** What the server answers: resources to read, and actions with JSON. */
export interface Answers {
  /** By name; the page's name is empty. @param token that the page must send with each request */
  readonly reads: Readonly<Record<string, (token: string) => Content>>
  /** By name. Each receives the request's JSON. */
  readonly actions: Readonly<Record<string, (asked: unknown) => Promise<unknown>>>
  /**
   * By name. Each speaks with whoever asks, by what it likes, once it has returned (HTTP Upgrade). It throws to refuse. What is asked
   * is in the address, as JSON.
   */
  readonly conversations?: Readonly<Record<string, (asked: unknown, connection: Duplex) => void>>
}

export interface Server {
  /** Includes the token, so whoever has it may open the page. */
  readonly url: string
  /** Without the token. */
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
 * Limit on connections without a request that had the token. Every user of the machine may connect: without a limit they
 * could use up this process's descriptors.
 */
const strangersMax = 64

/**
 * Serves on loopback, only to whoever has the token. Pages of other origins do not have it, and other host names that
 * resolve to this machine are refused.
 *
 * @param port 0 for any free port
 *
 * @throws UsageError if the port is taken
 */
export const serve = async (answers: Answers, port = 0): Promise<Server> => {
  const token = randomBytes(24).toString('base64url')
  const server = createServer((request, response) => {
    if (hasToken(request, token)) strangers.delete(request.socket)
    void answer(request, response, answers, token)
  })
  const strangers = limitStrangers(server)
  const speaking = new Set<Duplex>()
  server.on('upgrade', (request, connection: Socket, head) => {
    if (hasToken(request, token)) strangers.delete(connection)
    speaking.add(connection.once('close', () => speaking.delete(connection)))
    if (head.length > 0) connection.unshift(head)
    converse(request, connection, answers, token)
  })
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
      for (const connection of speaking) connection.destroy()
    },
  }
}

/** Connections without a request that had the token. Where there are too many, the oldest is closed, never the newest. */
const limitStrangers = (server: HttpServer): Set<Socket> => {
  const strangers = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    strangers.add(socket)
    socket.once('close', () => strangers.delete(socket))
    if (strangers.size > strangersMax) [...strangers][0]!.destroy()
  })
  return strangers
}

/** A request that is refused, with its HTTP status. */
class Refusal extends Error {
  override readonly name = 'Refusal'
  readonly status: number

  constructor(status: number, why: string) {
    super(why)
    this.status = status
  }
}

/** Never rejects: whatever a request contains, the server goes on. */
const answer = async (request: IncomingMessage, response: ServerResponse, answers: Answers, token: string) => {
  const say = (status: number, { type, body, policy = "default-src 'none'" }: Content) => {
    const headers = {
      'content-type': type,
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      // A policy in the page itself cannot say who may show the page in a frame.
      'content-security-policy': `${policy}; frame-ancestors 'none'`,
      'x-frame-options': 'DENY',
      'x-content-type-options': 'nosniff',
    }
    // The unread rest of a request must not be taken for the next one.
    response.writeHead(status, request.complete ? headers : { ...headers, connection: 'close' })
    response.end(body)
  }
  try {
    say(200, await contentOf(request, answers, token))
  } catch (error) {
    const { status, why } = refusalOf(error)
    say(status, asJson({ error: why }))
  }
}

/** Never throws. */
const converse = (request: IncomingMessage, connection: Duplex, answers: Answers, token: string) => {
  connection.on('error', () => undefined)
  const head = (status: number, headers: string) => `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${headers}\r\n\r\n`
  try {
    const { name, query } = addressedBy(request, token)
    const begin = Object.hasOwn(answers.conversations ?? {}, name) ? answers.conversations![name]! : undefined
    if (request.method !== 'GET' || begin === undefined) throw new Refusal(404, `nothing speaks at /${name}`)
    begin(parse(new URLSearchParams(query).get('asked') ?? ''), connection)
    connection.write(head(101, 'connection: upgrade\r\nupgrade: lastnail-terminal'))
  } catch (error) {
    const { status, why } = refusalOf(error)
    const { type, body } = asJson({ error: why })
    connection.end(`${head(status, `content-type: ${type}\r\nconnection: close`)}${body}`)
  }
}

const contentOf = async (request: IncomingMessage, answers: Answers, token: string): Promise<Content> => {
  const { name } = addressedBy(request, token)
  if (request.method === 'GET' && Object.hasOwn(answers.reads, name)) return answers.reads[name]!(token)
  if (request.method !== 'POST' || !Object.hasOwn(answers.actions, name))
    throw new Refusal(404, `nothing is at /${name}`)
  const asked = parse(await bodyOf(request))
  return asJson(await answers.actions[name]!(asked))
}

/** What a request of somebody who may ask is addressed to. */
const addressedBy = (request: IncomingMessage, token: string) => {
  // Split as it is, because the path may not be a valid URL.
  const [path = '', query] = request.url!.split('?', 2)
  if (!isOurs(request)) throw new Refusal(403, 'only the page served here may ask for this')
  if (!hasToken(request, token)) throw new Refusal(401, 'open the address that was printed, which has a token')
  return { name: path.slice(1), query }
}

const asJson = (value: unknown): Content => ({ type: 'application/json', body: JSON.stringify(value) })

/** The reason for a refusal, in one line. */
const refusalOf = (error: unknown): { readonly status: number; readonly why: string } => {
  if (error instanceof Refusal) return { status: error.status, why: error.message }
  const { code, lines } = explainError(error)
  return { status: code === exitCode.defect ? 500 : 400, why: lines.join('\n') }
}

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    length += chunk.length
    if (length > bodyBytesMax) throw new Refusal(413, `expected at most ${bodyBytesMax} bytes`)
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new UsageError(`expected JSON: ${(cause as Error).message}`, { cause })
  }
}

/** Whether the request names this machine and does not come from a page of another origin. */
const isOurs = ({ headers: { host, origin } }: IncomingMessage): boolean =>
  /^(127\.0\.0\.1|localhost):\d+$/.test(host ?? '') && (origin === undefined || origin === `http://${host}`)

const hasToken = ({ url, headers }: IncomingMessage, token: string): boolean => {
  const [, query] = url!.split('?', 2)
  return isSame(new URLSearchParams(query).get('token') ?? headers.authorization?.replace(/^Bearer /, ''), token)
}

const isSame = (given: string | undefined, token: string): boolean => {
  const [one, other] = [Buffer.from(given ?? ''), Buffer.from(token)]
  return one.length === other.length && timingSafeEqual(one, other)
}

/** Validates a request. @throws UsageError */
export const checkAsked = <Asked>(schema: z.ZodType<Asked>, given: unknown): Asked => {
  const checked = schema.safeParse(given)
  if (checked.success) return checked.data
  const problems = checked.error.issues.map(({ path, message }) => [...path.map(String), message].join(': '))
  throw new UsageError(problems.join('; '))
}
