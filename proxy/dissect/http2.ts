import type { Dissector, StreamReader } from '../dissector.ts'
import { describeValue, labelBy, lengthLabel, shortLabel } from '../short-label.ts'
import { type GrpcMethods, type ServiceMethod, serviceIn } from './grpc-service.ts'
import { type Header, HeaderDecoder } from './hpack.ts'
import { type Cut, datagramLabel, FrameReader } from './reader.ts'

/** A frame of HTTP/2 for labels. */
export interface Http2Message {
  /** `headers`, `data`, `settings`, `reset` and so on; the number of an unknown one. */
  readonly kind: string
  /** 0 for the connection. */
  readonly stream: number
  /** Of a frame with headers. */
  readonly headers: Readonly<Record<string, string>>
  /** The path of the request; undefined before it is known. */
  readonly path: string | undefined
  /** Of `data`, without padding. */
  readonly data: Buffer
  /** With `frames.grpc`: the message that is complete in `data`, if it is one. */
  // biome-ignore lint/suspicious/noExplicitAny: the .proto says the shape, and TypeScript does not read it
  readonly message?: any
}

export interface GrpcMessages {
  /** Path of a `.proto` file with the services, or its text. */
  readonly proto: string
  readonly label?: (message: Http2Message) => string
}

type UserLabel = ((message: Http2Message) => string) | undefined

/**
 * HTTP/2 without TLS, from its preface on: a frame each, with its method, path or status, and its stream. Frames of headers
 * that continue in others are one. https://www.rfc-editor.org/rfc/rfc9113
 */
export const http2 = (label?: (message: Http2Message) => string): Dissector => dissector('HTTP/2', undefined, label)

/** gRPC: HTTP/2 whose data are messages of the services of a `.proto`. Throws at once if that cannot be read. */
export const grpc = ({ proto, label }: GrpcMessages): Dissector => dissector('gRPC', serviceIn(proto), label)

const dissector = (name: string, service: GrpcMethods | undefined, label: UserLabel): Dissector => ({
  name,
  stream: (direction, other) =>
    new Http2Reader(direction, { service, label }, other instanceof Http2Reader ? other : undefined),
  datagram: payload => datagramLabel(new Http2Reader('forward', { service, label }), payload),
})

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
const headBytes = 9
/** Of a grpc message: whether it is compressed, and its length. */
const grpcHeadBytes = 5

const kinds = ['data', 'headers', 'priority', 'reset', 'settings', 'push', 'ping', 'goaway', 'window', 'continuation']
const continuation = 9
const endHeaders = 0x4
const isPadded = 0x8
const hasPriority = 0x20

interface Known {
  readonly service: GrpcMethods | undefined
  readonly label: UserLabel
}

class Http2Reader extends FrameReader {
  readonly #direction: 'forward' | 'backward'
  readonly #known: Known
  readonly #requests: Http2Reader | undefined
  #decoder = new HeaderDecoder()
  /** Of the requests that this direction sent. */
  #paths: ReadonlyMap<number, string> = new Map()
  #hasBegun = false

  constructor(direction: 'forward' | 'backward', known: Known, requests?: Http2Reader) {
    super()
    this.#direction = direction
    this.#known = known
    this.#requests = requests
  }

