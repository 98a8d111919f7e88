import type { Arrival, Side } from './tcp.ts'

/**
 * What a node's peers learn when it goes down. `reset`: every open connection's peer gets a held `abort`. `nothing`: a peer
 * learns it only when something that it sent on the connection reaches the restarted node, whose kernel answers with a held
 * `abort`. Virtual hosts see a reset at once in both cases.
 */
export type PeersSee = 'reset' | 'nothing'

/** What faces a connection of a node's kernel. */
export interface Endpoint {
  /** Undefined where the kernel has nothing of the connection. */
  readonly side: Side | undefined
  /** The node sent something on the connection. */
  arrive(arrival: Arrival): void
  /** The node went down. */
  lose(peersSee: PeersSee): void
}
