import type { ConnectionMark } from './connection.ts'
import type { NetworkMark } from './network.ts'

/**
 * What a marked network is for one of its nodes, when all others are played: its own connections, of which the others' ends
 * have no kernel, and what it has sent. What is in flight to it belongs to whoever plays the others.
 */
export const networkPart = (mark: NetworkMark, name: string): NetworkMark => ({
  ...mark,
  connections: {
    ...mark.connections,
    all: mark.connections.all.flatMap(connection => connectionPart(connection, name)),
  },
  datagrams: mark.datagrams.filter(({ from }) => from === name),
  streams: mark.streams.filter(({ node }) => node === name),
  cuts: [],
})

const connectionPart = (connection: ConnectionMark, name: string): ConnectionMark[] => {
  const { opener, listener } = connection.names
  if (opener !== name && listener !== name) return []
  const [own, other] = opener === name ? [0, 1] : [1, 0]
  // Its request is still on the way: the connection begins with it.
  if (connection.ends[other]!.queue.some(({ kind }) => kind === 'open')) return []
  const ends = connection.ends.map((end, index) => (index === own ? end : { ...end, side: undefined, queue: [] }))
  return [{ ...connection, ends }]
}
