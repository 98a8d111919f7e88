import { classOf, type Link, type NodeRole, type Topology, type TopologyNode } from '../topology.ts'
import { checkCount } from './count.ts'
import { onCircle, type PlanePoint, planeSide } from './plane.ts'

/** Small topologies with simple numbers: 10 ms between routers, 5 ms from a router to a stub. */

/** Every stub is linked to every other. */
export const mesh = (count: number): Topology => {
  checkCount('mesh', count, 2, nodesMax)
  const nodes = ring('stub', count, outer)
  return { name: `mesh of ${count} nodes`, nodes, links: fullyLinked(nodes) }
}

/** One router in the middle, all others are stubs around it. */
export const star = (count: number): Topology => {
  checkCount('star', count, 3, nodesMax)
  const hub = node('hub', 'transit', [planeSide / 2, planeSide / 2])
  const stubs = ring('stub', count - 1, outer)
  const links = stubs.map(stub => link(hub, stub))
  return { name: `star of ${count} nodes`, nodes: [hub, ...stubs], links }
}

/** Two routers that share one link, half of the stubs behind each. */
export const dumbbell = (count: number): Topology => {
  checkCount('dumbbell', count, 4, nodesMax)
  const hubs = [
    node('left', 'transit', [planeSide * 0.35, planeSide / 2]),
    node('right', 'transit', [planeSide * 0.65, planeSide / 2]),
  ] as const
  const stubs = ring('stub', count - 2, outer, (count - 2) / 4)
  const half = Math.ceil(stubs.length / 2)
  const links = stubs.map((stub, index) => link(hubs[index < half ? 0 : 1], stub))
  return { name: `dumbbell of ${count} nodes`, nodes: [...hubs, ...stubs], links: [link(...hubs), ...links] }
}

/** A core of fully linked routers, whose number is the square root of all, and stubs spread evenly behind them. */
export const twoTier = (count: number): Topology => {
  checkCount('two-tier', count, 3, nodesMax)
  const core = ring('transit', Math.round(Math.sqrt(count)), inner, 0.5)
  const stubs = ring('stub', count - core.length, outer)
  // Neighbours on the outer circle are behind the same router, and the inner circle is rotated to bring that router
  // near.
  const links = stubs.map((stub, index) => link(core[Math.floor((index * core.length) / stubs.length)]!, stub))
  return { name: `two-tier of ${count} nodes`, nodes: [...core, ...stubs], links: [...fullyLinked(core), ...links] }
}

/** Limit because a mesh has quadratically many links. */
const nodesMax = 1000
const outer = planeSide * 0.45
const inner = planeSide * 0.2

const node = (id: string, role: NodeRole, at: PlanePoint): TopologyNode => ({ id, role, at })

const ring = (role: NodeRole, count: number, radius: number, turn = 0) =>
  Array.from({ length: count }, (_, index) =>
    node(`${role[0]}${index + 1}`, role, onCircle(index + turn, count, radius)),
  )

const link = (one: TopologyNode, other: TopologyNode): Link => ({
  from: one.id,
  to: other.id,
  class: classOf(one.role, other.role),
  delayMs: one.role === other.role ? 10 : 5,
})

const fullyLinked = (nodes: readonly TopologyNode[]) =>
  nodes.flatMap((one, index) => nodes.slice(index + 1).map(other => link(one, other)))
