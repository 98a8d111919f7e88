import { TopologyError } from '../error.ts'
import { lengthPerMs } from '../generate/plane.ts'
import { classified, type Unclassified } from '../roles.ts'
import type { Topology } from '../topology.ts'
import { linesOf } from './lines.ts'

/**
 * Reads INET's format: `nodes links`, then `id x y` for each node, then `id1 id2 weight` for each link, where the
 * weight is its length. Delays are those of ModelNet for these lengths. Throws a `TopologyError` with the line of what
 * is wrong.
 */
export const readInet = (text: string): Topology => {
  const lines = linesOf(text)
  let next = 0
  const numbers = <Count extends number>(what: string, progress: string, count: Count) => {
    const line = lines[next++]
    if (!line) throw new TopologyError(`expected "${what}", but the file ends ${progress}`)
    const values = line.words.map(Number)
    const isWrong = values.length !== count || values.some(value => !Number.isFinite(value))
    if (isWrong) throw new TopologyError(`line ${line.number}: expected "${what}", found "${line.words.join(' ')}"`)
    return { values, at: `line ${line.number}` }
  }

  const { values: counts, at } = numbers('nodes links', 'at its beginning', 2)
  const [nodeCount, linkCount] = counts as [number, number]
  if (!counts.every(Number.isSafeInteger) || nodeCount < 1 || linkCount < 0) {
    throw new TopologyError(`${at}: expected the numbers of nodes and links, found "${counts.join(' ')}"`)
  }
  const nodes = new Map<string, Unclassified['nodes'][number]>()
  for (let index = 0; index < nodeCount; index++) {
    const { values, at } = numbers('id x y', `after ${index} of ${nodeCount} nodes`, 3)
    const [id, x, y] = values as [number, number, number]
    if (nodes.has(String(id))) throw new TopologyError(`${at}: there is a node ${id} before this one`)
    nodes.set(String(id), { id: String(id), at: [x, y] })
  }
  const links = Array.from({ length: linkCount }, (_, index) => {
    const { values, at } = numbers('id1 id2 weight', `after ${index} of ${linkCount} links`, 3)
    const [from, to, weight] = values as [number, number, number]
    for (const end of [from, to]) {
      if (!nodes.has(String(end))) throw new TopologyError(`${at}: the link ends at node ${end}, which is not there`)
    }
    if (from === to) throw new TopologyError(`${at}: expected a link between two nodes, found one from ${to} to itself`)
    if (weight < 0) throw new TopologyError(`${at}: expected a weight of at least 0, found ${weight}`)
    return { from: String(from), to: String(to), delayMs: weight / lengthPerMs }
  })
  const rest = lines[next]
  if (rest) throw new TopologyError(`line ${rest.number}: expected the end of the file after ${linkCount} links`)
  return classified({ nodes: [...nodes.values()], links })
}

/**
 * Writes INET's format, which has only places and weights. A weight is the length that corresponds to the delay, as a
 * whole number; ids are indices. Throws a `TopologyError` for a node without a place.
 */
export const writeInet = ({ nodes, links }: Topology): string => {
  const indexOf = new Map(nodes.map(({ id }, index) => [id, index]))
  const rows = [
    [nodes.length, links.length],
    ...nodes.map(({ id, at }, index) => {
      if (!at) throw new TopologyError(`cannot write node "${id}" in INET's format: it has no place on the plane`)
      return [index, ...at]
    }),
    ...links.map(({ from, to, delayMs }) => [indexOf.get(from)!, indexOf.get(to)!, Math.round(delayMs * lengthPerMs)]),
  ]
  return `${rows.map(row => row.join('\t')).join('\n')}\n`
}
