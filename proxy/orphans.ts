import { existsSync, readFileSync } from 'node:fs'
import { check, close, recv, send, socket } from './libc.ts'
import type { NetworkNamespace } from './namespace.ts'

const AF_INET = 2
const AF_INET6 = 10
const AF_NETLINK = 16
const SOCK_RAW_CLOEXEC = 3 | 0o2000000
const NETLINK_SOCK_DIAG = 4
const SOCK_DESTROY = 21
const NLM_F_REQUEST_ACK = 0x01 | 0x04
const IPPROTO_TCP = 6
const listening = '0A'

const tables = [
  { name: 'tcp', family: AF_INET, addressLength: 4 },
  { name: 'tcp6', family: AF_INET6, addressLength: 16 },
] as const

/**
 * Ends every TCP connection of a namespace, closed ones that still wait for their peer among them; listeners stay. The
 * kernel may send resets.
 *
 * @param pid a process that lives in it
 * @returns false where this kernel cannot (sock_diag(7) without SOCK_DESTROY)
 */
export const endConnections = (namespace: NetworkNamespace, pid: number): boolean => {
  const requests = tables.flatMap(table => rowsOf(pid, table.name).map(row => destroyRequest(table, row)))
  if (requests.length === 0) return true
  return namespace.run(() => {
    const fd = check('socket(AF_NETLINK)', socket(AF_NETLINK, SOCK_RAW_CLOEXEC, NETLINK_SOCK_DIAG))
    try {
      return requests.every(request => destroy(fd, request))
    } finally {
      close(fd)
    }
  })
}

interface Row {
  readonly local: string
  readonly remote: string
}

/** `sl local_address rem_address st …`: addresses as the machine stores them, ports as numbers, both hexadecimal. */
const rowsOf = (pid: number, table: string): Row[] => {
  const path = `/proc/${pid}/net/${table}`
  if (!existsSync(path)) return []
  return readFileSync(path, 'latin1')
    .split('\n')
    .slice(1)
    .map(line => line.trim().split(/\s+/))
    .filter(fields => fields.length > 3 && fields[3] !== listening)
    .map(fields => ({ local: fields[1]!, remote: fields[2]! }))
}

/** struct inet_diag_req_v2 behind its header. */
const destroyRequest = ({ family, addressLength }: (typeof tables)[number], { local, remote }: Row): Buffer => {
  const message = Buffer.alloc(16 + 56)
  message.writeUInt32LE(message.length, 0)
  message.writeUInt16LE(SOCK_DESTROY, 4)
  message.writeUInt16LE(NLM_F_REQUEST_ACK, 6)
  message[16] = family
  message[17] = IPPROTO_TCP
  message.writeUInt32LE(0xffff_ffff, 20)
  for (const [index, end] of [local, remote].entries()) {
    const [address, port] = end.split(':') as [string, string]
    message.writeUInt16BE(Number.parseInt(port, 16), 24 + 2 * index)
    for (let word = 0; word < addressLength; word += 4)
      message.writeUInt32LE(Number.parseInt(address.slice(2 * word, 2 * word + 8), 16), 28 + 16 * index + word)
  }
  // No cookie: whatever has these addresses.
  message.fill(0xff, 64, 72)
  return message
}

const ENOENT = 2

/** It may have gone by itself meanwhile. */
const destroy = (fd: number, request: Buffer): boolean => {
  const answer = Buffer.alloc(4096)
  check('send', send(fd, request, request.length, 0))
  check('recv', recv(fd, answer, answer.length, 0))
  const error = -answer.readInt32LE(16)
  return error === 0 || error === ENOENT
}
