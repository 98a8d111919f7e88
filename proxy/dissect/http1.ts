import type { Dissector, StreamReader } from '../dissector.ts'
import { labelBy, lengthLabel, shortLabel } from '../short-label.ts'
import { bodyLength, scanChunks } from './http1-body.ts'
import { type HttpHead, parseHead } from './http1-head.ts'
import { type Cut, datagramLabel, FrameReader } from './reader.ts'
import { cutWebSocket } from './websocket.ts'

/**
 * A message for labels. The body is as transferred; a chunked one contains the sizes of its chunks. It may be only the
 * beginning if a label cannot wait for the rest.
 */
export type HttpMessage = HttpHead & { readonly body: Buffer }

type UserLabel = ((message: HttpMessage) => string) | undefined

/**
 * HTTP/1: each request and each response is a message, with its body. A chunked body may be an endless stream, so what
 * has arrived by the end of a push is passed on without waiting for more. An answer to HEAD has a length but no body.
 * After an upgrade to WebSocket, each of its frames is a message; `label` does not get these. After another upgrade, and
 * in a body that lasts until the connection closes, bytes are passed on as they come.
 * https://www.rfc-editor.org/rfc/rfc9112
 */
export const http1 = (label?: (message: HttpMessage) => string): Dissector => ({
  name: 'HTTP/1',
  stream: (direction, other) =>
    direction === 'forward'
      ? new RequestReader(label)
      : new ResponseReader(label, other instanceof RequestReader ? other : undefined),
  datagram: payload => datagramLabel(new RequestReader(label), payload),
})

abstract class HttpReader extends FrameReader {
  protected readonly label: UserLabel
  /** The rest of a body whose beginning was passed on. */
  #rest: number | 'chunked' = 0
  /** `asked`: an upgrade was requested, so the next bytes are WebSocket unless they begin like HTTP. */
  #webSocket: 'asked' | 'begun' | undefined

  constructor(label: UserLabel) {
    super()
    this.label = label
  }

  override copy(other?: StreamReader): HttpReader {
    const copy = super.copy(other) as HttpReader
    copy.#rest = this.#rest
    copy.#webSocket = this.#webSocket
    return copy
  }

  protected abstract readonly kind: HttpHead['kind']
  /** Method of the request that the head answers. */
  protected abstract answeredMethod(): string | undefined
  /** Called once for each head, when it is passed on. */
  protected abstract given(head: HttpHead): void

  protected override cut(held: Buffer): Cut {
    if (this.#webSocket === 'asked' && !isText(held[0]!)) this.#webSocket = 'begun'
    if (this.#webSocket === 'begun') return cutWebSocket(held)
    return this.#rest === 0 ? this.#cutMessage(held) : this.#cutRest(held, this.#rest)
  }

  #cutMessage(held: Buffer): Cut {
    const head = parseHead(held, this.kind)
    return head === 'malformed' || 'atLeast' in head ? head : this.#cutBody(held, head)
  }

  #cutBody(held: Buffer, head: HttpHead): Cut {
    const length = bodyLength(head, this.answeredMethod())
    const upTo = (end: number) => {
      this.given(head)
      if (/^websocket$/i.test(head.headers.upgrade ?? '')) this.#webSocket = 'asked'
      return { length: end, label: this.#labelOf(head, held.subarray(head.end, end)) }
    }
    if (length === 'malformed') return 'malformed'
    if (length === 'upgraded') {
      const cut = upTo(head.end)
      return this.#webSocket === undefined ? { ...cut, last: true } : cut
    }
    if (length === 'until close') return { ...upTo(held.length), last: true }
    if (length !== 0 && /^100-continue$/i.test(head.headers.expect ?? '')) {
      this.#rest = length
      return upTo(head.end)
    }
    if (length === 'chunked') return this.#cutChunks(held, head.end, upTo)
    const end = head.end + length
    return held.length < end ? { atLeast: end } : upTo(end)
  }

  #cutRest(held: Buffer, rest: number | 'chunked'): Cut {
    const upTo = (end: number) => ({ length: end, label: `${lengthLabel(held.subarray(0, end))} more` })
    if (rest === 'chunked') return this.#cutChunks(held, 0, upTo)
    if (held.length < rest) return { atLeast: rest }
    this.#rest = 0
    return upTo(rest)
  }

  #cutChunks(held: Buffer, start: number, upTo: (end: number) => Cut): Cut {
    const chunks = scanChunks(held, start)
    if (chunks === 'malformed') return 'malformed'
    this.#rest = chunks.whole ? 0 : 'chunked'
    return chunks.end === 0 ? { atLeast: chunks.atLeast } : upTo(chunks.end)
  }

  #labelOf(head: HttpHead, body: Buffer): string {
    return labelBy(this.label, { ...head, body }, () => {
      return shortLabel(head.kind === 'request' ? `${head.method} ${head.target}` : `${head.status} ${head.reason}`)
    })
  }
}

/** Whether HTTP can begin so. No frame of WebSocket does. */
const isText = (byte: number): boolean => byte >= 0x20 && byte < 0x7f

class RequestReader extends HttpReader {
  protected override readonly kind = 'request'
  #requests = 0
  /** By the number of the request: methods that matter for the answer (HEAD, CONNECT), until it was answered. */
  readonly #methods = new Map<number, string>()

  /** Method of the n-th request, if it is HEAD or CONNECT. */
  methodOf(ordinal: number): string | undefined {
    return this.#methods.get(ordinal)
  }

  forget(ordinal: number): void {
    this.#methods.delete(ordinal)
  }

  protected override alike(): RequestReader {
    const alike = new RequestReader(this.label)
    alike.#requests = this.#requests
    for (const [ordinal, method] of this.#methods) alike.#methods.set(ordinal, method)
    return alike
  }

  protected override answeredMethod(): undefined {}

  protected override given(head: HttpHead): void {
    this.#requests++
    if (head.kind === 'request' && ['HEAD', 'CONNECT'].includes(head.method))
      this.#methods.set(this.#requests, head.method)
  }
}

class ResponseReader extends HttpReader {
  protected override readonly kind = 'response'
  readonly #requests: RequestReader | undefined
  #answered = 0

  constructor(label: UserLabel, requests: RequestReader | undefined) {
    super(label)
    this.#requests = requests
  }

  protected override alike(other: StreamReader | undefined): ResponseReader {
    const alike = new ResponseReader(this.label, other instanceof RequestReader ? other : undefined)
    alike.#answered = this.#answered
    return alike
  }

  protected override answeredMethod(): string | undefined {
    return this.#requests?.methodOf(this.#answered + 1)
  }

  protected override given(head: HttpHead): void {
    const isInterim = head.kind === 'response' && head.status < 200
    if (isInterim) return
    this.#answered++
    this.#requests?.forget(this.#answered)
  }
}
