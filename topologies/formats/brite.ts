import { classified } from '../roles.ts'
import type { Topology } from '../topology.ts'
import { checkEnds } from './ends.ts'
import { linesOf, numbersOf, section } from './lines.ts'
import { linksOfArcs } from './ways.ts'

/**
 * Reads BRITE's format (Medina and others, MASCOTS 2001; its manual, "Output format"): `Nodes:` with
 * `id x y in out as type`, `Edges:` with `id from to length delay bandwidth asFrom asTo type`, and `D` at the end where an
 * edge leads one way. Delays are milliseconds, bandwidths Mbit/s, and one of 0 or less is not known. Throws a
 * `TopologyError` with the line.
 */
export const readBrite = (text: string): Topology => {
  const lines = linesOf(text)
  const nodes = section(lines, 'Nodes:', headings).map(line => {
    const [id, x, y] = numbersOf(line, 'id x y in out as type', [0, 1, 2]) as [number, number, number]
    return { id: String(id), at: [x, y] as const }
  })
  const edges = section(lines, 'Edges:', headings).map(line => {
    const places = [1, 2, 4, 5]
    const values = numbersOf(line, 'id from to length delay bandwidth asFrom asTo type', places)
    const [from, to, delayMs, mbits] = values as [number, number, number, number]
    const pipe = { delayMs: Math.max(0, delayMs), ...(mbits > 0 && { bandwidth: mbits * 1e6 }) }
    return { from: String(from), to: String(to), pipe, isOneWay: line.words.at(-1) === 'D', line: line.number }
  })
  const ends = checkEnds(nodes, edges)
  const arcs = ends.filter(({ isOneWay }) => isOneWay).map(({ from, to, pipe }) => ({ from, to, pipe }))
  const links = ends.filter(({ isOneWay }) => !isOneWay).map(({ from, to, pipe }) => ({ from, to, ...pipe }))
  return classified({ nodes, links: [...links, ...linksOfArcs(arcs)] })
}

const headings = ['Nodes:', 'Edges:']
