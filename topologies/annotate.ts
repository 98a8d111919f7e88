import { seededRandom, type UniformRandom } from './random.ts'
import {
  type BothWays,
  type LinkClass,
  type NodeRole,
  type Pipe,
  pipesOf,
  type Topology,
  type TopologyNode,
} from './topology.ts'

/** Settings for the links of a class, besides their delay. */
export interface Annotation {
  /** Bits a second, away from the core. */
  readonly bandwidth: number
  /** Bits a second towards the core, if different. */
  readonly upBandwidth?: number
  /** Range of the probability with which each direction of a link loses packets; drawn uniformly. */
  readonly loss: readonly [min: number, max: number]
}

const loss = [0.001, 0.005] as const
const core: Annotation = { bandwidth: 100e6, loss }

/**
 * The internet of the CrystalBall experiments (Yabandeh et al., NSDI 2009, section 5.1): 100 Mbit/s, but 5 Mbit/s to
 * clients and 1 Mbit/s from them; cross traffic as loss (`cross.ts` has it as packets).
 */
export const internet: Readonly<Record<LinkClass, Annotation>> = {
  'client-stub': { bandwidth: 5e6, upBandwidth: 1e6, loss },
  'stub-stub': core,
  'stub-transit': core,
  'transit-transit': core,
}

/**
 * Gives each link the settings of its class and keeps delays, jitter and queues. The settings of `client-stub` are also
 * stored at each stub as the access for clients placed there. The same seed draws the same values.
 */
export const annotate = (
  topology: Topology,
  classes: Readonly<Record<LinkClass, Annotation>>,
  seed: number,
): Topology => {
  const random = seededRandom(seed)
  const roleOf = new Map(topology.nodes.map(({ id, role }) => [id, role]))
  const links = topology.links.map(link => {
    const isUp = remoteness[roleOf.get(link.from)!] > remoteness[roleOf.get(link.to)!]
    return { ...link, ...annotated(link, classes[link.class], isUp, random) }
  })
  const nodes = topology.nodes.map((node): TopologyNode => {
    if (node.role !== 'stub') return node
    return { ...node, access: annotated(node.access ?? { delayMs: 0 }, classes['client-stub'], false, random) }
  })
  return { ...topology, nodes, links }
}

/** Distance from the core. */
const remoteness: Readonly<Record<NodeRole, number>> = { transit: 0, stub: 1, client: 2 }

const annotated = (ways: BothWays, annotation: Annotation, isUp: boolean, random: UniformRandom): BothWays => {
  const { there, back } = pipesOf(ways)
  return {
    ...there,
    ...drawn(annotation, isUp, random),
    back: back && { ...back, ...drawn(annotation, !isUp, random) },
  }
}

const drawn = (
  { bandwidth, upBandwidth, loss: [min, max] }: Annotation,
  isUp: boolean,
  random: UniformRandom,
): Pick<Pipe, 'bandwidth' | 'loss'> => ({
  bandwidth: isUp ? (upBandwidth ?? bandwidth) : bandwidth,
  // Six digits are more than can be measured, and keep the file small.
  loss: Number((min + random() * (max - min)).toFixed(6)),
})
