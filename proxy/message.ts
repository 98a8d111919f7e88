/** What the network holds in flight until a choice delivers it. */
export interface Message {
  /** Names the message in its execution: the n-th from `from` to `to`, counted from 1 over all transports. */
  readonly ordinal: number
  /** Names of hosts. */
  readonly from: string
  readonly to: string
  readonly transport: 'udp' | 'tcp'
  /**
   * `datagram`: a UDP datagram. `unreachable`: the answer of a host's kernel to one for a port that nobody has there, by
   * ICMP. `open`: a TCP connection is asked for. `accept`, `refuse`: the answer to it.
   * `data`: what one direction of a connection carried in one step, or one frame of a dissector.
   * `close`: the sender will send no more (FIN). `abort`: the sender reset the connection (RST).
   */
  readonly kind: 'datagram' | 'unreachable' | 'open' | 'accept' | 'refuse' | 'data' | 'close' | 'abort'
  /** The port that names the service: the listener's for TCP, the destination's for UDP. */
  readonly port: number
  /** Names the connection in its execution: the n-th between its two hosts by that opener; 0 for UDP. */
  readonly connection: number
  /** Payload; empty unless `datagram` or `data`. */
  readonly bytes: Buffer
  /** Stable and readable: `n1→n2 #3 Prepare(4)`. */
  readonly label: string
}
