import { annotate, internet } from '../annotate.ts'
import { type CrossShare, withCross } from '../cross.ts'
import { withQueues } from '../queues.ts'
import { withMeanRoundTrip } from '../round-trip.ts'
import type { Topology } from '../topology.ts'
import { generate, type TopologyKind } from './generate.ts'

/**
 * A topology of a kind with bandwidth, loss and queues, and with cross traffic if it is given. Delays are scaled to the mean round trip in milliseconds, if
 * one is given. Throws a `TopologyError` for an invalid number.
 */
export const generateInternet = (
  kind: TopologyKind,
  count: number,
  seed: number,
  meanRoundTripMs: number | undefined,
  cross?: CrossShare,
): Topology => {
  const annotated = annotate(generate(kind, count, seed), internet, seed)
  const queued = withQueues(meanRoundTripMs === undefined ? annotated : withMeanRoundTrip(annotated, meanRoundTripMs))
  return cross === undefined ? queued : withCross(queued, cross)
}
