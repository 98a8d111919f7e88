import FlatQueue from 'flatqueue'
import { TopologyError } from './error.ts'
import { partsProblem } from './parts.ts'
import { type Pipe, pipesOf, type Topology } from './topology.ts'

/** The path of least delay between two nodes, as a single pipe. */
export interface RouteBetween extends Pipe {
  readonly from: string
  readonly to: string
  /** Number of links on the path. */
  readonly hops: number
}

/**
 * The collapsed topology, as in ModelNet: a route for each ordered pair of the given nodes. Delay and jitter add up,
 * bandwidth, queue and cross traffic are those of the narrowest link, and a packet is lost if any link loses it. Throws a
 * `TopologyError` for an unknown node, and for a pair without a path.
 */
export const collapse = (topology: Topology, ends: readonly string[]): RouteBetween[] =>
  betweenAll(topology, ends, (way, from, to) => ({ from, to, hops: way.length, ...inSeries(pipesIn(way)) }))

/** The path of least delay as the pipes that a packet passes one after another. */
export interface HopRoute {
  readonly from: string
  readonly to: string
  /** A pipe with limited bandwidth belongs to one direction of a link. Routes that share the link share the object. */
  readonly pipes: readonly Pipe[]
  /** The directions of links that each of these pipes is made of. */
  readonly directions: readonly (readonly Direction[])[]
}

/** One direction of a link. */
export interface Direction {
  readonly from: string
  readonly to: string
  readonly pipe: Pipe
}

interface Stage {
  readonly pipe: Pipe
  readonly directions: readonly Direction[]
}

const pipesIn = (way: readonly Direction[]): Pipe[] => way.map(({ pipe }) => pipe)

/** A direction by itself: all who pass it share its pipe. */
const alone = (direction: Direction): Stage => ({ pipe: direction.pipe, directions: [direction] })

/** Several as one pipe, which nobody else has. */
const together = (directions: readonly Direction[]): Stage => ({ pipe: inSeries(pipesIn(directions)), directions })

const routeThrough = (from: string, to: string, stages: readonly Stage[]): HopRoute => ({
  from,
  to,
  pipes: stages.map(({ pipe }) => pipe),
  directions: stages.map(({ directions }) => directions),
})

/** A route of which each pipe is one direction of a link. */
export interface RouteByHop extends HopRoute {
  /** For each pipe, the other direction of the same link; undefined if it has none. */
  readonly back: readonly (Direction | undefined)[]
}

/**
 * A route for each ordered pair of the given nodes, hop by hop, as in ModelNet with shared links. Throws as `collapse`
 * does.
 */
export const routesByHop = (topology: Topology, ends: readonly string[]): RouteByHop[] =>
  betweenAll(topology, ends, (way, from, to, { opposite }) => ({
    ...routeThrough(from, to, way.map(alone)),
    back: way.map(direction => opposite.get(direction)),
  }))

/** Routes that share only the links of their hosts. */
export interface LastMile {
  readonly routes: readonly HopRoute[]
  /** Inner directions of links with limited bandwidth that several pairs use. Each pair has them for itself. */
  readonly notShared: readonly Pipe[]
}

/**
 * A route for each ordered pair of the given nodes, as in ModelNet's last-mile collapse: all routes of a host share its
 * first and last link, and what is between them is a pipe of the pair's own. Throws as `collapse` does.
 *
 * @param spare those of the nodes that may never be there: what they would share is not told
 */
export const routesByLastMile = (
  topology: Topology,
  ends: readonly string[],
  spare: ReadonlySet<string> = new Set(),
): LastMile => {
  const users = new Map<Pipe, number>()
  const routes = betweenAll(topology, ends, (way, from, to): HopRoute => {
    const inner = way.slice(1, -1)
    const isTold = !spare.has(from) && !spare.has(to)
    for (const { pipe } of isTold ? inner : [])
      if (pipe.bandwidth !== undefined) users.set(pipe, (users.get(pipe) ?? 0) + 1)
    const between = inner.length > 0 ? [together(inner)] : []
    return routeThrough(
      from,
      to,
      inStages([...way.slice(0, 1).map(alone), ...between, ...way.slice(1).slice(-1).map(alone)]),
    )
  })
  return { routes, notShared: [...users].filter(([, count]) => count > 1).map(([pipe]) => pipe) }
}

/** A direction with the numbers of its ends. */
interface Arc {
  readonly from: number
  readonly to: number
  readonly pipe: Pipe
  readonly direction: Direction
}

interface Network {
  readonly indexOf: ReadonlyMap<string, number>
  /** Arcs by the node that they leave. */
  readonly arcs: readonly (readonly Arc[])[]
  /** The other directions of the same links. */
  readonly opposite: ReadonlyMap<Direction, Direction>
}

