import type { Duplex } from 'node:stream'
import { cutWebSocket, webSocketFrame } from '../../../proxy/dissect/websocket.ts'
import type { NodeHandle } from '../../config/config.ts'
import { type Forms, inForms } from './forms.ts'

export interface WebSocketClient {
  send(message: string | Uint8Array): void
  /** The next text or bytes. Rejects once the connection is over. */
  receive(): Promise<string | Buffer>
}

const connected = async <Result>(
  node: NodeHandle,
  use: (client: WebSocketClient) => Promise<Result>,
  { port = 80, path = '/' }: { readonly port?: number; readonly path?: string } = {},
): Promise<Result> => {
  const socket = node.socket(port)
  const received = framesOf(socket, `${node.name}:${port}`)
  try {
    socket.write(`GET ${path} HTTP/1.1\r\nHost: ${node.name}:${port}\r\n${upgrade}\r\n\r\n`)
    await received.next()
    const receive = async () => (await received.next()).value as string | Buffer
    return await use({ send: message => socket.write(webSocketFrame(message)), receive })
  } finally {
    socket.destroy()
  }
}

const upgrade = [
  'Upgrade: websocket',
  'Connection: Upgrade',
  'Sec-WebSocket-Version: 13',
  `Sec-WebSocket-Key: ${Buffer.alloc(16).toString('base64')}`,
].join('\r\n')

const headEnd = '\r\n\r\n'

/** First nothing, once the node has agreed; then its messages. Throws where it refuses, or the connection is over. */
async function* framesOf(socket: Duplex, where: string): AsyncGenerator<string | Buffer | undefined, never> {
  let held = Buffer.alloc(0)
  let hasBegun = false
  for await (const chunk of socket) {
    held = Buffer.concat([held, chunk])
    const end = hasBegun ? -1 : held.indexOf(headEnd)
    if (end >= 0) {
      const status = held.toString('latin1', 0, held.indexOf('\r\n'))
      if (!/^HTTP\/1\.1 101\b/.test(status)) throw new Error(`${where} refused a WebSocket: ${status}`)
      hasBegun = true
      held = held.subarray(end + headEnd.length)
      yield undefined
    }
    while (hasBegun && held.length > 0) {
      const frame = cutWebSocket(held)
      if (frame === 'malformed') throw new Error(`${where} sent what is no WebSocket`)
      if (!('content' in frame)) break
      held = held.subarray(frame.length)
      if (frame.kind === 'text') yield frame.content.toString()
      if (frame.kind === 'binary') yield frame.content
      if (frame.kind === 'ping') socket.write(webSocketFrame(frame.content, 'pong'))
      if (frame.kind === 'close') throw new Error(`${where} closed the WebSocket`)
    }
  }
  throw new Error(`the WebSocket to ${where} is over`)
}

/**
 * Gives a WebSocket to a node, which is closed at the end. Unlike the clients of libraries it draws no random key or mask, so
 * that one schedule gives the node the same bytes each time. Messages have one frame each.
 */
export const websocket: Forms<WebSocketClient, [options?: { readonly port?: number; readonly path?: string }]> =
  inForms(connected)
