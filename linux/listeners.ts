import { addressIn, isIpv6, isMulticast } from './address.ts'
import { readKernelFile } from './kernel-file.ts'
import { addressOf, portOf, udpEntries } from './tcp-table.ts'

/**
 * Whether the calling thread's network namespace would take a datagram that is for many: a UDP socket has the port, and, for
 * a group, one has joined it on this interface. The kernel decides then for each socket.
 */
export const hears = (device: string, destination: number, port: number): boolean =>
  udpEntries('thread-self').some(({ local }) => portOf(local) === port && isOpenTo(addressOf(local), destination)) &&
  (!isMulticast(destination) || groupsOf(device, isIpv6(destination)).includes(destination))

/** Whether a socket with this address may get what is for many: it has none of its own, or that one. */
const isOpenTo = (own: number, destination: number): boolean => own === destination || anyAddresses.includes(own)

/** 0.0.0.0 and :: */
const anyAddresses = [0, addressIn(Buffer.alloc(16))]

const groupsOf = (device: string, isSix: boolean): number[] =>
  isSix
    ? groups6In(readKernelFile('/proc/thread-self/net/igmp6'), device)
    : groupsIn(readKernelFile('/proc/thread-self/net/igmp'), device)

/** `2 eth0 ff0200000000000000000000000000fb 1 00000004 0` */
const groups6In = (table: string, device: string): number[] =>
  table
    .split('\n')
    .map(line => line.trim().split(/\s+/))
    .filter(([, name]) => name === device)
    .map(([, , group]) => addressIn(Buffer.from(group!, 'hex')))

/** A line for each interface, `2 eth0 : 1 V3`, and after it one for each of its groups, in the machine's byte order: `FB0000E0 1 …` */
const groupsIn = (table: string, device: string): number[] => {
  const groups: number[] = []
  let isMeant = false
  for (const line of table.split('\n')) {
    if (/^\d/.test(line)) isMeant = line.split(/[\s:]+/)[1] === device
    else if (isMeant && line.trim() !== '') groups.push(Buffer.from(line.trim().slice(0, 8), 'hex').readUInt32LE())
  }
  return groups
}
