import { dirname, join } from 'node:path'
import { meantAtFirst } from '../config/changing-names.ts'
import { type ResolvedSystem, withAddresses } from '../config/config.ts'
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
  return nodes.map(asGiven => ({
    asGiven,
    definition: withAddresses(asGiven, addresses),
    address: addresses[asGiven.name]!,
    directory: join(directory, asGiven.name),
    files,
    shared: shared.placesOf(asGiven.name),
    isPaced,
    network: bufferBytesMax < Number.POSITIVE_INFINITY ? 'narrow' : isPaced ? 'paced' : 'held',
  }))
}

/**
 * How to run one more node, which is like another one but for its name and address. Where the other one's command and environment
 * have its name as a whole word, or its address, the new one's have its own.
 *
 * @param nodes all that are there
 */
export const planLike = (like: NodePlan, name: string, nodes: readonly NodePlan[]): NodePlan => {
  const { asGiven: model } = like
  const own = (text: string) => (text === model.name ? name : text.replaceAll(placeholder, ofItself))
  const ofItself = (whole: string, inner: string) =>
    inner.split('.')[0] === model.name ? `{{${name}.${inner.split('.')[1]}}}` : whole
  const asGiven = {
    ...model,
    name,
    aliases: [],
    command: model.command.map(own),
    env: Object.fromEntries(Object.entries(model.env).map(([key, value]) => [key, own(value)])),
  }
  const address = nodeAddress(nodes.length)
  const addresses = Object.fromEntries(nodes.map(plan => [plan.asGiven.name, plan.address]))
  return {
    ...like,
    asGiven,
    definition: withAddresses(asGiven, { ...addresses, [name]: address }),
    address,
    directory: join(dirname(like.directory), name),
  }
}

/** Address of a node, by its number in the order of the definition. */
export const nodeAddress = (index: number) => `10.77.${Math.floor((index + 1) / 250)}.${((index + 1) % 250) + 1}`
