import { libc, requireSuccess } from '../../linux/libc.ts'
import type { Segment } from '../../proxy/packets/packet.ts'
import { nothingLearned } from '../../proxy/segment-lengths.ts'
import { acknowledgeAgain, finishAgain, type Side } from '../../proxy/tcp.ts'
import { unacknowledgedIn, unsentIn } from './queued-bytes.ts'
import {
  askAgain,
  type Connected,
  connectSilently,
  connectToItself,
  type OwnTerms,
  ownTermsOf,
} from './repaired-socket.ts'
import { connectionStateOf, receivedSegmentOf } from './socket-options.ts'

const shutdown = libc.func('int shutdown(int fd, int how)')
const SHUT_WR = 1
const established = 1

/** Who has the other end of a kernel's connection: by this it depends whether and how the connection is made again. */
export interface FarEnd {
  /** Whether it has been accepted, so that its state can be compared. */
  readonly isOpen: boolean
  /** Whether its kernel has learned something that a socket that is kept would not forget. */
  readonly hasTaught: boolean
  /** Why the connection cannot be marked now. */
  obstacle(own: number): string | undefined
  /**
   * Gives it back to a socket without a connection.
   *
   * @param say tells its kernel what the other end sent
   *
   * @throws SystemError
   */
  connect(own: number, connected: Connected, say: (segment: Segment) => void): void
}

/** The network has it, for another node. */
export class RouterEnd implements FarEnd {
  readonly #side: Side

  constructor(side: Side) {
    this.#side = side
  }

  get isOpen(): boolean {
    return this.#side.state === 'open'
  }

  get hasTaught(): boolean {
    return this.#side.lessons.estimated > 0
  }

  obstacle(own: number): string | undefined {
    if (!isStill(this.#side) || unacknowledgedIn(own) > 0) return 'is a connection that has bytes in flight'
    const learned = receivedSegmentOf(own)
    if (this.isOpen && learned !== this.#side.lessons.segment)
      return `has learned from other segments than it was sent: ${learned}`
    return undefined
  }

  connect(own: number, connected: Connected, say: (segment: Segment) => void): void {
    const side = this.#side
    if (side.state === 'asked') askAgain(own, connected, side)
    else connectSilently(own, connected, side, say)
    if (side.isFinished) {
      requireSuccess('shutdown', shutdown(own, SHUT_WR))
      say(acknowledgeAgain(side))
    }
    if (side.finish === 'acknowledged') say(finishAgain(side))
  }
}

/** The far end in the node's own kernel: the node is connected to itself, and the network never sees it. */
export class OwnEnd implements FarEnd {
  readonly #terms: OwnTerms
  readonly isOpen = true
  readonly hasTaught = false

  constructor(own: number) {
    this.#terms = ownTermsOf(own)
  }

  obstacle(own: number): string | undefined {
    if (connectionStateOf(own) !== established) return 'is a connection of the node to itself that one end has closed'
    // What was sent is in the other end already, even if that has not acknowledged it yet.
    if (unsentIn(own) > 0) return 'is a connection of the node to itself that has bytes in flight'
    const learned = receivedSegmentOf(own)
    if (learned !== nothingLearned.segment)
      return `is a connection of the node to itself that has learned from long segments: ${learned}`
    return undefined
  }

  connect(own: number, connected: Connected): void {
    connectToItself(own, connected, this.#terms)
  }
}

/** Whether nothing is in flight between the kernel and its counterpart. */
const isStill = ({ state, finish, sendNext, sendUnacknowledged }: Side): boolean =>
  state === 'asked' || (state === 'open' && finish !== 'sent' && sendNext === sendUnacknowledged)
