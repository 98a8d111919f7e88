import * as fc from 'fast-check'
import { crossBurstMax, crossProblem } from '../../topologies/cross.ts'
import { classified } from '../../topologies/roles.ts'
import {
  type BothWays,
  type NodeRole,
  type Pipe,
  queuePacketsMax,
  type Topology,
  type TopologyNode,
} from '../../topologies/topology.ts'

/** Words that every format can hold. */
const word = fc.stringMatching(/^[!-~]([ -~]{0,8}[!-~])?$/)

/** To the nanosecond, as Shadow has it. */
const time = (min: number) => fc.integer({ min, max: 10_000_000_000 }).map(ns => ns / 1e6)

const pipe = (): fc.Arbitrary<Pipe> =>
  fc
    .record(
      {
        delayMs: time(0),
        jitterMs: time(1),
        bandwidth: fc.integer({ min: 1, max: 1e11 }),
        loss: fc.double({ min: 1e-9, max: 1, noNaN: true }),
        queue: fc.oneof(
          fc.record({ packets: fc.integer({ min: 1, max: queuePacketsMax }) }),
          fc.record({ bytes: fc.integer({ min: 1, max: 1e9 }) }),
        ),
        cross: fc.record(
          {
            bandwidth: fc.integer({ min: 0, max: 1e11 }),
            bytes: fc.integer({ min: 1, max: 65_535 }),
            burst: fc.integer({ min: 1, max: crossBurstMax }),
          },
          { requiredKeys: ['bandwidth'] },
        ),
      },
      { requiredKeys: ['delayMs'] },
    )
    // Cross traffic that a pipe cannot have is refused.
    .map(({ cross, ...pipe }) => ({ ...pipe, ...(cross && !crossProblem({ ...pipe, cross }) && { cross }) }))

const ways = (): fc.Arbitrary<BothWays> =>
  fc
    .tuple(pipe(), fc.option(fc.option(pipe()), { nil: undefined }))
    .map(([there, back]) => (back === undefined ? there : { ...there, back }))

/** The only part of an access that Shadow has. */
const bandwidths = (): fc.Arbitrary<BothWays> =>
  fc.tuple(fc.integer({ min: 1, max: 1e9 }), fc.integer({ min: 1, max: 1e9 })).map(([down, up]) => {
    const there = { delayMs: 0, bandwidth: down }
    return down === up ? there : { ...there, back: { delayMs: 0, bandwidth: up } }
  })

const coordinate = fc.double({ noNaN: true, noDefaultInfinity: true }).map(value => value + 0)

const node = (id: string): fc.Arbitrary<TopologyNode> =>
  fc.record(
    {
      id: fc.constant(id),
      role: fc.constantFrom<NodeRole>('transit', 'stub', 'client'),
      at: fc.tuple(coordinate, coordinate),
      label: word.filter(label => label !== id),
      access: bandwidths(),
    },
    { requiredKeys: ['id', 'role'] },
  )

/** Any topology, connected or not, with parallel links, links of one way, and asymmetric ones. */
export const anyTopology = (ids: fc.Arbitrary<string> = word): fc.Arbitrary<Topology> =>
  fc
    .uniqueArray(ids, { minLength: 1, maxLength: 6 })
    .chain(ids =>
      fc.record({
        nodes: fc.tuple(...ids.map(node)),
        ends: fc.array(fc.tuple(fc.constantFrom(...ids), fc.constantFrom(...ids), ways()), { maxLength: 10 }),
      }),
    )
    .map(({ nodes, ends }) =>
      classified({
        nodes,
        links: ends.filter(([from, to]) => from !== to).map(([from, to, ways]) => ({ from, to, ...ways })),
      }),
    )

/** How many nodes can be reached from the first, over links both ways. */
export const reachedFromFirst = ({ nodes, links }: Topology): number => {
  const neighbours = new Map(nodes.map(({ id }) => [id, [] as string[]]))
  for (const { from, to } of links) {
    neighbours.get(from)!.push(to)
    neighbours.get(to)!.push(from)
  }
  const reached = new Set([nodes[0]!.id])
  for (const id of reached) for (const other of neighbours.get(id)!) reached.add(other)
  return reached.size
}
