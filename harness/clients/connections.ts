import { createRequire } from 'node:module'
import type { Agent } from 'undici'
import type { SplitPlace } from '../../proxy/borders.ts'
import type { Stream, VirtualHost, VirtualSocket } from '../../proxy/virtual-host.ts'
import type { NodeHandle } from '../config/config.ts'
import type { Node } from '../node/node.ts'

const require = createRequire(import.meta.url)
/**
 * Loaded at the first request, because few systems need it. Loaded synchronously, because a client that does nothing
 * for a while counts as done.
 */
const undici = (): typeof import('undici') => require('undici')

const firstUdpPort = 50_000

/** The longest time that a timer takes, in milliseconds: 24 days. */
const never = 2 ** 31 - 1

/** Callback by which undici learns that a connection is established, or why it failed. */
type Connected = (error: Error | null, socket: never) => void

/** The connections, requests and datagrams between nodes and everyone who speaks to them from outside. */
export class OutsideConnections {
  readonly #host: VirtualHost
  readonly #nodes: readonly Node[]
  #agent: Agent | undefined
  readonly #sockets = new Set<VirtualSocket>()
  /** Connections that requests share, one after the other. */
  readonly #pooled = new WeakSet<VirtualSocket>()
  /** Unused connections from before a mark. The next request takes one of them. */
  readonly #idle: Stream[]
  /** Number of connections ever requested. */
  #opened = 0
  #datagrams = 0
  #udpPort: number
  /** Where what is written arrives in two parts; undefined if it arrives whole. */
  splitsAt: SplitPlace | undefined
  /** Callers that wait for a datagram, by the port at which it will arrive. */
  readonly #asking = new Map<number, (answer: Buffer) => void>()

  /**
   * @param idle connections from before a mark
   *
   * @param udpPort from which the next datagram is sent
   */
  constructor(host: VirtualHost, nodes: readonly Node[], idle: readonly Stream[], udpPort = firstUdpPort) {
    this.#host = host
    this.#nodes = nodes
    this.#udpPort = udpPort
    this.#idle = idle.filter(({ socket }) => !socket.destroyed)
    // A connection must be read to notice that its node closes it.
    for (const { socket } of this.#idle) this.keep(socket).resume()
    host.onDatagram(({ port, payload }) => this.#asking.get(port)?.(payload))
  }

  /** The port from which the next datagram is sent. */
  get udpPort(): number {
    return this.#udpPort
  }

  /**
   * Whether one of them cannot be restored, because its client uses it or waits for an answer.
   *
   * @param isOfOthers for connections that somebody else restores
   */
  areInUse(isOfOthers: (socket: VirtualSocket) => boolean): boolean {
    const isInUse = (socket: VirtualSocket) =>
      !socket.destroyed &&
      !isOfOthers(socket) &&
      (socket.readableLength > 0 || !(this.#pooled.has(socket) || this.#isIdle(socket)))
    return this.#asking.size > 0 || [...this.#sockets].some(isInUse)
  }

  /** Changes whenever something passes between nodes and clients. */
  activity(): string {
    // Taken from the connections' counters: a data listener would take the data from their readers.
    const connections = [...this.#sockets].map(({ side }) => `${side.state} ${side.sendNext} ${side.receiveNext}`)
    return [this.#datagrams, this.#opened, ...connections].join()
  }

  /** @throws if the node is down */
  open(node: Node, port: number): VirtualSocket {
    this.#opened += 1
    return this.keep(this.#host.connect(node.name, port))
  }

  /** Sends an HTTP request, over a shared connection. */
  request(node: Node, ...[port, path, init]: Parameters<NodeHandle['http']>): ReturnType<NodeHandle['http']> {
    return undici().request(`http://${node.address}:${port}${path}`, { ...init, dispatcher: this.#dispatcher })
  }

  /** Sends a datagram, and waits for one in return. */
  ask(node: Node, port: number, data: Buffer): Promise<Buffer> {
    const own = this.#udpPort++
    this.#datagrams += 1
    this.#host.sendUdp(node.name, port, data, own)
    return new Promise(resolve => {
      this.#asking.set(own, answer => {
        this.#asking.delete(own)
        this.#datagrams += 1
        resolve(answer)
      })
    })
  }

  close(): void {
    void this.#agent?.destroy().catch(() => {})
  }

  /** From now on, what passes on a connection counts as activity. */
  keep(socket: VirtualSocket): VirtualSocket {
    this.#sockets.add(socket)
    socket.splitsAt = () => this.splitsAt
    return socket.once('close', () => this.#sockets.delete(socket))
  }

  #isIdle(socket: VirtualSocket): boolean {
    return this.#idle.some(idle => idle.socket === socket)
  }

  get #dispatcher(): Agent {
    this.#agent ??= new (undici().Agent)({
      connect: (options, done) => this.#connect(options, done as Connected),
      headersTimeout: 0,
      bodyTimeout: 0,
      // By default undici closes an idle connection after some seconds of this machine's time, or of the server's hint less
      // the threshold. On a busy machine that would be in the middle of an execution.
      keepAliveTimeout: never,
      keepAliveMaxTimeout: never,
      keepAliveTimeoutThreshold: -never,
    })
    return this.#agent
  }

  #connect({ hostname, port }: { hostname: string; port?: string | number }, done: Connected) {
    const node = this.#nodes.find(each => each.address === hostname)!
    try {
      this.#openPooled(node, Number(port || 80), done)
    } catch (error) {
      done(error as Error, null as never)
    }
  }

  /** Takes an idle connection, or opens one. */
  #openPooled(node: Node, port: number, done: Connected): void {
    const index = this.#idle.findIndex(({ host, socket }) => host === node.name && socket.remotePort === port)
    const idle = this.#idle.splice(index, index < 0 ? 0 : 1)[0]?.socket
    if (idle && !idle.destroyed) {
      this.#pooled.add(idle)
      // Not before the request was made, just as for a new connection.
      process.nextTick(done, null, idle.pause() as never)
      return
    }
    const socket = this.open(node, port)
    this.#pooled.add(socket)
    socket.once('connect', () => done(null, socket as never))
    socket.once('error', error => done(error, null as never))
  }
}
