import type { NodeOutcome } from '../../cells/task.ts'
import type { NodeEntry } from '../../system/node-system.ts'
import { type SearchName, searchNames } from '../search.ts'

/** Which clients use several nodes, so that no node alone can be called by them. */
export class ClientsAlone {
  /** By client, the nodes alone that it called, and those that it called or would have called together with others. */
  readonly #called = new Map<string, Set<number>>()
  readonly #usingOthers = new Map<string, Set<number>>()

  learn(node: number, input: NodeEntry, { last, usesOthers }: NodeOutcome): void {
    if (usesOthers !== undefined) noteIn(this.#usingOthers, usesOthers, node)
    const [, client] = ('choice' in input && /^client (.*)$/s.exec(input.choice)) || []
    if (last && client !== undefined) noteIn(this.#called, `clients.${client}`, node)
  }

  /** Says which clients' calls were left out, one sentence for each. */
  notesOf(search: SearchName): string[] {
    return [...this.#usingOthers]
      .filter(([client, nodes]) => {
        // A client of one node is offered to the others too.
        const called = this.#called.get(client)
        return called === undefined || [...nodes].some(node => called.has(node))
      })
      .map(([client]) => `${client} uses several nodes, so its calls were left out of ${searchNames[search]}`)
  }
}

const noteIn = (all: Map<string, Set<number>>, client: string, node: number): void => {
  const nodes = all.get(client)
  if (nodes) nodes.add(node)
  else all.set(client, new Set([node]))
}
