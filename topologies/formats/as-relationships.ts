import { TopologyError } from '../error.ts'
import { classified } from '../roles.ts'
import type { Topology } from '../topology.ts'

/**
 * Reads CAIDA's relationships of autonomous systems (serial-1 and serial-2): `provider|customer|-1`, `peer|peer|0`, with a
 * source behind it in serial-2; lines that begin with `#` are comments. A system without customers is a stub, as in Gao's
 * inference. The file has no delays: each link has 10 ms. Throws a `TopologyError` with the line.
 */
export const readAsRelationships = (text: string): Topology => {
  const systems = new Set<string>()
  const providers = new Set<string>()
  const links = text.split('\n').flatMap((content, index) => {
    const line = content.trim()
    if (line === '' || line.startsWith('#')) return []
    const [, from, to, kind] = /^(\d+)\|(\d+)\|(-1|0|1|2)(?:\|.*)?$/.exec(line) ?? []
    if (from === undefined || to === undefined)
      throw new TopologyError(`line ${index + 1}: expected "provider|customer|-1" or "peer|peer|0", found "${line}"`)
    systems.add(from).add(to)
    if (kind === '-1') providers.add(from)
    return from === to ? [] : [{ from, to, delayMs }]
  })
  const nodes = [...systems].map(id => ({ id, role: providers.has(id) ? ('transit' as const) : ('stub' as const) }))
  if (nodes.length === 0) throw new TopologyError('expected at least one relationship, found none')
  return classified({ nodes, links })
}

const delayMs = 10
