/** Which nodes speak with each other, as far as one state shows. */
export interface Ties {
  /** Pairs of hosts that have an open connection. */
  readonly connected: readonly (readonly [string, string])[]
  /** How many messages were ever sent, by sender and receiver: `n1→n2`. */
  readonly sent: ReadonlyMap<string, number>
}

/**
 * Nodes of a system that is predicted as a whole, at most. In larger ones a search hardly gets beyond the first steps
 * of each node.
 */
const wholeMax = 8

/**
 * The nodes that a round of prediction looks at (CrystalBall, section 3.1): one node, those to which it has a connection, and those that it
 * heard from since its last turn. Each node has its turn.
 */
export class Neighbourhoods {
  readonly #names: readonly string[]
  #next = 0
  /** By node, what was sent to it until its last turn. */
  readonly #heard = new Map<string, ReadonlyMap<string, number>>()

  constructor(names: readonly string[]) {
    this.#names = names
  }

  /** Undefined for all nodes. */
  next({ connected, sent }: Ties): ReadonlySet<string> | undefined {
    if (this.#names.length <= wholeMax) return undefined
    const node = this.#names[this.#next]!
    this.#next = (this.#next + 1) % this.#names.length
    const before = this.#heard.get(node)
    this.#heard.set(node, sent)
    const peers = connected.filter(pair => pair.includes(node)).flat()
    const senders = this.#names.filter(name => {
      const way = `${name}→${node}`
      return before !== undefined && (sent.get(way) ?? 0) > (before.get(way) ?? 0)
    })
    return new Set([node, ...peers, ...senders])
  }
}
