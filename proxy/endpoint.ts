import type { SegmentArrival, Side } from './tcp.ts'

/**
 * What the peers of a node are told when it goes down. `reset`: the peer of each open connection gets a held `abort`.
 * `nothing`: a peer learns of it only when something that it sent reaches the restarted node, whose kernel answers with
 * a held `abort`. In both cases virtual hosts see a reset at once.
 */
export type PeersSee = 'reset' | 'nothing'

/** The counterpart of a connection of a node's kernel. */
export interface Endpoint {
  /** Undefined if the kernel knows nothing of the connection. */
  readonly side: Side | undefined
  /** The node sent something on the connection. */
  arrive(arrival: SegmentArrival): void
  /** The node went down. */
  lose(peersSee: PeersSee): void
}
