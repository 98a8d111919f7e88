import { annotate, internet } from './annotate.ts'
import { generate, type TopologyKind } from './generate.ts'
import { withQueues } from './queues.ts'
import { withMeanRoundTrip } from './round-trip.ts'
import type { Topology } from './topology.ts'

/**
 * A topology of a kind with bandwidth, loss and queues, its delays scaled to a mean round trip where one is asked for, in
 * milliseconds. Throws a `TopologyError` for a wrong number.
 */
export const generateInternet = (
  kind: TopologyKind,
  count: number,
  seed: number,
  meanRoundTripMs: number | undefined,
): Topology => {
  const annotated = annotate(generate(kind, count, seed), internet, seed)
  return withQueues(meanRoundTripMs === undefined ? annotated : withMeanRoundTrip(annotated, meanRoundTripMs))
}
