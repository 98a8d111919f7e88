/** A graph of routers and what their links do to packets. Its JSON file has exactly these fields. */
export interface Topology {
  /** For people. */
  readonly name?: string
  readonly nodes: readonly TopologyNode[]
  readonly links: readonly Link[]
}

export interface TopologyNode {
  /** Unique in its topology. */
  readonly id: string
  readonly role: NodeRole
  /** Place on the plane, x and y, or longitude and latitude; in no unit, for delays are what counts. */
  readonly at?: readonly [x: number, y: number]
  /** For people. */
  readonly label?: string
  /** Of a stub: the link that every client placed there gets, as seen towards the client. */
  readonly access?: BothWays
}

/**
 * `transit` carries what others send, `stub` is a place at the edge where clients may be, `client` is a machine that runs
 * a node of the service.
 */
export type NodeRole = 'transit' | 'stub' | 'client'

/** ModelNet's classes of links (Vahdat et al., OSDI 2002), by the roles of their ends. */
export type LinkClass = 'client-stub' | 'stub-stub' | 'stub-transit' | 'transit-transit'

/** A cable between two nodes. */
export interface Link extends BothWays {
  readonly from: string
  readonly to: string
  readonly class: LinkClass
}

/** What happens to packets on the way there, and back. */
export interface BothWays extends Pipe {
  /** The way back where it differs; `null` where there is none. */
  readonly back?: Pipe | null
}

/** What happens to packets in one direction. */
export interface Pipe {
  /** Propagation in milliseconds. */
  readonly delayMs: number
  /** The delay varies uniformly by up to so many milliseconds, more or less; 0 where absent. */
  readonly jitterMs?: number
  /** Bits a second; without limit where absent. */
  readonly bandwidth?: number
  /** Probability that a packet is lost, in [0, 1]; 0 where absent. */
  readonly loss?: number
  /** What may wait for bandwidth; without limit where absent. */
  readonly queue?: Queue
  /** Traffic of others that shares bandwidth and queue; none where absent. */
  readonly cross?: Cross
}

/** Bursts of equal packets by a Poisson process. Open loop: the rate does not react to loss, as TCP's would. */
export interface Cross {
  /** Bits a second in the mean; 0 for none. */
  readonly bandwidth: number
  /** Size of each packet; 1,000 where absent. */
  readonly bytes?: number
  /** How many packets come at once; 1 where absent. */
  readonly burst?: number
}

/** What may wait for bandwidth, and how it is decided what is dropped: `droptail` where nothing is said, only what finds it full. */
export type Queue = ({ readonly packets: number } | { readonly bytes: number }) & { readonly discipline?: Discipline }

/** `red`: random early detection (Floyd and Jacobson, 1993). `codel`: controlled delay (RFC 8289). */
export type Discipline = 'droptail' | 'red' | 'codel'

export const disciplines = ['droptail', 'red', 'codel'] as const satisfies readonly Discipline[]

/** A queue of packets has room for each in memory; no router has as much. */
export const queuePacketsMax = 100_000

export const roles = ['transit', 'stub', 'client'] as const satisfies readonly NodeRole[]

export const linkClasses = [
  'client-stub',
  'stub-stub',
  'stub-transit',
  'transit-transit',
] as const satisfies readonly LinkClass[]

/** The class of a link between nodes of these roles; a client's is always `client-stub`. */
export const classOf = (one: NodeRole, other: NodeRole): LinkClass => {
  if (one === 'client' || other === 'client') return 'client-stub'
  if (one !== other) return 'stub-transit'
  return one === 'stub' ? 'stub-stub' : 'transit-transit'
}

/** The pipes of a link: there, and back, where there is a way back. */
export const pipesOf = (ways: BothWays): { there: Pipe; back: Pipe | null } => {
  const there = pipeOf(ways)
  return { there, back: ways.back === undefined ? there : ways.back }
}

/** A pipe without what else the object has. */
const pipeOf = ({ delayMs, jitterMs, bandwidth, loss, queue, cross }: Pipe): Pipe => ({
  delayMs,
  ...(jitterMs !== undefined && { jitterMs }),
  ...(bandwidth !== undefined && { bandwidth }),
  ...(loss !== undefined && { loss }),
  ...(queue !== undefined && { queue }),
  ...(cross !== undefined && { cross }),
})

/** How many links each node has, in the order of the nodes. */
export const degreesOf = (
  nodes: readonly { readonly id: string }[],
  links: readonly { readonly from: string; readonly to: string }[],
): number[] => {
  const degrees = new Map(nodes.map(({ id }) => [id, 0]))
  for (const { from, to } of links) for (const end of [from, to]) degrees.set(end, (degrees.get(end) ?? 0) + 1)
  return nodes.map(({ id }) => degrees.get(id)!)
}

/** Ids of the nodes where clients may be placed. */
export const stubsOf = ({ nodes }: Topology): string[] =>
  nodes.filter(({ role }) => role === 'stub').map(({ id }) => id)