  protected override alike(other: StreamReader | undefined): Http2Reader {
    const alike = new Http2Reader(this.#direction, this.#known, other instanceof Http2Reader ? other : this.#requests)
    alike.#decoder = this.#decoder.copy()
    alike.#paths = this.#paths
    alike.#hasBegun = this.#hasBegun
    return alike
  }

  protected override cut(held: Buffer): Cut {
    if (!this.#hasBegun && this.#direction === 'forward') return this.#cutPreface(held)
    const end = endOfFrame(held)
    if (end === 'malformed' || typeof end === 'object') return end
    // The first frame has the settings. Anything else is no HTTP/2.
    if (!this.#hasBegun && held[3] !== kinds.indexOf('settings')) return 'malformed'
    this.#hasBegun = true
    try {
      return { length: end, label: this.#labelOf(held.subarray(0, end)) }
    } catch (error) {
      if (!(error instanceof RangeError)) throw error
      return 'malformed'
    }
  }

  #cutPreface(held: Buffer): Cut {
    const length = Math.min(held.length, preface.length)
    if (!held.subarray(0, length).equals(preface.subarray(0, length))) return 'malformed'
    if (length < preface.length) return { atLeast: preface.length }
    this.#hasBegun = true
    return { length, label: 'preface' }
  }

  /** @throws RangeError if the frame is malformed */
  #labelOf(bytes: Buffer): string {
    const [first] = framesIn(bytes)
    const { type, flags, stream } = first!
    const kind = kinds[type] ?? String(type)
    const headers = kind === 'headers' ? this.#headersOf(bytes) : {}
    if (headers[':path'] !== undefined) this.#paths = new Map([...this.#paths, [stream, headers[':path']]])
    const path = this.pathOf(stream)
    const data = kind === 'data' ? contentOf(first!) : noBytes
    const method = path === undefined ? undefined : this.#known.service?.(path)
    const message = method && decoded(method, this.#direction, data)
    const about = { kind, stream, headers, path, data, ...(message !== undefined && { message: message.value }) }
    return labelBy(this.#known.label, about, () => byDefault({ ...about, flags, said: message?.said }))
  }

  #headersOf(bytes: Buffer): Readonly<Record<string, string>> {
    const block = framesIn(bytes).map(contentOf)
    return Object.fromEntries(this.#decoder.decode(Buffer.concat(block)) as Header[])
  }

  protected pathOf(stream: number): string | undefined {
    return this.#paths.get(stream) ?? this.#requests?.pathOf(stream)
  }
}

interface RawFrame {
  readonly type: number
  readonly flags: number
  readonly stream: number
  readonly payload: Buffer
}

/** All frames of some bytes, which hold only whole ones. */
const framesIn = (bytes: Buffer): RawFrame[] => {
  const frames: RawFrame[] = []
  for (let place = 0; place < bytes.length; ) {
    const end = place + headBytes + bytes.readUIntBE(place, 3)
    const stream = bytes.readUInt32BE(place + 5) & 0x7fffffff
    const payload = bytes.subarray(place + headBytes, end)
    frames.push({ type: bytes[place + 3]!, flags: bytes[place + 4]!, stream, payload })
    place = end
  }
  return frames
}

/** Where a frame ends, or, of headers that continue, the last of their frames. */
const endOfFrame = (held: Buffer): number | { readonly atLeast: number } | 'malformed' => {
  for (let place = 0; ; ) {
    if (held.length < place + headBytes) return { atLeast: place + headBytes }
    const [type, flags] = [held[place + 3]!, held[place + 4]!]
    if (place > 0 && type !== continuation) return 'malformed'
    if (place === 0 && type === continuation) return 'malformed'
    const end = place + headBytes + held.readUIntBE(place, 3)
    if (held.length < end) return { atLeast: end }
    const isWhole = (type !== kinds.indexOf('headers') && type !== continuation) || (flags & endHeaders) !== 0
    if (isWhole) return end
    place = end
  }
}

/** The payload without padding and priority. @throws RangeError if there is more padding than payload */
const contentOf = ({ type, flags, payload }: RawFrame): Buffer => {
  if (type === continuation) return payload
  const padding = (flags & isPadded) !== 0 ? (payload[0] ?? 0) : 0
  const isHeaders = type === kinds.indexOf('headers')
  const begin = ((flags & isPadded) !== 0 ? 1 : 0) + (isHeaders && (flags & hasPriority) !== 0 ? 5 : 0)
  if (begin + padding > payload.length) throw new RangeError('more padding than there are bytes')
  return payload.subarray(begin, payload.length - padding)
}

/** The gRPC message of a frame, if the frame holds exactly one that is not compressed. */
const decoded = ({ request, response }: ServiceMethod, direction: 'forward' | 'backward', data: Buffer) => {
  if (data.length < grpcHeadBytes || data[0] !== 0 || data.readUInt32BE(1) !== data.length - grpcHeadBytes)
    return undefined
  const { name, decode } = direction === 'forward' ? request : response
  const value = decode(data.subarray(grpcHeadBytes))
  return value && { value, said: `${name} ${describeValue(value)}` }
}

interface Shown extends Http2Message {
  readonly flags: number
  readonly said: string | undefined
}

const byDefault = ({ kind, stream, flags, headers, path, data, said }: Shown): string => {
  const of = stream === 0 ? '' : ` stream ${stream}`
  const isAck = (flags & 1) !== 0
  if (said !== undefined) return shortLabel(`${said.slice(0, 60 - of.length - 1)}${of}`)
  if (kind === 'data') return shortLabel(`${lengthLabel(data)}${path === undefined ? '' : ` of ${lastOf(path)}`}${of}`)
  if (kind === 'headers') return shortLabel(`${headersSaid(headers)}${of}`)
  if (kind === 'settings' || kind === 'ping') return isAck ? `${kind} ack` : kind
  return `${kind}${of}`
}

const headersSaid = (headers: Readonly<Record<string, string>>): string => {
  const { ':method': method, ':path': path, ':status': status, 'grpc-status': grpcStatus } = headers
  if (path !== undefined)
    return headers['content-type']?.startsWith('application/grpc') ? lastOf(path) : `${method ?? ''} ${path}`
  if (grpcStatus !== undefined)
    return grpcStatus === '0' ? 'ok' : `error ${grpcStatus} ${headers['grpc-message'] ?? ''}`
  return status ?? 'trailers'
}

/** `KV/Put` of `/etcdserverpb.KV/Put` */
const lastOf = (path: string): string => path.slice(1).replace(/^[\w.]*\.(?=\w+\/)/, '')

const noBytes = Buffer.alloc(0)
