import type { Stream, VirtualSocket } from '../../proxy/virtual-host.ts'

/** Receives what nodes answer to connections from outside. */
export interface VisitorListener {
  onData(visitor: number, bytes: Buffer): void
  /** The node has closed its direction. `lost`: the connection broke, or was never established. */
  onEnd(visitor: number, how: 'end' | 'lost'): void
}

/** Which connection of the observer's host is a visitor's. */
export interface VisitorMark {
  readonly visitor: number
  readonly node: number
  readonly nodePort: number
  readonly peerPort: number
}

/**
 * Connections from outside to nodes, through published ports. Steps open them, write to them and end them. Answers are
 * read at once, whoever receives them, because the speed of the reader must not affect a node.
 */
export class Visitors {
  #listener: () => VisitorListener | undefined
  readonly #sockets = new Map<number, VirtualSocket>()

  constructor(listener: () => VisitorListener | undefined) {
    this.#listener = listener
  }

  /** Whether any connection is open. */
  get isOpen(): boolean {
    return this.#sockets.size > 0
  }

  get sockets(): readonly VirtualSocket[] {
    return [...this.#sockets.values()]
  }

  /** Whether a connection is a visitor's. */
  has(socket: VirtualSocket): boolean {
    return this.sockets.includes(socket)
  }

  /** Their connections; undefined if one is being opened or ended, or something waits in it. */
  mark(): readonly VisitorMark[] | undefined {
    const sockets = [...this.#sockets]
    if (!sockets.every(([, socket]) => isQuiet(socket))) return undefined
    return sockets.map(
      ([
        visitor,
        {
          side: { node, nodePort, peerPort },
        },
      ]) => ({ visitor, node, nodePort, peerPort }),
    )
  }

  /** Takes up its connections among those that a network made from a mark has. Returns the others. */
  resume(marks: readonly VisitorMark[], streams: readonly Stream[]): readonly Stream[] {
    const others = new Set(streams)
    for (const { visitor, ...ports } of marks) {
      const stream = streams.find(({ socket: { side } }) => isOf(side, ports))
      if (stream === undefined) throw new Error(`the connection of visitor ${visitor} is not in the mark`)
      others.delete(stream)
      this.#keep(visitor, stream.socket)
    }
    return [...others]
  }

  /** Nobody is told of what still happens to these connections: they go on in another execution, or the run is over. */
  close(): void {
    this.#listener = () => undefined
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
    this.#keep(visitor, socket)
  }

  #keep(visitor: number, socket: VirtualSocket): void {
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

const isQuiet = ({ side, destroyed, writable, readableLength }: VirtualSocket): boolean =>
  !destroyed &&
  writable &&
  readableLength === 0 &&
  side.state === 'open' &&
  side.outgoingLength === 0 &&
  side.finish === 'not asked' &&
  !side.isFinished

const isOf = (side: VirtualSocket['side'], { node, nodePort, peerPort }: Omit<VisitorMark, 'visitor'>): boolean =>
  side.node === node && side.nodePort === nodePort && side.peerPort === peerPort
