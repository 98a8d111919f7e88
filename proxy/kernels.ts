import { isIpv6 } from '../linux/address.ts'
import type { Attachments } from './attachments.ts'
import { endKey, endpointsOf, type Host, type Hosts } from './hosts.ts'
import type { PacketReader } from './packet-reader.ts'
import * as tcp from './tcp.ts'

/** The packets that go between a network and the kernels of its nodes. */
export class Kernels {
  readonly #hosts: Hosts
  readonly #attachments: Attachments
  readonly #reader: PacketReader

  constructor(hosts: Hosts, attachments: Attachments, reader: PacketReader) {
    this.#hosts = hosts
    this.#attachments = attachments
    this.#reader = reader
  }

  /** Handles the packets that all nodes, or these, have sent. Returns false if there were none. */
  pump(names?: readonly string[]): boolean {
    let any = false
    for (const host of names ? this.#those(names) : this.#attachments.talking()) {
      if (this.#reader.drain(host)) any = true
    }
    return any
  }

  /**
   * Call when these nodes, or all, rest: each that has packets waiting gets the next one. Returns false if there was
   * none.
   */
  feed(names?: readonly string[]): boolean {
    let any = false
    for (const { outbox } of this.#those(names)) {
      if (outbox.sendNext()) any = true
    }
    return any
  }

  /** Call when these nodes rest and nothing waits for them: the next packet then enters at once. */
  rest(names: readonly string[]): void {
    for (const { outbox } of this.#those(names)) outbox.rest()
  }

  /** Whether something entered a node since it was last reported to rest. */
  isRestless(name: string): boolean {
    const { link, outbox } = this.#hosts.get(name)
    return link !== undefined && outbox.isRestless
  }

  /** Call after the nodes of a mark, with restored kernels, were attached. */
  goOn(): void {
    for (const host of this.#hosts.all())
      for (const { side } of endpointsOf(host)) if (side && host.link) tcp.offerAgain(side, host)
  }

  /** The present counterpart of a connection of a node's kernel; undefined if there is none. */
  facing(name: string, port: number, peer: number, peerPort: number): tcp.Side | undefined {
    const host = this.#hosts.at(peer)
    if (host === undefined) return undefined
    const { ends, streams } = this.#hosts.get(name)
    const side = (host.onDatagram ? streams : ends).get(endKey(host, port, peerPort, isIpv6(peer)))?.side
    return side && tcp.copySide(side)
  }

  #those(names: readonly string[] | undefined): Iterable<Host> {
    return names === undefined ? this.#hosts.all() : names.map(name => this.#hosts.get(name))
  }
}
