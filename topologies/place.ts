import { TopologyError } from './error.ts'
import { sample, seededRandom, type UniformRandom } from './random.ts'
import { type Link, stubsOf, type Topology, type TopologyNode } from './topology.ts'

/**
 * Where to place a node, by its name: `router 17`, at that node of the topology; `stub` or `transit`, at one of these;
 * `client of AS 17`, at a stub that is linked to that node.
 */
export type Places = Readonly<Record<string, string>>

export const placeForm = /^(stub|transit|router .+|client of AS .+)$/

/**
 * Adds a client for each name. It is linked to its given place, or to a stub drawn by the seed: to one of its own while
 * there are any, then to a transit of its own, and then to one that has clients, where each has as many as any other or one
 * more. The link is that node's `access`, or one without delay and limits. Throws a `TopologyError` if a name is taken, or a
 * place does not exist.
 */
export const place = (topology: Topology, names: readonly string[], seed: number, places: Places = {}): Topology => {
  const nodes = new Map(topology.nodes.map(node => [node.id, node]))
  const links: Link[] = []
  const put = (name: string, from: string) => {
    if (nodes.has(name)) throw new TopologyError(`cannot place "${name}": the topology has a node of that name`)
    const { at, access = { delayMs: 0 } } = nodes.get(from)!
    const client: TopologyNode = { id: name, role: 'client', ...(at && { at }) }
    nodes.set(name, client)
    links.push({ from, to: name, class: 'client-stub', ...access })
  }
  const random = seededRandom(seed)
  const [asked, others] = [names.filter(name => places[name] !== undefined), names.filter(name => !places[name])]
  const taken = new Set<string>()
  for (const name of asked) {
    const from = placeFor(topology, name, places[name]!, random, taken)
    taken.add(from)
    put(name, from)
  }
  for (const [index, from] of drawn(topology, others.length, random, taken).entries()) put(others[index]!, from)
  return { ...topology, nodes: [...nodes.values()], links: [...topology.links, ...links] }
}

/** So many places: first those that are free. */
const drawn = (topology: Topology, count: number, random: UniformRandom, taken: ReadonlySet<string>): string[] => {
  const stubs = stubsOf(topology)
  if (topology.nodes.every(({ role }) => role === 'client'))
    throw new TopologyError('cannot place nodes: the topology has neither stubs nor transits')
  const transits = topology.nodes.filter(({ role }) => role === 'transit').map(({ id }) => id)
  const free = [stubs, transits].map(places => places.filter(place => !taken.has(place)))
  const places: string[] = []
  for (const candidates of [...free, ...again([...stubs, ...transits], count)]) {
    places.push(...sample(random, candidates, Math.min(candidates.length, count - places.length)))
    if (places.length === count) break
  }
  return places
}

/** The same places as often as so many nodes may need. */
function* again(places: readonly string[], count: number): Generator<readonly string[]> {
  for (let left = count; left > 0; left -= places.length) yield places
}

/** A random place is drawn among the free ones. */
const placeFor = (
  { nodes, links }: Topology,
  name: string,
  wanted: string,
  random: UniformRandom,
  taken: ReadonlySet<string>,
): string => {
  const fail = (why: string) => new TopologyError(`cannot place "${name}" at ${wanted}: ${why}`)
  const [, kind, id = ''] = /^(stub|transit|router|client of AS)(?: (.+))?$/.exec(wanted) ?? []
  if (id !== '' && !nodes.some(node => node.id === id)) throw fail(`the topology has no node "${id}"`)
  if (kind === 'router') return id
  const neighbours = new Set(links.flatMap(({ from, to }) => (from === id ? [to] : to === id ? [from] : [])))
  const role = kind === 'transit' ? 'transit' : 'stub'
  const free = nodes.filter(node => node.role === role && !taken.has(node.id) && (id === '' || neighbours.has(node.id)))
  const [drawn] = sample(random, free, 1)
  if (drawn === undefined) throw fail(`there is no ${role}${id === '' ? '' : ' linked to it'} that is free`)
  return drawn.id
}
