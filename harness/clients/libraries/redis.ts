import type { AbstractConnector, Redis } from 'ioredis'
import type { NodeHandle } from '../../config/config.ts'
import { type Forms, inForms } from './forms.ts'
import { peer } from './peer.ts'

const connected = async <Result>(
  node: NodeHandle,
  use: (client: Redis) => Promise<Result>,
  { port = 6379 }: { readonly port?: number } = {},
): Promise<Result> => {
  const library = peer<typeof import('ioredis')>('ioredis', 'redis')
  const socket = node.socket(port)
  const failed = new Promise<never>((_, reject) => socket.once('error', reject))
  const client = new library.Redis({
    Connector: connectorOf(library, socket),
    lazyConnect: true,
    protocol: 2,
    enableReadyCheck: false,
    disableClientInfo: true,
    retryStrategy: () => null,
    maxRetriesPerRequest: 0,
  })
  // The promises below have its errors.
  client.on('error', () => {})
  try {
    return await Promise.race([failed, client.connect().then(() => use(client))])
  } finally {
    client.disconnect()
    socket.destroy()
  }
}

const connectorOf = ({ AbstractConnector }: typeof import('ioredis'), socket: ReturnType<NodeHandle['socket']>) =>
  class extends AbstractConnector {
    constructor() {
      super(0)
    }

    override connect(): ReturnType<AbstractConnector['connect']> {
      return Promise.resolve((this.stream = socket as never))
    }
  }

/**
 * Gives a client of ioredis with a connection of its own to a node, which is closed at the end. Rejects where the
 * connection is refused or lost: nothing is tried again.
 */
export const redis: Forms<Redis, [options?: { readonly port?: number }]> = inForms(connected)
