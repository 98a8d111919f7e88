/**
 * The wire between a node's kernel and the router: whole IPv4 packets, in order. A TUN device is one; a kernel in
 * memory serves in tests.
 */
export interface Link {
  /** Takes the next packet that the node sent into `into` (65,535 bytes are enough) and gives its length; 0: none now. */
  read(into: Buffer): number
  /** Hands the first `length` bytes of `packet` to the node's kernel. The buffer may be used again afterwards. */
  write(packet: Buffer, length: number): void
  close(): void
}
