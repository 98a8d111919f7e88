import type { BothWays, Cross, Pipe, Topology } from './topology.ts'

/** More packets at once would be a model of something else, and take long to draw. */
export const crossBurstMax = 100

/** Traffic of others as a share of bandwidth, besides the size of its packets and bursts. */
export interface CrossShare extends Omit<Cross, 'bandwidth'> {
  readonly share: number
}

/** Each pipe that has a bandwidth gets traffic of others that takes this share of it. */
export const withCross = (topology: Topology, share: CrossShare): Topology => ({
  ...topology,
  nodes: topology.nodes.map(node => (node.access ? { ...node, access: bothWays(node.access, share) } : node)),
  links: topology.links.map(link => bothWays(link, share)),
})

const bothWays = <W extends BothWays>(ways: W, share: CrossShare): W => {
  const there = crossed(ways, share)
  return ways.back ? { ...there, back: crossed(ways.back, share) } : there
}

const crossed = <P extends Pipe>(pipe: P, { share, ...packets }: CrossShare): P =>
  pipe.bandwidth === undefined ? pipe : { ...pipe, cross: { bandwidth: share * pipe.bandwidth, ...packets } }

/** What is wrong with a pipe's cross traffic; undefined if nothing is. */
export const crossProblem = ({ bandwidth, queue, cross }: Pick<Pipe, 'bandwidth' | 'queue' | 'cross'>) => {
  if (cross === undefined) return undefined
  if (bandwidth === undefined) return 'expected a bandwidth, which cross traffic shares'
  if (queue === undefined && cross.bandwidth >= bandwidth)
    return `expected a queue, or cross traffic below the bandwidth of ${bandwidth}: what waits would grow without end`
  return undefined
}
