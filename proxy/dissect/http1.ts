import type { Dissector, StreamReader } from '../dissector.ts'
import { bodyLength, scanChunks } from './http1-body.ts'
import { type HttpHead, parseHead } from './http1-head.ts'
import { labelBy, lengthLabel, shortLabel } from './label.ts'
import { type Cut, datagramLabel, FrameReader } from './reader.ts'

/**
 * What a label may be made of. The body is as it was transferred, of a chunked one with the sizes of its chunks; it may
 * be its beginning only, where a label cannot wait for all of it.
 */
export type HttpMessage = HttpHead & { readonly body: Buffer }

type UserLabel = ((message: HttpMessage) => string) | undefined

/** HTTP/1's dissector must know both directions of a connection: what answers a HEAD has a length, but no body. */
export interface HttpDissector extends Dissector {
  /** `other`: the reader of the other direction of the same connection, for that of the responses. */
  stream(direction: 'forward' | 'backward', other?: StreamReader): StreamReader
}

/**
 * HTTP/1: each request and each response is a message, with its body. A chunked body may be a stream that never ends, so
 * what came of it by the end of a push is given without waiting for more. After an upgrade, and in a body that lasts
 * until its connection is closed, bytes are given as they come. https://www.rfc-editor.org/rfc/rfc9112
 */
export const http1 = (label?: (message: HttpMessage) => string): HttpDissector => ({
  name: 'HTTP/1',
  stream: (direction, other) =>
    direction === 'forward'
      ? new RequestReader(label)
      : new ResponseReader(label, other instanceof RequestReader ? other : undefined),
  datagram: payload => datagramLabel(new RequestReader(label), payload),
})

abstract class HttpReader extends FrameReader {
  readonly #label: UserLabel
  /** What is still to come of a body whose beginning was given. */
  #rest: number | 'chunked' = 0

  constructor(label: UserLabel) {
    super()
    this.#label = label
  }

  /** Method of the request that the head is of, or answers. Called once for each head, in order. */
  protected abstract method(head: HttpHead): string | undefined
  protected abstract readonly kind: HttpHead['kind']

  protected override cut(held: Buffer): Cut {
    return this.#rest === 0 ? this.#cutMessage(held) : this.#cutRest(held, this.#rest)
  }

  #cutMessage(held: Buffer): Cut {
    const head = parseHead(held, this.kind)
    return head === 'malformed' || 'atLeast' in head ? head : this.#cutBody(held, head)
  }

  #cutBody(held: Buffer, head: HttpHead): Cut {
    const length = bodyLength(head, this.method(head))
    const upTo = (end: number) => ({ length: end, label: this.#labelOf(head, held.subarray(head.end, end)) })
    if (length === 'malformed') return 'malformed'
    if (length === 'upgraded') return { ...upTo(head.end), last: true }
    if (length === 'until close') return { ...upTo(held.length), last: true }
    if (length !== 0 && /^100-continue$/i.test(head.headers['expect'] ?? '')) {
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
    return labelBy(this.#label, { ...head, body }, () => {
      return shortLabel(head.kind === 'request' ? `${head.method} ${head.target}` : `${head.status} ${head.reason}`)
    })
  }
}

class RequestReader extends HttpReader {
  protected override readonly kind = 'request'
  /** Methods of the requests that are not answered yet. */
  readonly unanswered: string[] = []

  protected override method(head: HttpHead): string | undefined {
    return head.kind === 'request' ? head.method : undefined
  }
}

class ResponseReader extends HttpReader {
  protected override readonly kind = 'response'
}
