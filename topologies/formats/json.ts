import { TopologyError } from '../error.ts'
import { checkTopology } from '../schema.ts'
import type { Topology } from '../topology.ts'

/**
 * Reads a topology from JSON. Throws a `TopologyError` with the line if it is not JSON, or the field if that is wrong.
 */
export const readJson = (text: string): Topology => checkTopology(parseJson(text))

/** A value from JSON. Throws a `TopologyError` with the line. */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (cause) {
    const { message } = cause as SyntaxError
    const position = /at position (\d+)/.exec(message)?.[1]
    const before = text.slice(0, position === undefined ? text.length : Number(position))
    throw new TopologyError(`line ${before.split('\n').length}: expected JSON, found ${message}`, { cause })
  }
}

/** JSON with a line for each node and link. */
export const writeJson = ({ nodes, links, ...others }: Topology): string => {
  const list = (values: readonly object[]) => `[\n${values.map(value => JSON.stringify(value)).join(',\n')}\n]`
  const fields = Object.entries(others).map(([key, value]) => `"${key}":${JSON.stringify(value)},\n`)
  return `{${fields.join('')}"nodes":${list(nodes)},\n"links":${list(links)}}\n`
}
