import { once } from 'node:events'
import type { NodeHandle } from '../../config/config.ts'
import { type Forms, inForms } from './forms.ts'
import { peer } from './peer.ts'

/** The client of the package `mqtt`, as far as its types are not needed. */
export interface MqttClient {
  publishAsync(
    topic: string,
    message: string | Buffer,
    options?: { qos?: 0 | 1 | 2; retain?: boolean },
  ): Promise<unknown>
  subscribeAsync(topic: string, options?: { qos?: 0 | 1 | 2 }): Promise<unknown>
  on(event: 'message', listener: (topic: string, message: Buffer) => void): unknown
}

interface Library {
  readonly MqttClient: new (
    stream: () => object,
    options: object,
  ) => MqttClient & NodeJS.EventEmitter & { end(force: true): void }
}

const connected = async <Result>(
  node: NodeHandle,
  use: (client: MqttClient) => Promise<Result>,
  { port = 1883, clientId = 'client' }: { readonly port?: number; readonly clientId?: string } = {},
): Promise<Result> => {
  const { MqttClient } = peer<Library>('mqtt', 'mqtt')
  const socket = node.socket(port)
  const lost = once(socket, 'close').then(() => {
    throw new Error(`the connection to ${node.name}:${port} was lost`)
  })
  const client = new MqttClient(() => socket, { clientId, keepalive: 0, reconnectPeriod: 0 })
  try {
    await Promise.race([once(client, 'connect'), lost])
    return await Promise.race([use(client), lost])
  } finally {
    lost.catch(() => {})
    client.end(true)
    socket.destroy()
  }
}

/** Gives a client of `mqtt` with a connection of its own to a node, which is closed at the end. */
export const mqtt: Forms<MqttClient, [options?: { readonly port?: number; readonly clientId?: string }]> =
  inForms(connected)
