/** A router on the way from one host to another. */
export interface RouterOnWay {
  readonly address: number
  /** Whether its answers reach the sender. */
  readonly answers: boolean
}

/** Where a packet ended whose time to live was over. The router there has answered its sender. */
export interface PassageEnd {
  /** The host to which it was to go. */
  readonly towards: string
  /** Which router of the way it is, from 1. */
  readonly hop: number
  /** Payload of the packet. */
  readonly bytes: number
}
