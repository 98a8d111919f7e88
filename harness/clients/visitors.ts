import type { VirtualSocket } from '../../proxy/virtual-host.ts'

/** Receives what nodes answer to connections from outside. */
export interface VisitorListener {
  onData(visitor: number, bytes: Buffer): void
  /** The node has closed its direction. `lost`: the connection broke, or was never established. */
  onEnd(visitor: number, how: 'end' | 'lost'): void
}

/**
 * Connections from outside to nodes, through published ports. Steps open them, write to them and end them. Answers are
 * read at once, whoever receives them, because the speed of the reader must not affect a node.
 */
export class Visitors {
  readonly #listener: () => VisitorListener | undefined
  readonly #sockets = new Map<number, VirtualSocket>()

  constructor(listener: () => VisitorListener | undefined) {
    this.#listener = listener
  }

  /** Whether any connection is open. */
  get isOpen(): boolean {
    return this.#sockets.size > 0
  }

  /** @param open throws if the node is down */
  connect(visitor: number, open: () => VirtualSocket): void {
    let socket: VirtualSocket
    try {
      socket = open()
    } catch {
      this.#listener()?.onEnd(visitor, 'lost')
      return
    }
    this.#sockets.set(visitor, socket)
    let hasEnded = false
    socket
      .on('data', bytes => this.#listener()?.onData(visitor, bytes))
      .on('end', () => {
        hasEnded = true
        this.#listener()?.onEnd(visitor, 'end')
      })
      // The loss is reported when it is closed.
      .on('error', () => undefined)
      .on('close', () => {
        this.#sockets.delete(visitor)
        if (!hasEnded) this.#listener()?.onEnd(visitor, 'lost')
      })
  }

  /** Data for a lost connection is discarded. */
  send(visitor: number, bytes: Buffer): void {
    const socket = this.#sockets.get(visitor)
    if (socket?.writable) socket.write(bytes)
  }

  end(visitor: number, how: 'end' | 'reset'): void {
    const socket = this.#sockets.get(visitor)
    if (how === 'end') socket?.end()
    else socket?.destroy()
  }
}