const networkOf = ({ nodes, links }: Topology): Network => {
  const indexOf = new Map(nodes.map(({ id }, index) => [id, index]))
  const arcs = nodes.map((): Arc[] => [])
  const opposite = new Map<Direction, Direction>()
  for (const link of links) {
    const [from, to] = [indexOf.get(link.from)!, indexOf.get(link.to)!]
    const pipes = pipesOf(link)
    const add = (start: number, end: number, direction: Direction) =>
      arcs[start]!.push({ from: start, to: end, pipe: direction.pipe, direction })
    const there = { from: link.from, to: link.to, pipe: pipes.there }
    add(from, to, there)
    if (pipes.back === null) continue
    // A copy, because the two directions share nothing.
    const back = { from: link.to, to: link.from, pipe: { ...pipes.back } }
    add(to, from, back)
    opposite.set(there, back).set(back, there)
  }
  return { indexOf, arcs, opposite }
}

/**
 * Dijkstra's algorithm: for each node, the last arc on the path of least delay from `source`; undefined for `source`
 * and for unreachable nodes. (Graph libraries from npm take 35 ms and more at 5,000 nodes, this takes 4 ms.)
 */
const lastArcs = ({ arcs }: Network, source: number): readonly (Arc | undefined)[] => {
  const last = Array<Arc | undefined>(arcs.length).fill(undefined)
  const delays = new Float64Array(arcs.length).fill(Number.POSITIVE_INFINITY)
  const isFinal = new Uint8Array(arcs.length)
  const queue = new FlatQueue()
  delays[source] = 0
  queue.push(source, 0)
  for (let node = queue.pop(); node !== undefined; node = queue.pop()) {
    if (isFinal[node]) continue
    isFinal[node] = 1
    for (const arc of arcs[node]!) {
      const delay = delays[node]! + arc.pipe.delayMs
      if (delay >= delays[arc.to]!) continue
      delays[arc.to] = delay
      last[arc.to] = arc
      queue.push(arc.to, delay)
    }
  }
  return last
}

const betweenAll = <R>(
  topology: Topology,
  ends: readonly string[],
  routeOf: (way: readonly Direction[], from: string, to: string, net: Network) => R,
): R[] => {
  const net = networkOf(topology)
  for (const end of ends) if (!net.indexOf.has(end)) throw new TopologyError(`there is no node "${end}"`)
  return ends.flatMap(from => {
    const last = lastArcs(net, net.indexOf.get(from)!)
    return ends
      .filter(to => to !== from)
      .map(to => {
        const way = wayAlong(net, last, from, to)
        if (way) return routeOf(way, from, to, net)
        const parts = partsProblem(topology)
        throw new TopologyError(`there is no way from "${from}" to "${to}"${parts === undefined ? '' : `: ${parts}`}`)
      })
  })
}

/** `undefined` where there is none. */
const wayAlong = (
  { indexOf }: Network,
  last: readonly (Arc | undefined)[],
  from: string,
  to: string,
): Direction[] | undefined => {
  const way: Direction[] = []
  const start = indexOf.get(from)!
  for (let node = indexOf.get(to)!; node !== start; ) {
    const arc = last[node]
    if (arc === undefined) return undefined
    way.push(arc.direction)
    node = arc.from
  }
  return way.reverse()
}

/** Pipes with limited bandwidth stay; those between them are merged. */
const inStages = (way: readonly Stage[]): Stage[] => {
  const stages: Stage[] = []
  let unlimited: Stage[] = []
  const endRun = () => {
    if (unlimited.length > 0) stages.push(together(unlimited.flatMap(({ directions }) => directions)))
    unlimited = []
  }
  for (const stage of way) {
    if (stage.pipe.bandwidth === undefined) unlimited.push(stage)
    else {
      endRun()
      stages.push(stage)
    }
  }
  endRun()
  return stages
}

/** Merges consecutive pipes into one. */
export const inSeries = (pipes: readonly Pipe[]): Pipe => {
  const sum = (value: (pipe: Pipe) => number) => pipes.reduce((all, pipe) => all + value(pipe), 0)
  const passes = pipes.reduce((all, { loss = 0 }) => all * (1 - loss), 1)
  const narrowest = pipes.reduce((one, other) => (widthOf(other) < widthOf(one) ? other : one))
  const { bandwidth, queue, cross } = narrowest
  return {
    delayMs: sum(({ delayMs }) => delayMs),
    jitterMs: sum(({ jitterMs = 0 }) => jitterMs),
    loss: 1 - passes,
    ...(bandwidth !== undefined && { bandwidth }),
    ...(queue !== undefined && { queue }),
    ...(cross !== undefined && { cross }),
  }
}

/** What others leave of its bandwidth. */
const widthOf = ({ bandwidth = Number.POSITIVE_INFINITY, cross }: Pipe) => bandwidth - (cross?.bandwidth ?? 0)
