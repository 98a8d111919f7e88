/** What the network holds until a choice delivers it. */
export interface Message {
  /** Number among the messages from `from` to `to` in the execution, from 1, over all transports. */
  readonly ordinal: number
  /** Names of hosts. */
  readonly from: string
  readonly to: string
  readonly transport: 'udp' | 'tcp'
  /**
   * `datagram`: a UDP datagram. `unreachable`: the ICMP answer of a host's kernel to a datagram for a closed port.
   * `open`: a request for a TCP connection. `accept`, `refuse`: the answer to it. `data`: what one direction of a
   * connection carried in one step, or one frame of a dissector. `close`: the sender will send no more (FIN). `abort`:
   * the sender reset the connection (RST).
   */
  readonly kind: 'datagram' | 'unreachable' | 'open' | 'accept' | 'refuse' | 'data' | 'close' | 'abort'
  /** The port that names the service: the listener's for TCP, the destination's for UDP. */
  readonly port: number
  /** Number of the connection among those between its two hosts by the same opener; 0 for UDP. */
  readonly connection: number
  /** Payload; empty unless `datagram` or `data`. */
  readonly bytes: Buffer
  /** Stable and readable: `n1→n2 #3 Prepare(4)`. */
  readonly label: string
}
