import { once } from 'node:events'
import type { ClientHttp2Session } from 'node:http2'
import { createRequire } from 'node:module'
import { serviceIn } from '../../../proxy/dissect/grpc-service.ts'
import type { NodeHandle } from '../../config/config.ts'
import { type Forms, inForms } from './forms.ts'

const require = createRequire(import.meta.url)

/** Calls a method, `package.Service/Method`, that takes one message and answers one. Rejects with the status of a failure. */
// biome-ignore lint/suspicious/noExplicitAny: the .proto says the shape, and TypeScript does not read it
export type GrpcCall = (method: string, request?: object) => Promise<any>

const connected = async <Result>(
  node: NodeHandle,
  use: (call: GrpcCall) => Promise<Result>,
  { port = 50_051, proto }: { readonly port?: number; readonly proto: string },
): Promise<Result> => {
  const service = serviceIn(proto)
  const { connect }: typeof import('node:http2') = require('node:http2')
  const socket = node.socket(port)
  const session = connect(`http://${node.name}:${port}`, { createConnection: () => socket })
  const lost = once(session, 'close').then(() => {
    throw new Error(`the connection to ${node.name}:${port} was lost`)
  })
  lost.catch(() => {})
  session.on('error', () => {})
  const call: GrpcCall = async (method, request = {}) => {
    const types = service(`/${method}`)
    if (types === undefined) throw new Error(`no service of the .proto has ${method}`)
    const asked = types.request.encode(request)
    const answered = await Promise.race([unary(session, method, asked), lost])
    const answer = types.response.decode(answered)
    if (answer === undefined) throw new Error(`${method} answered bytes that are no ${types.response.name}`)
    return answer
  }
  try {
    return await Promise.race([use(call), lost])
  } finally {
    session.destroy()
    socket.destroy()
  }
}

/** Whether it is compressed, and its length, before each message. */
const headBytes = 5

const unary = async (session: ClientHttp2Session, method: string, message: Buffer): Promise<Buffer> => {
  const stream = session.request({
    ':method': 'POST',
    ':path': `/${method}`,
    'content-type': 'application/grpc',
    te: 'trailers',
  })
  let status: Record<string, unknown> = {}
  for (const event of ['response', 'trailers'])
    stream.on(event, (headers: Record<string, unknown>) => {
      status = { ...status, ...headers }
    })
  const head = Buffer.alloc(headBytes)
  head.writeUInt32BE(message.length, 1)
  stream.end(Buffer.concat([head, message]))
  const chunks: Buffer[] = []
  for await (const chunk of stream) chunks.push(chunk as Buffer)
  const code = Number(status['grpc-status'] ?? 2)
  if (code !== 0)
    throw new Error(`${method}: status ${code} ${decodeURIComponent(String(status['grpc-message'] ?? ''))}`.trim())
  return Buffer.concat(chunks).subarray(headBytes)
}

/** Gives calls of the services of a `.proto` file, or of its text, over one connection to a node, which is closed at the end. */
export const grpc: Forms<GrpcCall, [options: { readonly port?: number; readonly proto: string }]> = inForms(connected)
