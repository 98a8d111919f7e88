import { describeConnection } from './connection.ts'
import type { Cuts } from './cuts.ts'
import type { End } from './end.ts'

/** What a node has of a connection to which nothing gets through: its kernel gives it up after a time. */
export interface Unanswered {
  readonly node: string
  /** Names it and its kind in its execution. */
  readonly label: string
  /**
   * `asks`: the connection is not answered yet. `waits`: something that the node sent has not arrived. `idle`: nothing is
   * on its way. `denied`: nothing is, and the peer's kernel would say that it has no such connection.
   */
  readonly kind: 'asks' | 'waits' | 'idle' | 'denied'
  /** As the node's kernel knows it. */
  readonly port: number
  readonly peer: number
  readonly peerPort: number
  /** Lets the peer's kernel say so: a message that is held. */
  deny(): void
}

/** Of these ends those, of nodes that are up, to which nothing gets through and from which nothing is on its way to them. */
export const findUnanswered = (ends: readonly End[], cuts: Cuts): Unanswered[] =>
  ends.filter(end => isUp(end) && isUnanswered(end, cuts)).map(end => describe(end, cuts))

const isUp = ({ host }: End): boolean => host.link !== undefined

/**
 * Whether an end hears nothing, whatever its kernel sends: the way is cut, in one direction or both, or its peer is down;
 * or its peer came up again, and would say that it knows nothing of the connection.
 */
const isUnanswered = (end: End, cuts: Cuts): boolean => {
  const { side, other } = end
  if (side?.state !== 'asked' && side?.state !== 'open') return false
  const hears = !isCut(other, end, cuts)
  if (hears && other.queue.length > 0) return false
  return !hears || !reaches(end, cuts) || (isDenied(end) && end.queue.length === 0)
}

/** Whether the peer's kernel, which is up, has nothing of an open connection. */
const isDenied = ({ side, other }: End): boolean => side?.state === 'open' && other.side === undefined

const isCut = (from: End, to: End, cuts: Cuts): boolean => cuts.has([from.host.name, to.host.name])

/** Whether what the end sends gets to a node that is up. */
const reaches = (end: End, cuts: Cuts): boolean => !isCut(end, end.other, cuts) && isUp(end.other)

const describe = (end: End, cuts: Cuts): Unanswered => {
  const { nodePort: port, peer, peerPort, state } = end.side!
  const isReached = reaches(end, cuts) && !isCut(end.other, end, cuts)
  const kind = state === 'asked' ? 'asks' : isReached ? 'denied' : end.queue.length > 0 ? 'waits' : 'idle'
  return {
    node: end.host.name,
    label: `${describeConnection(end.names).label} ${end.role} ${kind}`,
    kind,
    port,
    peer,
    peerPort,
    deny: () => end.other.abort(),
  }
}
