import { isIPv4 } from 'node:net'

/**
 * Addresses are numbers. One of IPv4 is an unsigned 32-bit number. Each host has one of IPv6 as well, `fd77::` with the bits of
 * the other: as a number, 2^32 more. Then come groups of IPv6, and then all of its other addresses, by their last 32 bits.
 */
const family = { own: 2 ** 32, many: 2 ** 33, other: 2 ** 34 } as const

/** The beginning of the IPv6 addresses of hosts, which is private (RFC 4193). */
const prefix = Buffer.from('fd7700000000000000000000', 'hex')
/** ::ffff:0:0/96, by which an IPv6 socket speaks IPv4. */
const mapped = Buffer.from('00000000000000000000ffff', 'hex')

/** @throws Error naming what was found if it is not an IPv4 address */
export const parseAddress = (text: string): number => {
  if (!isIPv4(text)) throw new Error(`expected an IPv4 address like 10.0.0.1, found ${JSON.stringify(text)}`)
  return text.split('.').reduce((address, byte) => address * 256 + Number(byte), 0)
}

/** As people write it. */
export const formatAddress = (address: number): string =>
  isIpv6(address)
    ? `fd77::${((address / 0x10000) & 0xffff).toString(16)}:${(address & 0xffff).toString(16)}`
    : [address >>> 24, (address >>> 16) & 255, (address >>> 8) & 255, address & 255].join('.')

/** The IPv6 address of the host with an IPv4 address. */
export const ipv6Of = (address: number): number => family.own + address

export const isIpv6 = (address: number): boolean => address >= family.own

/** In the order of the network: 4 or 16 bytes. Only those of hosts can be had. */
export const bytesOfAddress = (address: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(address % family.own)
  return isIpv6(address) ? Buffer.concat([prefix, bytes]) : bytes
}

/** Reads 4 or 16 bytes. */
export const addressIn = (bytes: Buffer): number => {
  if (bytes.length === 4) return bytes.readUInt32BE()
  const last = bytes.readUInt32BE(12)
  const beginning = bytes.subarray(0, 12)
  if (beginning.equals(mapped)) return last
  return last + (beginning.equals(prefix) ? family.own : bytes[0] === 0xff ? family.many : family.other)
}

/** Whether an address is for many hosts: multicast (224.0.0.0/4, ff00::/8) or broadcast. */
export const isForMany = (address: number): boolean => isMulticast(address) || isBroadcast(address)

export const isMulticast = (address: number): boolean =>
  (address >= 0xe000_0000 && address < 0xf000_0000) || (address >= family.many && address < family.other)

/** 255.255.255.255, and what no network has. */
const isBroadcast = (address: number): boolean => address >= 0xf000_0000 && address < family.own
