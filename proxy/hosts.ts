import { formatAddress, parseAddress } from './address.ts'
import type { Endpoint } from './endpoint.ts'
import type { Link } from './link.ts'
import type { Outbox } from './outbox.ts'
import type { Wire } from './tcp.ts'
import type { ReceivedDatagram, VirtualSocket } from './virtual-host.ts'

export interface Host extends Wire {
  readonly name: string
  readonly address: number
  /** Counts hosts as they were added. */
  readonly order: number
  /** Undefined while the host is down, and for a virtual host. */
  link: Link | undefined
  /** Whether nothing runs on it, and somebody says what it sends. */
  isPlayed: boolean
  readonly outbox: Outbox
  /** What faces each connection that its kernel has with a node, by `endKey`. */
  readonly ends: Map<number, Endpoint>
  /** What faces each that its kernel has with a virtual host, by `endKey`. */
  readonly streams: Map<number, VirtualSocket>
  /** Where datagrams to a virtual host go; undefined for a node. */
  readonly onDatagram: ((datagram: ReceivedDatagram) => void) | undefined
}

/** Names a connection in a host's kernel: at most 2^53, for up to 2^21 hosts. */
export const endKey = (peer: Host, ownPort: number, peerPort: number): number =>
  (peer.order * 0x10000 + ownPort) * 0x10000 + peerPort

/** What faces each connection of the host's kernel. */
export const endpointsOf = ({ ends, streams }: Host): Endpoint[] => [...ends.values(), ...streams.values()]

/** What the router shows as source port; out of the way of the ports that services listen on. */
export const shownPorts = { first: 49_152, count: 16_384 }

/** The source port that the listener sees: by the connection's number, so that it is the same in every execution. */
export const freePort = (opener: Host, listener: Host, port: number, number: number): number => {
  for (let tried = 0; tried < shownPorts.count; tried++) {
    const shown = shownPorts.first + ((number - 1 + tried) % shownPorts.count)
    const key = endKey(opener, port, shown)
    if (!listener.ends.has(key) && !listener.streams.has(key)) return shown
  }
  throw new Error(
    `${opener.name} has ${shownPorts.count} connections to ${listener.name}:${port}; there can be no more`,
  )
}

/** All hosts of a network. A host keeps its name, its address and its place in the order for good. */
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
    this.#byAddress.set(numeric, host)
    return host
  }

  all(): Iterable<Host> {
    return this.#byName.values()
  }

  at(address: number): Host | undefined {
    return this.#byAddress.get(address)
  }

  find(name: string): Host | undefined {
    return this.#byName.get(name)
  }

  /** @throws Error that names the hosts there are */
  get(name: string): Host {
    const host = this.#byName.get(name)
    if (host === undefined) throw new Error(`no host ${name}; there are: ${[...this.#byName.keys()].join(', ')}`)
    return host
  }

  /** @throws Error if it is unknown, down or virtual */
  getUp(name: string): Host & { link: Link } {
    const host = this.get(name)
    if (host.link === undefined) throw new Error(`host ${name} is ${host.onDatagram ? 'virtual' : 'down'}`)
    return host as Host & { link: Link }
  }
}
