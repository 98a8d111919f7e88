import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { NetworkNamespace } from '../linux/namespace.ts'

/**
 * Two namespaces, and a third between them whose kernel forwards packets from one veth device to another: those to the first
 * by `veth0`, to the second by `veth1`.
 */
export const throughKernel = (addresses: readonly [string, string], kind: 'held' | 'native') => {
  const namespaces = [NetworkNamespace.create(kind), NetworkNamespace.create(kind)] as const
  const forwarder = NetworkNamespace.create(kind)
  forwarder.run(() => writeFileSync('/proc/sys/net/ipv4/ip_forward', '1'))
  for (const [index, end] of namespaces.entries()) {
    const device = `veth${index}`
    const address = addresses[index]!
    const router = address.replace(/\d+$/, '1')
    const ip = (namespace: NetworkNamespace, command: string) =>
      namespace.run(() => execFileSync('ip', command.split(' ')))
    ip(forwarder, `link add ${device} type veth peer name eth0 netns /proc/${process.pid}/fd/${end.fd}`)
    ip(forwarder, `addr add ${router}/24 dev ${device}`)
    ip(forwarder, `link set ${device} up`)
    ip(end, `addr add ${address}/24 dev eth0`)
    ip(end, 'link set eth0 up')
    ip(end, `route add default via ${router}`)
  }
  return {
    namespaces,
    forwarder,
    close: () => {
      for (const namespace of [...namespaces, forwarder]) namespace.close()
    },
  }
}
