/** One message of a protocol, as the network holds it. */
export interface Frame {
  readonly bytes: Buffer
  /** Short and readable, without random ports; an address is shown as the name of its node: `vote term=2`, `GET /state`, `SET k 1`. */
  readonly label: string
}

/** Cuts one direction of a connection into frames. */
export interface StreamReader {
  /** Takes what came, in order, and gives the frames that are now whole. */
  push(chunk: Buffer): Frame[]
  /** Bytes taken that are not a whole frame yet. */
  rest(): Buffer
}

/** Gives messages readable labels, and streams their frames. It never changes a byte. */
export interface Dissector {
  readonly name: string
  /**
   * @param direction `forward`: from the opener of the connection to the listener
   * @param other for `backward`: the reader of the connection's forward direction. What an answer means may depend on
   * what was asked; every request is pushed there before its answer is pushed here
   */
  stream(direction: 'forward' | 'backward', other?: StreamReader): StreamReader
  /** The label of a datagram. */
  datagram(payload: Buffer): string
}
