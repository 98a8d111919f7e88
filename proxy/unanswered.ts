import { describeConnection } from './connection.ts'
import type { Cuts } from './cuts.ts'
import type { End } from './end.ts'

/** A node's connection on which nothing gets through. The node's kernel gives the connection up after some time. */
export interface Unanswered {
  readonly node: string
  /** The connection and the kind, in the names of the execution. */
  readonly label: string
  /**
   * `asks`: the request is not answered yet. `waits`: something that the node sent has not arrived. `idle`: nothing is
   * in flight. `denied`: nothing is in flight, and the peer's kernel would say that it has no such connection.
   */
  readonly kind: 'asks' | 'waits' | 'idle' | 'denied'
  /** Port in the node's kernel. */
  readonly port: number
  readonly peer: number
  readonly peerPort: number
  /** Makes the peer's kernel say so, as a held message. */
  deny(): void
}

/**
 * Those of these ends that belong to running nodes and on which nothing gets through and nothing is in flight to them.
 */
export const findUnanswered = (ends: readonly End[], cuts: Cuts): Unanswered[] =>
  ends.filter(end => isUp(end) && isUnanswered(end, cuts)).map(end => describe(end, cuts))

const isUp = ({ host }: End): boolean => host.link !== undefined

/**
 * Whether an end hears nothing, whatever its kernel sends: a direction is cut, or its peer is down, or its peer was
 * restarted and does not know the connection.
 */
const isUnanswered = (end: End, cuts: Cuts): boolean => {
  const { side, other } = end
  if (side?.state !== 'asked' && side?.state !== 'open') return false
  const hears = !isCut(other, end, cuts)
  if (hears && other.queue.length > 0) return false
  return !hears || !reaches(end, cuts) || (isDenied(end) && end.queue.length === 0)
}

/** Whether the peer's kernel is up but does not know an open connection. */
const isDenied = ({ side, other }: End): boolean => side?.state === 'open' && other.side === undefined

const isCut = (from: End, to: End, cuts: Cuts): boolean => cuts.has([from.host.name, to.host.name])

/** Whether what the end sends reaches a running node. */
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
