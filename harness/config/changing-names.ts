import { nearest } from '../../checker/system/nearest.ts'
import type { ResolvedSystem } from './resolved.ts'

type NamesOfSystem = Pick<ResolvedSystem, 'names'>

/** The node that each name means at the start. */
export const meantAtFirst = ({ names }: NamesOfSystem): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(names).map(([name, [first]]) => [name, first!]))

/** Says why a name cannot mean a node: the configuration has no such name, or it may not mean that node. */
export const wrongNameIn = (
  { names }: NamesOfSystem,
  { name, node }: { readonly name: string; readonly node: string },
): string | undefined => {
  const may = names[name.toLowerCase()]
  if (may === undefined) {
    const known = Object.keys(names)
    const there = known.length === 0 ? 'the configuration has no names' : nearest(name, known)
    return `there is no name "${name}" that may mean another node: ${there}`
  }
  return may.includes(node) ? undefined : `the name "${name}" cannot mean ${node}, but ${may.join(', ')}`
}
