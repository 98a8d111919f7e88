/**
 * The message plane: the network of a system under check. Every node's kernel speaks only to the router, through its
 * link. Messages between nodes are held here until a choice delivers them.
 *
 * All of it is synchronous. `kernels.pump` moves packets until there are none; then `endStep` turns what was sent since
 * the last step into messages.
 */
import { Attachments, type HostMark } from './attachments.ts'
import type { OpenConnection } from './connection.ts'
import { Connections, type ConnectionsMark } from './connections.ts'
import { Cuts } from './cuts.ts'
import { type DatagramMessage, Datagrams } from './datagrams.ts'
import type { Dissector } from './dissector.ts'
import { ChangingNames } from './dns/names.ts'
import type { ConnectionNames, RoomOf } from './end.ts'
import { HeldMessages, type PlayedMessage } from './held-messages.ts'
import { Hosts } from './hosts.ts'
import { Kernels } from './kernels.ts'
import { messageLabels } from './label.ts'
import { NetworkFaults } from './network-faults.ts'
import { type Ignored, type NotCarried, PacketReader } from './packet-reader.ts'
import { PacketWriter } from './packet-writer.ts'
import type { RouterOnWay } from './routers.ts'
import * as tcp from './tcp.ts'
import type { Unanswered } from './unanswered.ts'
import { type StreamMark, VirtualHosts } from './virtual-hosts.ts'
import { type Way, WayCounts, type WayCountsMark } from './way.ts'

export type { NotCarried, OpenConnection, PlayedMessage, Unanswered, Way }

export interface NetworkOptions {
  /** The dissector for the service on this port, if there is one. */
  readonly dissector?: (port: number) => Dissector | undefined
  /** Longer data is split into several messages; with a dissector, between its frames. */
  readonly messageBytesMax?: number
  /** The routers that a packet passes; none by default. */
  readonly routersBetween?: (from: string, to: string) => readonly RouterOnWay[]
  /** The IPv4 address of the host of this name, in small letters; that of an attached one by default. */
  readonly addressOf?: (name: string) => number | undefined
  /** The host that each name means at first, by names in small letters that no host has; none by default. */
  readonly names?: Readonly<Record<string, string>>
  /** How much a node may have under way on a connection; 4 MiB by default. */
  readonly roomOf?: RoomOf
}

/** The state of a network between two steps, as plain data. */
export interface NetworkMark {
  readonly hosts: readonly HostMark[]
  readonly connections: ConnectionsMark
  readonly datagrams: readonly DatagramMessage[]
  readonly streams: readonly StreamMark[]
  readonly ordinals: WayCountsMark
  readonly virtualNumbers: WayCountsMark
  /** Keys of the cut directions. */
  readonly cuts: readonly string[]
  /** The host that each name means. */
  readonly names: Readonly<Record<string, string>>
  readonly anomalies: Readonly<tcp.Anomalies>
  readonly ignored: Readonly<Ignored>
}

export class Network {
  readonly attachments: Attachments
  readonly kernels: Kernels
  readonly messages: HeldMessages
  readonly faults: NetworkFaults
  readonly names: ChangingNames
  readonly #connections: Connections
  readonly #datagrams: Datagrams
  readonly #virtualHosts: VirtualHosts
  readonly #reader: PacketReader
  readonly #cuts: Cuts
  readonly #ordinals: WayCounts
  readonly #anomalies: tcp.Anomalies

  /** @param mark of a network to continue, once its nodes are attached */
  constructor(
    {
      dissector = () => undefined,
      messageBytesMax = Number.POSITIVE_INFINITY,
      routersBetween = () => [],
      addressOf,
      names = {},
      roomOf = () => tcp.windowMax,
    }: NetworkOptions = {},
    mark?: NetworkMark,
  ) {
    this.#anomalies = { gaps: 0, retransmissions: 0, resent: 0, corrupt: 0, ...mark?.anomalies }
    this.#cuts = new Cuts(mark?.cuts)
    this.#ordinals = new WayCounts(mark?.ordinals)
    const hosts = new Hosts()
    const writer = new PacketWriter(hosts)
    this.#virtualHosts = new VirtualHosts(hosts, writer, mark?.virtualNumbers)
    const ends = { hosts, virtualHosts: this.#virtualHosts, writer }
    this.attachments = new Attachments(ends, this.#anomalies, mark?.hosts ?? [])
    const labelOf = messageLabels(address => hosts.at(address)?.name)
    const ordinals = this.#ordinals
    this.#connections = new Connections(hosts, ordinals, labelOf, dissector, messageBytesMax, roomOf, mark?.connections)
    this.#datagrams = new Datagrams(ordinals, labelOf, dissector, mark?.datagrams)
    for (const stream of mark?.streams ?? []) this.#virtualHosts.resume(stream)
    const held = { hosts, connections: this.#connections, datagrams: this.#datagrams, cuts: this.#cuts, writer }
    this.names = new ChangingNames(mark?.names ?? names)
    const ownAddressOf = addressOf ?? (name => hosts.find(name)?.address)
    const known = { ...held, routersBetween, names: this.names, addressOf: ownAddressOf }
    this.#reader = new PacketReader(known, this.#anomalies, mark?.ignored)
    this.kernels = new Kernels(hosts, this.attachments, this.#reader)
    this.messages = new HeldMessages({ ...held, labelOf })
    this.faults = new NetworkFaults(held)
  }

  /** Its whole state between two steps, except the nodes' links and what happens inside virtual hosts. */
  mark(): NetworkMark {
    return {
      hosts: this.attachments.mark(),
      connections: this.#connections.mark(),
      datagrams: [...this.#datagrams.held],
      streams: this.#virtualHosts.markStreams(),
      ordinals: this.#ordinals.mark(),
      virtualNumbers: this.#virtualHosts.numbers(),
      cuts: this.#cuts.keys(),
      names: this.names.all(),
      anomalies: { ...this.#anomalies },
      ignored: this.#reader.ignored(),
    }
  }

  /**
   * Ends a step after pumping and feeding until nothing was left: what each direction of each connection carried
   * becomes messages.
   */
  endStep(): void {
    this.#connections.endStep()
  }

  /** The connections that have ended since the last call: none of their messages will come. */
  connectionsOver(): readonly ConnectionNames[] {
    return this.#connections.takeOver()
  }

  /**
   * The states of all connections, without held messages: which are being opened or closed, what does not fit into a
   * window, which wait to be accepted. Equal for states with the same future.
   */
  connectionStates(): readonly string[] {
    return [...this.#connections.shown(), ...this.#virtualHosts.shown()]
  }

  /** Counts of what a faithful network would not do. An execution in which any is not 0 proves nothing. */
  anomalies(): Readonly<tcp.Anomalies> {
    return { ...this.#anomalies }
  }

  ignored(): Readonly<Ignored> {
    return this.#reader.ignored()
  }

  notCarried(): readonly NotCarried[] {
    return this.#reader.notCarried()
  }
}
