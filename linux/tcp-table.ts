import { existsSync } from 'node:fs'
import { addressIn, ipv6Of, parseAddress } from './address.ts'
import { KernelFile, readKernelFile } from './kernel-file.ts'
import { AF_INET, AF_INET6, errno } from './libc.ts'
import type { NetworkNamespace } from './namespace.ts'
import { Netlink } from './netlink.ts'

const NETLINK_SOCK_DIAG = 4
const SOCK_DESTROY = 21
const IPPROTO_TCP = 6

/** States of connections, as the kernel numbers them. */
export const tcpState = { synSent: 2, finWait2: 5, timeWait: 6, closed: 7, listen: 10 } as const

/** A kernel's connection, listener or UDP socket. */
export interface SocketEntry {
  readonly family: number
  readonly state: number
  /** In the machine's byte order, hexadecimal, with the port: `0100007F:1F90`. */
  readonly local: string
  readonly remote: string
  /** Inode of its socket, as in `socket:[inode]`; 0 if no process has it any more. */
  readonly inode: number
}

/** The TCP sockets of a namespace, which its open files keep. */
export class TcpTable {
  readonly #namespace: NetworkNamespace
  readonly #files: readonly { readonly file: KernelFile; readonly family: number }[]

  constructor(namespace: NetworkNamespace) {
    this.#namespace = namespace
    this.#files = namespace.run(() =>
      filesOf('thread-self', 'tcp')
        .filter(({ path }) => existsSync(path))
        .map(({ path, family }) => ({ file: new KernelFile(path), family })),
    )
  }

  /**
   * Ends every TCP connection of the namespace, including closed ones that still wait for their peer. Listeners stay.
   * The kernel may send resets.
   *
   * @param isMeant selects the connections; all by default
   *
   * @returns false if this kernel cannot do it (sock_diag(7) without SOCK_DESTROY)
   */
  endConnections(isMeant: (entry: SocketEntry) => boolean = () => true): boolean {
    const entries = this.#files.flatMap(({ file, family }) => entriesIn(file.read(), family))
    const connections = entries.filter(entry => entry.state !== tcpState.listen && isMeant(entry))
    if (connections.length === 0) return true
    return this.#namespace.run(() =>
      Netlink.use(netlink => connections.every(connection => destroy(netlink, connection)), NETLINK_SOCK_DIAG),
    )
  }

  close(): void {
    for (const { file } of this.#files) file.close()
  }
}

/** The same for a namespace whose connections are ended once. */
export const endConnections = (namespace: NetworkNamespace, isMeant: (entry: SocketEntry) => boolean): boolean => {
  const table = new TcpTable(namespace)
  try {
    return table.endConnections(isMeant)
  } finally {
    table.close()
  }
}

/** Matches entries with this address as their peer. */
export const hasPeer =
  (peer: string) =>
  ({ remote }: SocketEntry): boolean =>
    [parseAddress(peer), ipv6Of(parseAddress(peer))].includes(addressOf(remote))

/** The TCP sockets of a process's network namespace, or of the calling thread's. */
export const tcpEntries = (owner: number | 'thread-self'): SocketEntry[] => entriesOf(owner, 'tcp')

/** The same for UDP. Sockets without a peer are `closed`. */
export const udpEntries = (owner: number | 'thread-self'): SocketEntry[] => entriesOf(owner, 'udp')

const entriesOf = (owner: number | 'thread-self', protocol: 'tcp' | 'udp'): SocketEntry[] =>
  filesOf(owner, protocol).flatMap(({ path, family }) =>
    existsSync(path) ? entriesIn(readKernelFile(path), family) : [],
  )

/** A kernel without IPv6 lacks the second. */
const filesOf = (owner: number | 'thread-self', protocol: 'tcp' | 'udp') => [
  { path: `/proc/${owner}/net/${protocol}`, family: AF_INET },
  { path: `/proc/${owner}/net/${protocol}6`, family: AF_INET6 },
]

/** `sl local_address rem_address st queues timer retransmits uid timeout inode …` */
const entriesIn = (table: string, family: number): SocketEntry[] =>
  table
    .split('\n')
    .slice(1)
    .map(line => line.trim().split(/\s+/))
    .filter(fields => fields.length > 9)
    .map(fields => ({
      family,
      local: fields[1]!,
      remote: fields[2]!,
      state: Number.parseInt(fields[3]!, 16),
      inode: Number(fields[9]),
    }))

/** A struct sockaddr of one end. */
export const socketAddressOf = (family: number, end: string): Buffer => socketAddress(family, ...partsOf(end))

/** A struct sockaddr. */
export const socketAddress = (family: number, address: Buffer, port: number): Buffer => {
  const bytes = Buffer.alloc(family === AF_INET ? 16 : 28)
  bytes.writeUInt16LE(family, 0)
  bytes.writeUInt16BE(port, 2)
  address.copy(bytes, family === AF_INET ? 4 : 8)
  return bytes
}

/** The port of an end. */
export const portOf = (end: string): number => partsOf(end)[1]

/** The address of an end. */
export const addressOf = (end: string): number => addressIn(partsOf(end)[0])

/** Addresses are printed as words in the machine's byte order. */
const partsOf = (end: string): [address: Buffer, port: number] => {
  const [address, port] = end.split(':') as [string, string]
  return [Buffer.from(address, 'hex').swap32(), Number.parseInt(port, 16)]
}

/** struct inet_diag_req_v2 */
const diagRequest = ({ family, local, remote }: SocketEntry): Buffer => {
  const request = Buffer.alloc(56)
  request[0] = family
  request[1] = IPPROTO_TCP
  request.writeUInt32LE(0xffff_ffff, 4)
  for (const [index, end] of [local, remote].entries()) {
    const [address, port] = partsOf(end)
    request.writeUInt16BE(port, 8 + 2 * index)
    address.copy(request, 12 + 16 * index)
  }
  // No cookie: matches whatever has these addresses.
  request.fill(0xff, 48, 56)
  return request
}

/** The connection may have disappeared by itself. */
const destroy = (netlink: Netlink, connection: SocketEntry): boolean => {
  const error = netlink.exchange('end the connection', SOCK_DESTROY, 0, [diagRequest(connection)])
  return error === 0 || error === errno.ENOENT
}
