import type { Frame } from './dissector.ts'
import type { PassageEnd } from './routers.ts'

/** What the network holds until a choice delivers it. */
export interface Message {
  /**
   * Number among the messages from `from` to `to` in the execution, from 1, over all transports. A message of several
   * frames takes as many numbers and has the first of them.
   */
  readonly ordinal: number
  /** Names of hosts. */
  readonly from: string
  readonly to: string
  /** ICMP counts as UDP. */
  readonly transport: 'udp' | 'tcp'
  /**
   * `datagram`: a UDP datagram. `unreachable`: the ICMP answer of a host's kernel to a datagram for a closed port.
   * `echo`, `echo-reply`: what `ping` sends, and its answer. `exceeded`: the ICMP answer of a router to a packet whose time
   * to live was over, from the packet's sender to itself. `open`: a request for a TCP connection. `accept`, `refuse`: the answer to it. `data`: what one direction of a
   * connection carried in one step; with a dissector, its whole frames. `close`: the sender will send no more (FIN). `abort`:
   * the sender reset the connection (RST).
   */
  readonly kind:
    | 'datagram'
    | 'unreachable'
    | 'echo'
    | 'echo-reply'
    | 'exceeded'
    | 'open'
    | 'accept'
    | 'refuse'
    | 'data'
    | 'close'
    | 'abort'
  /** The port that names the service: the listener's for TCP, the destination's for UDP. */
  readonly port: number
  /** Number of the connection among those between its two hosts by the same opener; 0 for UDP. */
  readonly connection: number
  /** The host that opened the connection; absent for UDP. */
  readonly opener?: string
  /** Payload; empty unless `datagram`, `echo`, `echo-reply` or `data`. */
  readonly bytes: Buffer
  /** Of `data` that holds more than one frame of a dissector: all of them. The message can be divided between them. */
  readonly frames?: readonly Frame[]
  /** Of `exceeded`. */
  readonly end?: PassageEnd
  /** Stable and readable: `n1→n2 #3 Prepare(4)`. */
  readonly label: string
}
