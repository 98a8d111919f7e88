import type { Side } from '../../proxy/tcp.ts'
import type { Disk } from '../files/disk.ts'
import type { VirtualClock } from '../hold/clock/virtual-clock.ts'
import type { RandomnessMark } from '../hold/held/randomness.ts'
import type { Life, LifeMark } from './life.ts'
import type { SavedLife } from './saved-life.ts'

/** A node as it was at one instant. */
export interface SavedNode {
  readonly seed: number
  readonly lives: number
  /** A copy. */
  readonly clock: VirtualClock
  readonly randomness: RandomnessMark
  /** While it is down: the disk of its next life. */
  readonly disk: Disk | undefined
  readonly life: SavedLife | undefined
}

/** A node at one instant, whose processes are rewound in place. */
export interface MarkedNode {
  readonly seed: number
  readonly lives: number
  /** What it has while it is up, and while it is down. */
  readonly has: MarkedLife | MarkedDown
}

export interface MarkedLife {
  readonly life: Life
  readonly mark: LifeMark
  /** Connections that only its kernel still has. */
  readonly orphans: readonly Side[]
}

export interface MarkedDown {
  readonly life: undefined
  /** A copy of the disk of its next life; undefined for an empty one. */
  readonly disk: Disk | undefined
  /** A copy. */
  readonly clock: VirtualClock
  readonly randomness: RandomnessMark
}
