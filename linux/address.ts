import { isIPv4 } from 'node:net'

/** @throws Error naming what was found if it is not an IPv4 address */
export const parseAddress = (text: string): number => {
  if (!isIPv4(text)) throw new Error(`expected an IPv4 address like 10.0.0.1, found ${JSON.stringify(text)}`)
  return text.split('.').reduce((address, byte) => address * 256 + Number(byte), 0)
}

export const formatAddress = (address: number): string =>
  [address >>> 24, (address >>> 16) & 255, (address >>> 8) & 255, address & 255].join('.')

/** Whether an address is for many hosts: multicast (224.0.0.0/4) or broadcast. */
export const isForMany = (address: number): boolean => address >= 0xe000_0000

/** 224.0.0.0/4 */
export const isMulticast = (address: number): boolean => address >= 0xe000_0000 && address < 0xf000_0000
