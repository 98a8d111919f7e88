/**
 * The wire between a node's kernel and the router: whole IP packets in order. A TUN device is one. Tests use a kernel
 * in memory.
 */
export interface PacketLink {
  /** Readable while there is a packet to read; undefined if the kernel has none for it. */
  readonly descriptor?: number | undefined
  /**
   * Reads the next packet that the node sent into `into` (65,535 bytes are enough) and returns its length; 0 if there
   * is none.
   */
  read(into: Buffer): number
  /** Passes the first `length` bytes of `packet` to the node's kernel. The buffer may be reused afterwards. */
  write(packet: Buffer, length: number): void
  /** Whether its kernel would take a datagram that is for many; false if absent. */
  hears?(destination: number, port: number): boolean
  close(): void
}
