/** A message of a protocol, as the network holds it. */
export interface Frame {
  readonly bytes: Buffer
  /**
   * Short and readable, without random ports, and with names instead of addresses: `vote term=2`, `GET /state`, `SET k
   * 1`.
   */
  readonly label: string
}

/** Cuts one direction of a connection into frames. */
export interface StreamReader {
  /** Takes the next bytes and returns the frames that are complete now. */
  push(chunk: Buffer): Frame[]
  /** Bytes taken that are not a complete frame yet. */
  rest(): Buffer
  /**
   * Another reader in the same state, for a copy of the connection. Without this, everything that was read is kept, and
   * a reader of the copy reads it all again.
   *
   * @param other for `backward`: the copy of the forward direction's reader
   */
  copy?(other?: StreamReader): StreamReader
}

/** Gives messages readable labels and cuts streams into frames. It never changes a byte. */
export interface Dissector {
  readonly name: string
  /**
   * @param direction `forward`: from the opener of the connection to the listener
   *
   * @param other for `backward`: the reader of the forward direction, because the meaning of an answer may depend on
   * the request. Each request is pushed there before its answer is pushed here
   */
  stream(direction: 'forward' | 'backward', other?: StreamReader): StreamReader
  /** The label of a datagram. */
  datagram(payload: Buffer): string
}
