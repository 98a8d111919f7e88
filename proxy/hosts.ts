import { formatAddress, ipv6Of, parseAddress } from '../linux/address.ts'
import type { PacketLink } from '../linux/link.ts'
import type { Endpoint } from './endpoint.ts'
import type { Outbox } from './outbox.ts'
import type { Wire } from './tcp.ts'
import type { ReceivedDatagram, VirtualSocket } from './virtual-host.ts'

export interface Host extends Wire {
  readonly name: string
  readonly address: number
  /** Order in which hosts were added. */
  readonly order: number
  /** Undefined while the host is down, and for a virtual host. */
  link: PacketLink | undefined
  /** Whether no process runs on it and the search decides what it sends. */
  isPlayed: boolean
  readonly outbox: Outbox
  /** The counterparts of its kernel's connections with nodes, by `endKey`. */
  readonly ends: Map<number, Endpoint>
  /** The counterparts of its kernel's connections with virtual hosts, by `endKey`. */
  readonly streams: Map<number, VirtualSocket>
  /** Receives datagrams for a virtual host; undefined for a node. */
  readonly onDatagram: ((datagram: ReceivedDatagram) => void) | undefined
}

/** The key of a connection in a host's kernel: below 2^53 for up to 2^20 hosts. */
export const endKey = (peer: Host, ownPort: number, peerPort: number, isSix: boolean): number =>
  ((peer.order * 2 + Number(isSix)) * 0x10000 + ownPort) * 0x10000 + peerPort

/** The counterparts of all connections of the host's kernel. */
export const endpointsOf = ({ ends, streams }: Host): Endpoint[] => [...ends.values(), ...streams.values()]

/** Source ports that listeners see. They are outside of the range in which services listen. */
export const shownPorts = { first: 49_152, count: 16_384 }

/**
 * The source port that the listener sees. It follows from the connection's number, so it is the same in every
 * execution.
 */
export const freePort = (opener: Host, listener: Host, port: number, number: number): number => {
  for (let tried = 0; tried < shownPorts.count; tried++) {
    const shown = shownPorts.first + ((number - 1 + tried) % shownPorts.count)
    const keys = [false, true].map(isSix => endKey(opener, port, shown, isSix))
    if (!keys.some(key => listener.ends.has(key) || listener.streams.has(key))) return shown
  }
  throw new Error(
    `${opener.name} has ${shownPorts.count} connections to ${listener.name}:${port}; there can be no more`,
  )
}

/** All hosts of a network. A host's name, address and order never change. */
export class Hosts {
  readonly #byName = new Map<string, Host>()
  readonly #byAddress = new Map<number, Host>()

  /** @throws Error if the name or the address is taken */
  add(name: string, address: string, rest: Pick<Host, 'link' | 'outbox' | 'onDatagram' | 'anomalies' | 'send'>): Host {
    const numeric = parseAddress(address)
    const other = this.#byName.get(name) ?? this.#byAddress.get(numeric)
    if (other !== undefined)
      throw new Error(`cannot add host ${name} at ${address}: ${other.name} is at ${formatAddress(other.address)}`)
    const host: Host = {
      name,
      address: numeric,
      order: this.#byName.size,
      isPlayed: false,
      ends: new Map(),
      streams: new Map(),
      ...rest,
    }
    this.#byName.set(name, host)
    this.#byAddress.set(numeric, host).set(ipv6Of(numeric), host)
    return host
  }

  all(): Iterable<Host> {
    return this.#byName.values()
  }

  /** @param address of IPv4, or that of IPv6 which belongs to it */
  at(address: number): Host | undefined {
    return this.#byAddress.get(address)
  }

  find(name: string): Host | undefined {
    return this.#byName.get(name)
  }

  /** @throws Error that lists the existing hosts */
  get(name: string): Host {
    const host = this.#byName.get(name)
    if (host === undefined) throw new Error(`no host ${name}; there are: ${[...this.#byName.keys()].join(', ')}`)
    return host
  }

  /** @throws Error if it is unknown, down or virtual */
  getUp(name: string): Host & { link: PacketLink } {
    const host = this.get(name)
    if (host.link === undefined) throw new Error(`host ${name} is ${host.onDatagram ? 'virtual' : 'down'}`)
    return host as Host & { link: PacketLink }
  }
}
