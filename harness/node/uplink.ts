import { KernelFile } from '../../linux/kernel-file.ts'
import type { PacketLink } from '../../linux/link.ts'
import { NetworkNamespace } from '../../linux/namespace.ts'
import { TcpTable } from '../../linux/tcp-table.ts'
import { openTun } from '../../linux/tun.ts'
import { encodeSegment, packetLengthMax, type Segment } from '../../proxy/packets/packet.ts'

/** Addresses and routes of the calling thread's network namespace. */
const routes = '/proc/thread-self/net/fib_trie'

/** The kernel's network of one node, with its only exit. It can serve one life after another. */
export class Uplink {
  readonly namespace: NetworkNamespace
  readonly link: PacketLink
  /** How many packets have passed in either direction. */
  #packets = 0
  readonly #tcp: TcpTable
  readonly #routes: KernelFile
  readonly #firstRoutes: string

  /**
   * @param address of the node
   * @param namespace with nothing in it but `lo`
   */
  constructor(address: string, namespace = NetworkNamespace.create()) {
    this.namespace = namespace
    try {
      this.link = this.#counted(openTun(this.namespace, address))
      this.#tcp = new TcpTable(namespace)
      this.#routes = namespace.run(() => new KernelFile(routes))
      this.#firstRoutes = this.#routes.read()
    } catch (error) {
      this.namespace.close()
      throw error
    }
  }

  get packets(): number {
    return this.#packets
  }

  #counted(link: PacketLink): PacketLink {
    return {
      descriptor: link.descriptor,
      read: into => {
        const length = link.read(into)
        if (length > 0) this.#packets += 1
        return length
      },
      write: (packet, length) => {
        this.#packets += 1
        link.write(packet, length)
      },
      hears: (destination, port) => link.hears?.(destination, port) === true,
      close: () => link.close(),
    }
  }

  /**
   * Ends connections and discards what waits to be read. Returns false if it cannot be made as new.
   *
   * @param kept inodes of sockets whose connections stay
   */
  clean(kept: ReadonlySet<number> = new Set()): boolean {
    const isClean =
      this.#tcp.endConnections(({ inode }) => !kept.has(inode)) && this.#routes.read() === this.#firstRoutes
    this.throwAway()
    return isClean
  }

  /** Discards what its kernel has sent and nobody has read. */
  throwAway(): void {
    while (this.link.read(thrownAway) > 0);
  }

  /** Tells the kernel what the other end of a connection sent. */
  say(segment: Segment): void {
    this.link.write(packet, encodeSegment(packet, segment))
  }

  close(): void {
    this.link.close()
    this.#tcp.close()
    this.#routes.close()
    this.namespace.close()
  }
}

const packet = Buffer.alloc(packetLengthMax)
const thrownAway = Buffer.alloc(1 << 16)
