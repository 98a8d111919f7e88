import type { Side } from '../../proxy/tcp.ts'
import type { Inherited } from './inheritance.ts'
import type { Life, LifeMark } from './life.ts'
import type { SavedLife } from './saved-life.ts'

/** A node at one instant, saved to files. */
export interface SavedNode extends Inherited {
  readonly seed: number
  readonly lives: number
  readonly life: SavedLife | undefined
}

/** A node at one instant, whose processes are rewound in place. */
export interface MarkedNode {
  readonly seed: number
  readonly lives: number
  /** The life of a node that is up, the inheritance of one that is down. */
  readonly has: MarkedLife | MarkedDown
}

export interface MarkedLife {
  readonly life: Life
  readonly mark: LifeMark
  /** Connections that only its kernel still has. */
  readonly orphans: readonly Side[]
}

export interface MarkedDown extends Inherited {
  readonly life: undefined
}
