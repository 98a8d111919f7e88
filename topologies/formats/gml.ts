import { TopologyError } from '../error.ts'
import type { Topology } from '../topology.ts'
import type { Attributes } from './attributed-graph.ts'
import { topologyOf } from './from-attributes.ts'
import { type GmlEntry, parseGml } from './gml-tokens.ts'
import { graphOf } from './to-attributes.ts'

/** Reads GML: Shadow's network graphs, and those of the Topology Zoo. Throws a `TopologyError` with the line. */
export const readGml = (text: string): Topology => {
  const graph = parseGml(text).find(({ key }) => key === 'graph')
  if (!graph || !isList(graph.value)) throw new TopologyError('expected "graph [ … ]", found none')
  const all = (kind: string) =>
    (graph.value as readonly GmlEntry[])
      .filter(({ key }) => key === kind)
      .map(({ value, line }) => {
        if (!isList(value)) throw new TopologyError(`line ${line}: expected "${kind} [ … ]"`)
        return { attributes: attributesOf(value), line }
      })
  const attributes = attributesOf(graph.value)
  return topologyOf({
    directed: attributes.directed === 1,
    attributes,
    nodes: all('node').map(node => ({ ...node, id: required(node, 'node', 'id') })),
    edges: all('edge').map(edge => ({
      ...edge,
      source: required(edge, 'edge', 'source'),
      target: required(edge, 'edge', 'target'),
    })),
  })
}

/**
 * Writes GML that Shadow reads. Shadow requires whole numbers as ids, so other ids are replaced by their index and kept
 * as labels. Shadow has no bandwidth of links, and ignores unknown attributes.
 */
export const writeGml = (topology: Topology): string => {
  const { directed, attributes, nodes, edges } = graphOf(topology)
  const isNumbered = nodes.every(({ id }) => /^(0|[1-9]\d{0,8})$/.test(id))
  const numbers = new Map(nodes.map(({ id }, index) => [id, isNumbered ? Number(id) : index]))
  const list = (key: string, ids: readonly string[], values: Attributes) =>
    [`  ${key} [`, ...[...ids, ...Object.entries(values).map(written)].map(line => `    ${line}`), '  ]'].join('\n')
  return [
    'graph [',
    `  directed ${Number(directed)}`,
    ...Object.entries(attributes).map(entry => `  ${written(entry)}`),
    ...nodes.map(({ id, attributes: { label, ...others } }) =>
      list('node', [`id ${numbers.get(id)}`], { label: isNumbered ? label! : id, ...others }),
    ),
    ...edges.map(({ source, target, attributes }) =>
      list('edge', [`source ${numbers.get(source)}`, `target ${numbers.get(target)}`], attributes),
    ),
    ']',
    '',
  ].join('\n')
}

const isList = (value: GmlEntry['value']): value is readonly GmlEntry[] => typeof value === 'object'

const attributesOf = (entries: readonly GmlEntry[]): Attributes =>
  Object.fromEntries(entries.flatMap(({ key, value }) => (isList(value) ? [] : [[key, value] as const])))

const required = ({ attributes, line }: { attributes: Attributes; line: number }, kind: string, name: string) => {
  const value = attributes[name]
  if (value === undefined) throw new TopologyError(`line ${line}: expected a ${kind} with ${name}, found none`)
  return String(value)
}

/** Shadow distinguishes whole numbers from others, and requires others here. */
const written = ([key, value]: readonly [string, string | number]) => {
  if (typeof value === 'string') return `${key} "${value.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}"`
  return `${key} ${Number.isInteger(value) ? value.toFixed(1) : value}`
}
