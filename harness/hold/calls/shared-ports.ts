import koffi from 'koffi'
import { socketOf, withDuplicate } from '../../../linux/descriptor.ts'
import { libc } from '../../../linux/libc.ts'
import { type SocketEntry, tcpEntries, tcpState, udpEntries } from '../../../linux/tcp-table.ts'
import type { HeldNode } from '../held/held-node.ts'
import { sharedPortOptions } from './system-calls.ts'

/**
 * SO_REUSEPORT: several sockets listen on one port. The kernel chooses among them by a hash that differs between
 * network namespaces. Instead it gets a program that chooses by the peer's address and port, which follow from the
 * schedule.
 */

const SOL_SOCKET = 1

/** Instructions of classic BPF: code, jt, jf, k. */
type Instruction = readonly [code: number, jt: number, jf: number, k: number]
const [loadHalf, loadWord, toIndex, addIndex, modulo, returnResult] = [0x28, 0x20, 0x07, 0x0c, 0x94, 0x16]
/** SKF_NET_OFF: from the header of IPv4 on, which has 20 bytes here. */
const fromHeader = (offset: number) => -0x10_0000 + offset
const [peerAddress, peerPort] = [fromHeader(12), fromHeader(20)]

/** A program that returns the index of a socket, below `count`. */
const chooser = (count: number): Buffer => {
  const instructions: readonly Instruction[] = [
    [loadHalf, 0, 0, peerPort],
    [toIndex, 0, 0, 0],
    [loadWord, 0, 0, peerAddress],
    [addIndex, 0, 0, 0],
    [modulo, 0, 0, count],
    [returnResult, 0, 0, 0],
  ]
  const bytes = Buffer.alloc(instructions.length * 8)
  for (const [index, [code, jt, jf, k]] of instructions.entries()) {
    bytes.writeUInt16LE(code, index * 8)
    bytes.writeUInt8(jt, index * 8 + 2)
    bytes.writeUInt8(jf, index * 8 + 3)
    bytes.writeInt32LE(k, index * 8 + 4)
  }
  return bytes
}

const Program = koffi.struct({ length: 'uint16_t', instructions: 'void *' })
const attach = libc.func('setsockopt', 'int', ['int', 'int', 'int', koffi.pointer(Program), 'unsigned int'])

/** Call it when the node rests, so that the next packet for a shared port finds the same socket in every execution. */
export const watchSharedPorts = (node: HeldNode): void => {
  if (!node.sharesPorts) return
  const groups = groupsOf(node.pid)
  const seen = groups.map(group => group.map(({ inode }) => inode)).join(' ')
  if (seen === node.sharedPorts) return
  node.sharedPorts = seen
  for (const group of groups) choose(node, group)
}

/**
 * Sockets that share a port, at least two each. UDP sockets that share by SO_REUSEADDR are left out, because the last
 * one gets everything.
 */
const groupsOf = (pid: number): SocketEntry[][] => {
  const groups = new Map<string, SocketEntry[]>()
  const add = (kind: string, entry: SocketEntry) => {
    const key = `${kind} ${entry.family} ${entry.local}`
    groups.set(key, [...(groups.get(key) ?? []), entry])
  }
  for (const entry of tcpEntries(pid)) if (entry.state === tcpState.listen) add('tcp', entry)
  for (const entry of udpEntries(pid)) if (entry.state === tcpState.closed) add('udp', entry)
  return [...groups.values()].filter(group => group.length > 1)
}

/** Sets the program through any of the sockets, because they share it. */
const choose = (node: HeldNode, group: readonly SocketEntry[]): void => {
  const inodes = group.map(({ inode }) => inode)
  const program = { length: chooser(1).length / 8, instructions: chooser(group.length) }
  for (const { pid } of node.processes.values()) {
    const fd = socketOf(pid, inodes)
    if (fd === undefined) continue
    withDuplicate(pid, fd, own =>
      attach(own, SOL_SOCKET, sharedPortOptions.attachProgram, program, koffi.sizeof(Program)),
    )
    return
  }
}
