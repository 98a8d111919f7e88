import type { NodeHandle } from '../../config/config.ts'

type Use<Client, Result> = (client: Client) => Promise<Result>

/** A connection to a node by a library's client, which is closed at the end. */
type Connected<Client, Given extends readonly unknown[]> = <Result>(
  node: NodeHandle,
  use: Use<Client, Result>,
  ...given: Given
) => Promise<Result>

/**
 * The three ways in which a configuration uses a library: within a function of its own, `redis(n1, use)`; as the observer of
 * each node, `state: redis(use)`; and as a client of one node, `clients: { put: redis('n1', use) }`.
 */
export interface Forms<Client, Given extends readonly unknown[]> {
  <Result>(node: NodeHandle, use: Use<Client, Result>, ...given: Given): Promise<Result>
  <Result>(use: Use<Client, Result>, ...given: Given): (node: NodeHandle) => Promise<Result>
  <Result>(
    name: string,
    use: Use<Client, Result>,
    ...given: Given
  ): (nodes: Readonly<Record<string, NodeHandle>>) => Promise<Result>
}

export const inForms = <Client, Given extends readonly unknown[]>(
  connected: Connected<Client, Given>,
): Forms<Client, Given> => {
  const form = (whom: NodeHandle | string | Use<Client, unknown>, ...rest: readonly unknown[]) => {
    if (typeof whom === 'function') return (node: NodeHandle) => connected(node, whom, ...(rest as unknown as Given))
    const [use, ...given] = rest as [Use<Client, unknown>, ...unknown[]]
    const of = (node: NodeHandle) => connected(node, use, ...(given as unknown as Given))
    if (typeof whom !== 'string') return of(whom)
    return (nodes: Readonly<Record<string, NodeHandle>>) => of(nodes[whom]!)
  }
  return form as Forms<Client, Given>
}
