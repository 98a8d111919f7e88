import { inet } from './generate/inet.ts'
import { dumbbell, mesh, star, twoTier } from './generate/regular.ts'
import { transitStub } from './generate/transit-stub.ts'
import type { Topology } from './topology.ts'

/** Each takes the number of nodes and, where something is drawn, a seed. They throw a `TopologyError` for a wrong number. */
const generators = { inet, 'transit-stub': transitStub, 'two-tier': twoTier, mesh, star, dumbbell } satisfies Record<
  string,
  (count: number, seed: number) => Topology
>

export type TopologyKind = keyof typeof generators

export const topologyKinds = Object.keys(generators) as TopologyKind[]

/** A topology of a kind: the same nodes and seed give the same. */
export const generate = (kind: TopologyKind, count: number, seed: number): Topology => generators[kind](count, seed)
