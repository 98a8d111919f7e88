import type { OpenConnection } from './connection.ts'
import type { Connections } from './connections.ts'
import type { Cuts } from './cuts.ts'
import type { Datagrams } from './datagrams.ts'
import type { Hosts } from './hosts.ts'
import type { Message } from './message.ts'
import { findUnanswered, type Unanswered } from './unanswered.ts'
import type { Way } from './way.ts'

/** Connections that a network resets, and directions that it cuts. */
export class NetworkFaults {
  readonly #hosts: Hosts
  readonly #connections: Connections
  readonly #datagrams: Datagrams
  readonly #cuts: Cuts

  constructor(parts: { hosts: Hosts; connections: Connections; datagrams: Datagrams; cuts: Cuts }) {
    this.#hosts = parts.hosts
    this.#connections = parts.connections
    this.#datagrams = parts.datagrams
    this.#cuts = parts.cuts
  }

  /** The open connections between nodes, in the order in which they were opened. */
  connections(): readonly OpenConnection[] {
    return this.#connections.describeOpen()
  }

  /** Resets a connection: both ends learn of it at once, and its messages in flight are discarded. */
  resetConnection(connection: OpenConnection): void {
    this.#connections.reset(connection)
  }

  /** Whether the receiver of a held message can be told, in its place, that the connection was reset. */
  isBreakable(message: Message): boolean {
    return this.#connections.isBreakable(message)
  }

  /**
   * Resets the connection of a held message in place of delivering it: the receiver learns of it at once, the sender by
   * a message. A request for a connection is refused.
   */
  breakAt(message: Message): void {
    this.#connections.breakAt(message)
  }

  /** The cut directions, as `n1→n2`, sorted by name. */
  cuts(): readonly string[] {
    return this.#cuts.keys().sort()
  }

  /** Cuts further directions: TCP is held, UDP is lost, including what is in flight. */
  cut(ways: readonly Way[]): void {
    for (const way of ways) {
      for (const name of way) this.#hosts.get(name)
      this.#cuts.add(way)
    }
    this.#datagrams.lose(this.#cuts)
  }

  /** Heals these directions, or all. */
  heal(ways?: readonly Way[]): void {
    if (ways === undefined) this.#cuts.clear()
    else for (const way of ways) this.#cuts.delete(way)
  }

  /** Connections of running nodes on which nothing gets through. Call it between two steps. It is usually empty. */
  unanswered(): Unanswered[] {
    return findUnanswered(this.#connections.ends(), this.#cuts)
  }
}
