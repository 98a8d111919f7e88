import type { Duplex } from 'node:stream'
import type { ClientSocket } from '../config/config.ts'

/**
 * A stream with the methods of `net.Socket` that client libraries call. It connects by itself, so a request to connect does
 * nothing. Neither do timeouts: they would be of this machine's time, and nodes have their own.
 */
export const asClientSocket = <Stream extends Duplex>(
  stream: Stream,
  isConnecting: (stream: Stream) => boolean,
): ClientSocket => {
  const same = () => stream
  Object.defineProperty(stream, 'connecting', { get: () => isConnecting(stream), configurable: true })
  // Libraries wait for this event.
  if (!isConnecting(stream)) process.nextTick(() => stream.destroyed || stream.emit('connect'))
  return Object.assign(stream, {
    setNoDelay: same,
    setKeepAlive: same,
    setTimeout: same,
    ref: same,
    unref: same,
    connect: same,
  }) as unknown as ClientSocket
}
