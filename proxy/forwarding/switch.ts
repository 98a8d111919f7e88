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
  readonly #hosts: SwitchedHost[] = []
  /** Those of all hosts are in it. */
  readonly #network: { readonly address: number; readonly bits: number }

  /**
   * @param addresses of these hosts and of those that come later
   *
   * @throws SystemError
   */
  constructor(hosts: readonly SwitchedHost[], addresses: readonly string[]) {
    const all = addresses.map(parseAddress)
    const bits = commonBits(all)
    this.#network = { address: network(all[0]!, bits), bits }
    this.#namespace.run(() => Netlink.use(addSwitch))
    for (const host of hosts) this.add(host)
  }

  /** Lays a cable to one more host. */
  add(host: SwitchedHost): void {
    const { namespace, address } = host
    const port = `host${this.#hosts.push(host) - 1}`
    this.#namespace.run(() =>
      Netlink.use(netlink => {
        netlink.addPair(port, netlink.indexOf(switchName), { name: cableName, namespace: namespace.fd })
        netlink.setUp(netlink.indexOf(port))
      }),
    )
    namespace.run(() =>
      Netlink.use(netlink => {
        const cable = netlink.indexOf(cableName)
        netlink.setUp(cable)
        netlink.addRoute(cable, this.#network.address, this.#network.bits, parseAddress(address))
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

const addSwitch = (netlink: Netlink): void => {
  netlink.addBridge(switchName)
  netlink.setUp(netlink.indexOf(switchName))
}

/** Number of leading bits that all of these addresses share. */
const commonBits = (addresses: readonly number[]): number =>
  Math.min(...addresses.map(address => Math.clz32(address ^ addresses[0]!)))

const network = (address: number, bits: number): number => address - (address % 2 ** (32 - bits))

const sum = (numbers: readonly number[]): number => numbers.reduce((total, each) => total + each, 0)
