import { join } from 'node:path'
import { meantAtFirst } from '../config/changing-names.ts'
import { type ResolvedSystem, withAddresses } from '../config/config.ts'
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
  const addresses = Object.fromEntries(nodes.map(({ name }, index) => [name, addressOf(index)]))
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

const addressOf = (index: number) => `10.77.${Math.floor((index + 1) / 250)}.${((index + 1) % 250) + 1}`
