import { TopologyError } from '../error.ts'
import type { Topology } from '../topology.ts'
import { element, escapeXml } from '../xml.ts'
import type { AttributedEdge, AttributedGraph, AttributedNode } from './attributed-graph.ts'
import { topologyOf } from './from-attributes.ts'
import { graphOf } from './to-attributes.ts'
import { xmlParser } from './xml-elements.ts'

/** Reads GraphML as in the Topology Zoo. Throws a `TopologyError` with the line of what is wrong. */
export const readGraphml = (text: string): Topology => topologyOf(parseGraphml(text))

type Owner = { readonly attributes: Record<string, string | number> }

const parseGraphml = (text: string): AttributedGraph => {
  const names = new Map<string, string>()
  const nodes: (AttributedNode & Owner)[] = []
  const edges: (AttributedEdge & Owner)[] = []
  const graph: Owner & { directed: boolean | undefined } = { directed: undefined, attributes: {} }
  let owner: Owner = graph
  let data: { readonly name: string; text: string } | undefined

  const parser = xmlParser()
  const wrong = (what: string) => new TopologyError(`line ${parser.line}: ${what}`)
  const required = (attributes: Readonly<Record<string, string>>, kind: string, name: string) => {
    const value = attributes[name]
    if (value === undefined) throw wrong(`expected <${kind}> with ${name}, found none`)
    return value
  }
  parser.on('opentag', ({ name, attributes }) => {
    const line = parser.line
    if (name === 'key') names.set(required(attributes, name, 'id'), required(attributes, name, 'attr.name'))
    if (name === 'graph') {
      if (graph.directed !== undefined) throw wrong('expected one graph, found another')
      graph.directed = attributes.edgedefault === 'directed'
    }
    if (name === 'node') {
      const node = { id: required(attributes, name, 'id'), line, attributes: {} }
      nodes.push(node)
      owner = node
    }
    if (name === 'edge') {
      const [source, target] = [required(attributes, name, 'source'), required(attributes, name, 'target')]
      const edge = { source, target, line, attributes: {} }
      edges.push(edge)
      owner = edge
    }
    if (name === 'data') {
      const key = required(attributes, name, 'key')
      if (!names.has(key)) throw wrong(`there is no key "${key}"`)
      data = { name: names.get(key)!, text: '' }
    }
  })
  parser.on('text', text => {
    if (data) data.text += text
  })
  parser.on('closetag', ({ name }) => {
    if (name === 'data' && data) {
      owner.attributes[data.name] = data.text.trim()
      data = undefined
    }
    if (name === 'node' || name === 'edge') owner = graph
  })
  parser.write(text).close()
  if (graph.directed === undefined) throw new TopologyError('expected GraphML, found no <graph>')
  return { directed: graph.directed, attributes: graph.attributes, nodes, edges }
}

/** Writes GraphML with the attributes known to `readGraphml`. */
export const writeGraphml = (topology: Topology): string => {
  const { directed, attributes, nodes, edges } = graphOf(topology)
  const keys = new Map<string, string>()
  const definitions: string[] = []
  const data = (owner: string, values: AttributedNode['attributes']) =>
    Object.entries(values).map(([name, value]) => {
      const kind = `${owner} ${name}`
      if (!keys.has(kind)) {
        keys.set(kind, `d${keys.size}`)
        const type = typeof value === 'number' ? 'double' : 'string'
        definitions.push(element('key', { id: keys.get(kind)!, for: owner, 'attr.name': name, 'attr.type': type }))
      }
      return element('data', { key: keys.get(kind)! }, escapeXml(String(value)))
    })
  const content = [
    ...data('graph', attributes),
    ...nodes.map(({ id, attributes }) => element('node', { id }, data('node', attributes))),
    ...edges.map(({ source, target, attributes }) => element('edge', { source, target }, data('edge', attributes))),
  ]
  const graph = element('graph', { edgedefault: directed ? 'directed' : 'undirected' }, ['', ...content, ''])
  const xmlns = 'http://graphml.graphdrawing.org/xmlns'
  return `<?xml version="1.0" encoding="utf-8"?>\n${element('graphml', { xmlns }, ['', ...definitions, graph, ''])}\n`
}
