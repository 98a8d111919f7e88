import type { Way } from '../../../proxy/network.ts'

/** A node that a cut may separate from others. Nodes with the same role do the same to begin with. */
interface Separable {
  readonly name: string
  readonly role: string
}

/** What a partition cuts. */
export interface Partition {
  readonly label: string
  /** The first that the label names. */
  readonly first: string
  /** The nodes that it is about: the smaller side, or the first of two halves. */
  readonly nodes: readonly string[]
  readonly ways: readonly Way[]
}

/** Nodes at most of which all splits and bridges are offered. With more, nodes of one role are split in their order. */
const everySplitMax = 5

/**
 * Every partition that a search may choose: one node alone; one direction between two nodes; two nodes that others still
 * join, a bridge; two groups; and one direction between a group and the others. Labels of the first two kinds are older than
 * the others, and stay as they are.
 */
export const partitionsAmong = (nodes: readonly Separable[]): Partition[] => {
  const names = nodes.map(({ name }) => name)
  const others = (group: readonly string[]) => names.filter(name => !group.includes(name))
  const apart = (one: readonly string[], rest: readonly string[]): Partition => ({
    label: `partition ${one.join(' ')} | ${rest.join(' ')}`,
    first: one[0]!,
    nodes: one,
    ways: [...between(one, rest), ...between(rest, one)].sort(byOrder(names)),
  })
  const oneWay = (from: readonly string[], to: readonly string[]): Partition => ({
    label: `cut ${from.join(' ')}→${to.join(' ')}`,
    first: from[0]!,
    nodes: from.length <= to.length ? from : to,
    ways: between(from, to),
  })
  const pairs = names.flatMap((one, index) => names.slice(index + 1).map(other => [one, other] as const))
  const groups = splitsOf(nodes)
  return [
    ...names.map(name => apart([name], others([name]))),
    ...names.flatMap(from => others([from]).map(to => oneWay([from], [to]))),
    ...(names.length > 2 && names.length <= everySplitMax ? pairs.map(([one, other]) => apart([one], [other])) : []),
    ...groups.map(group => apart(group, others(group))),
    ...(names.length > 2 ? [...names.map(name => [name]), ...groups] : []).flatMap(group => [
      oneWay(group, others(group)),
      oneWay(others(group), group),
    ]),
  ]
}

const between = (some: readonly string[], others: readonly string[]): Way[] =>
  some.flatMap(from => others.map((to): Way => [from, to]))

const byOrder =
  (names: readonly string[]) =>
  ([a, b]: Way, [c, d]: Way): number =>
    names.indexOf(a) - names.indexOf(c) || names.indexOf(b) - names.indexOf(d)

/** One side of every split into two groups of two or more: the smaller, or that of the first node. */
const splitsOf = (nodes: readonly Separable[]): (readonly string[])[] => {
  const sides = nodes.length <= everySplitMax ? subsetsOf(nodes.map(({ name }) => name)) : byRoles(nodes)
  const [first] = nodes
  return sides.filter(side => {
    const rest = nodes.length - side.length
    if (side.length < 2 || side.length > rest) return false
    return side.length < rest || side.includes(first!.name)
  })
}

const subsetsOf = (names: readonly string[]): string[][] => {
  const all: string[][] = [[]]
  for (const name of names) for (const some of [...all]) all.push([...some, name])
  return all
}

/** The first ones of each role. */
const byRoles = (nodes: readonly Separable[]): string[][] => {
  const roles = new Map<string, Separable[]>()
  for (const node of nodes) roles.set(node.role, [...(roles.get(node.role) ?? []), node])
  return [...roles.values()].reduce<string[][]>(
    (all, some) =>
      all.flatMap(side =>
        Array.from({ length: some.length + 1 }, (_, count) => [
          ...side,
          ...some.slice(0, count).map(({ name }) => name),
        ]),
      ),
    [[]],
  )
}

/** What a command says besides names and numbers. */
export const commandRoleOf = (command: readonly string[], names: readonly string[]): string => {
  const known = new Set(names)
  return command.map(word => (known.has(word) ? '' : word.replaceAll(/\d+/g, ''))).join(' ')
}
