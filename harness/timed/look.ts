import type { GlobalState } from '../config.ts'
import type { NodeOutputs } from '../files/output.ts'

/** The states of all nodes, seen at one time. */
export interface Look {
  readonly state: GlobalState
  /** How long everything stood still for it, in milliseconds; 0 where nothing did. */
  readonly stillMs: number
  /** What nodes wrote since the last look. */
  readonly outputs: readonly NodeOutputs[]
  /** Nodes that are up and whose state could not be seen. */
  readonly unseen: readonly string[]
}
