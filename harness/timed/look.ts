import type { GlobalState } from '../config/config.ts'
import type { NodeOutputs } from '../files/output.ts'

/** The states of all nodes at one time. */
export interface Look {
  readonly state: GlobalState
  /** Milliseconds for which the system stood still for the look; 0 if it did not. */
  readonly stillMs: number
  /** What nodes wrote since the last look. */
  readonly outputs: readonly NodeOutputs[]
  /** Nodes that are up but whose state could not be seen. */
  readonly unseen: readonly string[]
}
