import { readFileSync } from 'node:fs'
import { parseAddress } from '../../linux/address.ts'
import { NetworkNamespace } from '../../linux/namespace.ts'
import { Netlink } from '../../linux/netlink.ts'
import { interfaceName } from '../../linux/tun.ts'
import type { ForwardedCounts } from './counters.ts'

export interface SwitchedHost {
  /** The namespace has a TUN device. */
  readonly namespace: NetworkNamespace
  readonly address: string
}

/** The name of the cable in a host. */
const cableName = 'eth1'
const switchName = 'switch'
const ethernetHeader = 14

/**
 * An Ethernet switch in the kernel with a cable to each host. Packets between hosts pass the switch instead of the TUN
 * devices.
 */
export class Switch {
  readonly #namespace = NetworkNamespace.create('native')
  readonly #hosts: readonly SwitchedHost[]

  /** @throws SystemError */
  constructor(hosts: readonly SwitchedHost[]) {
    this.#hosts = hosts
    this.#namespace.run(() => Netlink.use(netlink => connect(netlink, hosts)))
    const addresses = hosts.map(({ address }) => parseAddress(address))
    const bits = commonBits(addresses)
    for (const [index, { namespace }] of hosts.entries())
      namespace.run(() =>
        Netlink.use(netlink => {
          const cable = netlink.indexOf(cableName)
          netlink.setUp(cable)
          netlink.addRoute(cable, network(addresses[0]!, bits), bits, addresses[index]!)
        }),
      )
  }

  /** From now on, packets from one host to another take the TUN device, or the switch again. */
  divert(from: number, to: number, isDiverted: boolean): void {
    const { namespace, address } = this.#hosts[from]!
    const destination = parseAddress(this.#hosts[to]!.address)
    namespace.run(() =>
      Netlink.use(netlink => {
        const tun = netlink.indexOf(interfaceName)
        if (isDiverted) netlink.addRoute(tun, destination, 32, parseAddress(address))
        else netlink.removeRoute(tun, destination, 32)
      }),
    )
  }

  /** Sums over all hosts since the start. */
  get counts(): Pick<ForwardedCounts, 'forwarded' | 'bytes'> {
    const devices = this.#namespace.run(() => readFileSync('/proc/thread-self/net/dev', 'latin1'))
    const received = [...devices.matchAll(/^ *host\d+: *(\d+) +(\d+)/gm)]
    const forwarded = sum(received.map(([, , packets]) => Number(packets)))
    return { forwarded, bytes: sum(received.map(([, bytes]) => Number(bytes))) - ethernetHeader * forwarded }
  }

  close(): void {
    this.#namespace.close()
  }
}

const connect = (netlink: Netlink, hosts: readonly SwitchedHost[]): void => {
  netlink.addBridge(switchName)
  const bridge = netlink.indexOf(switchName)
  netlink.setUp(bridge)
  for (const [index, { namespace }] of hosts.entries()) {
    const port = `host${index}`
    netlink.addPair(port, bridge, { name: cableName, namespace: namespace.fd })
    netlink.setUp(netlink.indexOf(port))
  }
}

/** Number of leading bits that all of these addresses share. */
const commonBits = (addresses: readonly number[]): number =>
  Math.min(...addresses.map(address => Math.clz32(address ^ addresses[0]!)))

const network = (address: number, bits: number): number => address - (address % 2 ** (32 - bits))

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0)
