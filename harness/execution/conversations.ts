import type { Message } from '../../proxy/message.ts'

/** A place that a node has asked for something. */
interface Asked {
  readonly node: string
  readonly place: string
}

/** Who waits for whose answer, by the messages of a start. */
export class Conversations {
  /** Conversations in which the node that asks has spoken last. */
  readonly #open = new Map<string, Asked>()

  copy(): Conversations {
    const made = new Conversations()
    for (const [name, asked] of this.#open) made.#open.set(name, asked)
    return made
  }

  /** Must be called with each message, in the order in which they were sent. */
  see({ kind, from, to, transport, port, connection, opener }: Message): void {
    if (transport === 'udp') {
      this.#open.delete(`udp ${to} ${from}`)
      if (kind === 'datagram') this.#open.set(`udp ${from} ${to}`, { node: from, place: `${to}:${port} (UDP)` })
      return
    }
    const isAsker = opener === from
    const name = `tcp ${isAsker ? `${from} ${to}` : `${to} ${from}`} ${connection}`
    if (kind === 'close' || kind === 'abort' || kind === 'refuse') this.#open.delete(name)
    else if (isAsker) this.#open.set(name, { node: from, place: `${to}:${port}` })
    else if (kind === 'data') this.#open.delete(name)
  }

  /** The places of which a node waits for an answer. */
  awaitedBy(name: string): string[] {
    return [...new Set([...this.#open.values()].flatMap(({ node, place }) => (node === name ? [place] : [])))]
  }
}
