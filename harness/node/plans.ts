import { dirname, join } from 'node:path'
import { meantAtFirst } from '../config/changing-names.ts'
import { type ResolvedNode, type ResolvedSystem, withAddresses } from '../config/config.ts'
import { placeholder } from '../config/placeholders.ts'
import type { SharedDirectories } from '../files/shared-directories.ts'
import { writeSharedFiles } from '../files/shared-files.ts'
import type { NodePlan } from './runtime.ts'

/**
 * How to run each node of a system, in the order of the definition. The same names in the same order always get the
 * same addresses.
 *
 * @param directory for everything that nodes are given and write; the shared ones are in it, since containers see it
 *
 * @param isPaced whether their own doing takes time
 *
 * @param hasResolver whether their network answers them which hosts there are
 */
export const plansOf = (
  system: ResolvedSystem,
  directory: string,
  shared: SharedDirectories,
  { isPaced = false, hasResolver = true } = {},
): NodePlan[] => {
  const { nodes, trustsOutside, bufferBytesMax } = system
  const meant = Object.entries(meantAtFirst(system))
  const addresses = Object.fromEntries(nodes.map(({ name }, index) => [name, nodeAddress(index)]))
  /** Without a DNS server, names are in a file and mean the same node for ever. */
  const namesOf = (node: string) => meant.flatMap(([name, at]) => (at === node ? [name] : []))
  const files = writeSharedFiles(
    directory,
    nodes.map(({ name, aliases }) => ({
      address: addresses[name]!,
      names: [name, ...aliases, ...(hasResolver ? [] : namesOf(name))],
    })),
    { trustsOutside, hasResolver },
  )
  return nodes.map(definition => ({
    definition: withAddresses(definition, addresses),
    address: addresses[definition.name]!,
    directory: join(directory, definition.name),
    files,
    shared: shared.placesOf(definition.name),
    isPaced,
    network: bufferBytesMax < Number.POSITIVE_INFINITY ? 'narrow' : isPaced ? 'paced' : 'held',
  }))
}

/**
 * How to run one more node, which is like another one but for its name and address. Where the other one's command and environment
 * have its name as a whole word, or its address, the new one's have its own.
 *
 * @param like the other one, with its placeholders
 *
 * @param nodes all that are there
 */
export const planLike = (
  like: ResolvedNode,
  name: string,
  nodes: readonly NodePlan[],
): { readonly definition: ResolvedNode; readonly plan: NodePlan } => {
  const own = (text: string) => (text === like.name ? name : text.replaceAll(placeholder, ofItself))
  const ofItself = (whole: string, inner: string) =>
    inner.split('.')[0] === like.name ? `{{${name}.${inner.split('.')[1]}}}` : whole
  const definition = {
    ...like,
    name,
    aliases: [],
    command: like.command.map(own),
    env: Object.fromEntries(Object.entries(like.env).map(([key, value]) => [key, own(value)])),
  }
  const model = nodes.find(plan => plan.definition.name === like.name)!
  const address = nodeAddress(nodes.length)
  const addresses = Object.fromEntries(nodes.map(plan => [plan.definition.name, plan.address]))
  const plan = {
    ...model,
    definition: withAddresses(definition, { ...addresses, [name]: address }),
    address,
    directory: join(dirname(model.directory), name),
  }
  return { definition, plan }
}

/** Address of a node, by its number in the order of the definition. */
export const nodeAddress = (index: number) => `10.77.${Math.floor((index + 1) / 250)}.${((index + 1) % 250) + 1}`
