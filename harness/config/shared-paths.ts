import { nearest } from '../../checker/system/nearest.ts'

/** Where a node has a directory that it shares with others. */
export interface SharedPath {
  /** Name of the directory in the configuration. */
  readonly directory: string
  /** Absolute, in the node. */
  readonly path: string
  readonly isReadOnly: boolean
}

/** By name of a directory, by node, the path there: with `:ro` the node may only read. */
export type SharedDirectoriesDefined = Readonly<Record<string, Readonly<Record<string, string>>>>

const readOnlySuffix = ':ro'

/** What a node shares with others. */
export const sharedBy = (node: string, shared: SharedDirectoriesDefined): SharedPath[] =>
  Object.entries(shared).flatMap(([directory, paths]) => {
    const given = Object.hasOwn(paths, node) ? paths[node] : undefined
    if (given === undefined) return []
    const isReadOnly = given.endsWith(readOnlySuffix)
    const path = isReadOnly ? given.slice(0, -readOnlySuffix.length) : given
    return [{ directory, path: path.replace(/(?<=.)\/+$/, ''), isReadOnly }]
  })

/** Says which directories cannot be shared as they are written. */
export const sharedProblems = (nodes: readonly string[], shared: SharedDirectoriesDefined): string[] => [
  ...Object.entries(shared).flatMap(([directory, paths]) =>
    Object.keys(paths)
      .filter(node => !nodes.includes(node))
      .map(node => `shared.${directory}.${node}: there is no node ${node}; ${nearest(node, nodes)}`),
  ),
  ...nodes.flatMap(node => {
    const own = sharedBy(node, shared)
    return own.flatMap(({ directory, path }) => {
      const outer = own.find(other => other.directory !== directory && isWithin(path, other.path))
      if (outer === undefined) return []
      return [
        `shared.${directory}.${node}: expected a path apart from ${outer.path}, which is another's, found ${path}`,
      ]
    })
  }),
]

const isWithin = (path: string, directory: string) => path === directory || path.startsWith(`${directory}/`)
