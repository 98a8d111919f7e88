import { formatAddress } from '../linux/address.ts'
import type { PacketLink } from '../linux/link.ts'
import type { PeersSee } from './endpoint.ts'
import { endpointsOf, type Host, type Hosts } from './hosts.ts'
import { Outbox } from './outbox.ts'
import type { PacketWriter } from './packet-writer.ts'
import type * as tcp from './tcp.ts'
import { UpHosts } from './up-hosts.ts'
import type { VirtualHost } from './virtual-host.ts'
import type { VirtualHosts } from './virtual-hosts.ts'

/** A host of a network, as plain data. */
export interface HostMark {
  readonly name: string
  readonly address: string
  readonly isVirtual: boolean
}

/** The hosts of a network, and which of them are attached. */
export class Attachments {
  readonly #hosts: Hosts
  readonly #virtualHosts: VirtualHosts
  readonly #writer: PacketWriter
  readonly #anomalies: tcp.Anomalies
  #up: UpHosts | undefined

  constructor(
    { hosts, virtualHosts, writer }: { hosts: Hosts; virtualHosts: VirtualHosts; writer: PacketWriter },
    anomalies: tcp.Anomalies,
    mark: readonly HostMark[],
  ) {
    this.#hosts = hosts
    this.#virtualHosts = virtualHosts
    this.#writer = writer
    this.#anomalies = anomalies
    for (const { name, address, isVirtual } of mark) this.#addHost(name, address, isVirtual)
  }

  mark(): HostMark[] {
    return [...this.#hosts.all()].map(({ name, address, onDatagram }) => ({
      name,
      address: formatAddress(address),
      isVirtual: onDatagram !== undefined,
    }))
  }

  /**
   * Attaches a new node, or one that was down and has a fresh kernel behind `link`. The network owns the link from then
   * on.
   *
   * @throws Error if the node is up, or its name or address belongs to another
   */
  attach(name: string, address: string, link: PacketLink): void {
    const host = this.#hosts.find(name) ?? this.#addHost(name, address, false)
    if (host.link !== undefined || host.onDatagram) throw new Error(`host ${name} is attached already`)
    if (formatAddress(host.address) !== address)
      throw new Error(`host ${name} was attached at ${formatAddress(host.address)}, it cannot be at ${address} now`)
    host.link = link
    this.#up = undefined
    host.outbox.clear()
  }

  /** Makes a node known that was never up. Messages to it wait until it is attached. */
  announce(name: string, address: string): void {
    this.#addHost(name, address, false)
  }

  /**
   * Removes a node with its kernel and closes its link. Messages that the host sent stay in flight. What is sent to it
   * waits until it is attached again.
   */
  detach(name: string, peersSee: PeersSee): void {
    this.release(name, peersSee).close()
  }

  /** Removes a node as `detach` does, but leaves its link open and returns it. */
  release(name: string, peersSee: PeersSee): PacketLink {
    const host = this.#hosts.getUp(name)
    const { link } = host
    ;(host as Host).link = undefined
    this.#up = undefined
    host.outbox.clear()
    const endpoints = endpointsOf(host)
    host.ends.clear()
    host.streams.clear()
    for (const endpoint of endpoints) endpoint.lose(peersSee)
    return link
  }

  /** Whether the node is attached. */
  isUp(name: string): boolean {
    return this.#hosts.get(name).link !== undefined
  }

  /** A host without a process. The host is added if it does not exist. */
  virtualHost(name: string, address: string): VirtualHost {
    const known = this.#hosts.find(name)
    // A host from a mark exists already.
    const isKnown = known?.onDatagram !== undefined && formatAddress(known.address) === address
    return this.#virtualHosts.describe(isKnown ? known : this.#addHost(name, address, true))
  }

  /**
   * Attaches a host without a process. The search takes what is sent to it and decides what it sends. It counts as up
   * and answers nothing by itself.
   */
  attachPlayed(name: string, address: string): void {
    this.attach(name, address, silent)
    this.#hosts.get(name).isPlayed = true
  }

  /** The attached hosts that may have sent something. */
  talking(): readonly Host[] {
    this.#up ??= new UpHosts(this.#hosts.all())
    return this.#up.talking()
  }

  #addHost(name: string, address: string, isVirtual: boolean): Host {
    const host: Host = this.#hosts.add(name, address, {
      link: undefined,
      outbox: new Outbox(),
      onDatagram: isVirtual ? datagram => this.#virtualHosts.receive(name, datagram) : undefined,
      anomalies: this.#anomalies,
      send: segment => this.#writer.segment(host, segment),
    })
    return host
  }
}

const silent: PacketLink = { read: () => 0, write: () => undefined, close: () => undefined }
