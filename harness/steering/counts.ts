/** What prediction and steering did in a run. */
export interface SteeringCounts {
  /** Violations that were predicted. */
  readonly predicted: number
  /** Actions taken because of a prediction. */
  readonly steered: number
  /** Steps that would have violated a property, in place of which the immediate check let something else happen. */
  readonly immediate: number
  /** Steps that violated a property, because nothing could be done about them. */
  readonly missed: number
}

export const notSteered: SteeringCounts = { predicted: 0, steered: 0, immediate: 0, missed: 0 }
