import type { NodeHandle } from '../../config/config.ts'
import { type Forms, inForms } from './forms.ts'
import { peer } from './peer.ts'

/** The client of the package `pg`, as far as its types are not needed. */
export interface PostgresClient {
  // biome-ignore lint/suspicious/noExplicitAny: the query says the shape of its rows
  query(text: string, values?: readonly unknown[]): Promise<{ readonly rows: any[]; readonly rowCount: number | null }>
}

interface Library {
  readonly Client: new (
    options: object,
  ) => PostgresClient & { connect(): Promise<void>; on(event: 'error', listener: (error: Error) => void): void }
}

const connected = async <Result>(
  node: NodeHandle,
  use: (client: PostgresClient) => Promise<Result>,
  { port = 5432, user = 'postgres', database = user, password = '' }: PostgresLogin = {},
): Promise<Result> => {
  const { Client } = peer<Library>('pg', 'postgres')
  const socket = node.socket(port)
  const client = new Client({ stream: socket, user, database, password })
  // The promises below have its errors.
  client.on('error', () => {})
  try {
    await client.connect()
    return await use(client)
  } finally {
    socket.destroy()
  }
}

export interface PostgresLogin {
  readonly port?: number
  readonly user?: string
  readonly database?: string
  readonly password?: string
}

/** Gives a client of `pg` with a connection of its own to a node, which is closed at the end. It rejects where that is lost. */
export const postgres: Forms<PostgresClient, [options?: PostgresLogin]> = inForms(connected)
