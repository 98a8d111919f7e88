import type { VirtualSocket } from '../../proxy/virtual-host.ts'

/** Who hears what nodes answer to connections from outside. */
export interface VisitorListener {
  onData(visitor: number, bytes: Buffer): void
  /** The node has ended its side; `lost`: there is no connection any more, or there never was one. */
  onEnd(visitor: number, how: 'end' | 'lost'): void
}

/**
 * Connections that somebody outside has with nodes, through published ports. Each is opened, written to and ended by steps. What
 * comes back is read at once, whoever hears it: how fast that is must make no difference to a node.
 */
export class Visitors {
  readonly #listener: () => VisitorListener | undefined
  readonly #sockets = new Map<number, VirtualSocket>()

  constructor(listener: () => VisitorListener | undefined) {
    this.#listener = listener
  }

  /** Whether any is connected. */
  get isOpen(): boolean {
    return this.#sockets.size > 0
  }

  /** @param open throws where the node is down */
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
      // That it is lost is told when it is closed.
      .on('error', () => undefined)
      .on('close', () => {
        this.#sockets.delete(visitor)
        if (!hasEnded) this.#listener()?.onEnd(visitor, 'lost')
      })
  }

  /** What is sent to one that is lost is lost. */
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
