/** A part of what was written, as it is under way. */
export interface Segment {
  /** Where it begins and ends in what is written. */
  readonly from: number
  readonly to: number
  sentMs: number
  /** The how manieth sending of the flow it was. */
  order: number
  tries: number
  isDelivered: boolean
  isLost: boolean
  /** Segments that were sent later, and of which the sender knows that they arrived. */
  later: number
}
