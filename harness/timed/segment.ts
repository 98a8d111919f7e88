/** A part of the written bytes, in flight. */
export interface SegmentInFlight {
  /** Its beginning and end among the written bytes. */
  readonly from: number
  readonly to: number
  sentMs: number
  /** Position of its last sending among all sendings of the flow. */
  order: number
  tries: number
  isDelivered: boolean
  isLost: boolean
  /** How many segments that were sent later are known to have arrived. */
  later: number
}
