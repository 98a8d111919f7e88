import { TopologyError } from '../error.ts'
import { classified } from '../roles.ts'
import type { NodeRole, Topology } from '../topology.ts'
import { checkEnds } from './ends.ts'
import { linesOf, numbersOf, section } from './lines.ts'

/**
 * Reads GT-ITM's graphs as `sgb2alt` writes them: `VERTICES` with `index name …`, `EDGES` with `from to length …`. A unit of
 * length is a millisecond, as in what is made of them for ns. Names tell the roles: `T:0.1` is a transit, `S:0.1/2.3` a
 * stub. Throws a `TopologyError` with the line.
 */
export const readGtItm = (text: string): Topology => {
  if (text.startsWith('* GraphBase'))
    throw new TopologyError('expected the alternative format of GT-ITM, found a GraphBase file: `sgb2alt` converts it')
  const lines = linesOf(text)
  const nodes = section(lines, 'VERTICES', headings).map(line => {
    const [index] = numbersOf(line, 'index name …', [0]) as [number]
    const name = line.words[1]
    const role = name === undefined ? undefined : roles[name.slice(0, 2)]
    return { id: String(index), ...(name !== undefined && { label: name }), ...(role && { role }) }
  })
  const edges = section(lines, 'EDGES', headings).map(line => {
    const [from, to, length] = numbersOf(line, 'from to length …', [0, 1, 2]) as [number, number, number]
    return { from: String(from), to: String(to), delayMs: length, line: line.number }
  })
  const links = checkEnds(nodes, edges).map(({ line: _line, ...link }) => link)
  return classified({ nodes, links })
}

const headings = ['GRAPH', 'VERTICES', 'EDGES']

const roles: Readonly<Record<string, NodeRole>> = { 'T:': 'transit', 'S:': 'stub' }
