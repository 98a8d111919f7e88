/**
 * The processes of a service are named by where they listen, `HOST:PORT`: the name says how to reach one, and no two have
 * the same.
 */
import { isIPv4 } from 'node:net'

/** Splits an address into `{ host, port }`. Throws where it is none. */
export const endpoint = address => {
  const [host, port] = String(address).split(':')
  if (!isIPv4(host) || !(Number(port) > 0)) throw new Error(`expected an address as 10.0.0.1:7000, found ${address}`)
  return { host, port: Number(port) }
}

const number = address => {
  const { host, port } = endpoint(address)
  return host.split('.').reduce((sum, byte) => sum * 256 + Number(byte), 0) * 65536 + port
}

/** The order of addresses as numbers, for `sort`: below zero where `a` is the smaller one. */
export const byAddress = (a, b) => number(a) - number(b)
