import type { Topology } from '../topology.ts'
import { inet } from './inet.ts'
import { dumbbell, mesh, star, twoTier } from './regular.ts'
import { transitStub } from './transit-stub.ts'

/**
 * Generators by kind. Each takes the number of nodes and, if it draws anything, a seed. They throw a `TopologyError`
 * for an invalid number.
 */
const generators = { inet, 'transit-stub': transitStub, 'two-tier': twoTier, mesh, star, dumbbell } satisfies Record<
  string,
  (count: number, seed: number) => Topology
>

export type TopologyKind = keyof typeof generators

export const topologyKinds = Object.keys(generators) as TopologyKind[]

/** A topology of a kind. The same number and seed give the same topology. */
export const generate = (kind: TopologyKind, count: number, seed: number): Topology => generators[kind](count, seed)
