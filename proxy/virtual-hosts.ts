import { formatAddress, ipv6Of, isIpv6 } from '../linux/address.ts'
import { endKey, freePort, type Host, type Hosts, shownPorts } from './hosts.ts'
import type { PacketWriter } from './packet-writer.ts'
import * as tcp from './tcp.ts'
import { type ReceivedDatagram, type VirtualHost, VirtualSocket } from './virtual-host.ts'
import { WayCounts, type WayCountsMark } from './way.ts'

/** A connection of a virtual host. */
export interface StreamMark {
  readonly node: string
  /** Address of the virtual host. */
  readonly peer: number
  readonly side: tcp.Side
  readonly isDestroyed: boolean
}

/** What virtual hosts have with nodes: nothing of it is held. */
export class VirtualHosts {
  readonly #hosts: Hosts
  readonly #writer: PacketWriter
  readonly #numbers: WayCounts
  readonly #listeners = new Map<string, (datagram: ReceivedDatagram) => void>()

  constructor(hosts: Hosts, writer: PacketWriter, numbers?: WayCountsMark) {
    this.#hosts = hosts
    this.#writer = writer
    this.#numbers = new WayCounts(numbers)
  }

  numbers(): WayCountsMark {
    return this.#numbers.mark()
  }

  /** A datagram came for the virtual host of this name. */
  receive(name: string, datagram: ReceivedDatagram): void {
    this.#listeners.get(name)?.(datagram)
  }

  /** What a virtual host of the network is for those who speak from it. */
  describe(host: Host): VirtualHost {
    const { name, address } = host
    return {
      name,
      address: formatAddress(address),
      connect: (to, port) => this.#connect(host, this.#hosts.getUp(to), port),
      streams: () =>
        this.#all().flatMap(({ node, socket }) =>
          [address, ipv6Of(address)].includes(socket.side.peer) ? [{ host: node.name, socket }] : [],
        ),
      sendUdp: (to, port, bytes, sourcePort = shownPorts.first) =>
        this.#writer.datagram(host, this.#hosts.getUp(to), { sourcePort, destinationPort: port, bytes }),
      onDatagram: listener => this.#listeners.set(name, listener),
    }
  }

  markStreams(): StreamMark[] {
    return this.#all().map(({ node, socket: { side, destroyed } }) => ({
      node: node.name,
      peer: side.peer,
      side: tcp.copySide(side),
      isDestroyed: destroyed,
    }))
  }

  resume({ node, peer, side, isDestroyed }: StreamMark): void {
    const socket = this.#add(this.#hosts.at(peer)!, this.#hosts.get(node), tcp.copySide(side))
    // Its node may go down before anybody has it: nobody waits for an answer then.
    socket.on('error', () => {})
    if (isDestroyed) socket.destroy()
  }

  /** Connections of clients and observers, which may be kept for their next request. */
  shown(): string[] {
    return this.#all().map(
      ({ node, socket: { side } }) => `client→${node.name} :${side.nodePort} ${tcp.describeSide(side)}`,
    )
  }

  #connect(virtual: Host, node: Host, port: number): VirtualSocket {
    const number = this.#numbers.next([virtual.name, node.name])
    const shownPort = freePort(virtual, node, port, number)
    const ports = { nodePort: port, peerPort: shownPort }
    const addresses = { node: node.address, peer: virtual.address }
    const socket = this.#add(virtual, node, tcp.ask({ ...ports, ...addresses }, number, node))
    // As a program that knows both addresses would: a server may listen on IPv6 alone.
    socket.askOtherwise = () => {
      node.streams.delete(endKey(virtual, port, shownPort, false))
      node.streams.set(endKey(virtual, port, shownPort, true), socket)
      return tcp.ask({ ...ports, node: ipv6Of(node.address), peer: ipv6Of(virtual.address) }, number, node)
    }
    return socket
  }

  #add(virtual: Host, node: Host, side: tcp.Side): VirtualSocket {
    const socket = new VirtualSocket(side, node)
    node.streams.set(endKey(virtual, side.nodePort, side.peerPort, isIpv6(side.peer)), socket)
    return socket
  }

  #all(): { readonly node: Host; readonly socket: VirtualSocket }[] {
    return [...this.#hosts.all()].flatMap(node => [...node.streams.values()].map(socket => ({ node, socket })))
  }
}
