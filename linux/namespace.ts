import { closeSync, openSync, writeFileSync } from 'node:fs'
import { CLONE_NEWNET, requireSuccess, setns, unshare } from './libc.ts'
import { Netlink } from './netlink.ts'

/** The network namespace of the calling thread, not of the process's first thread. */
const current = '/proc/thread-self/ns/net'

/** Settings in which every node's kernel differs from the default. */
const native: Readonly<Record<string, string>> = {
  'ipv6/conf/all/disable_ipv6': '1',
  'ipv6/conf/default/disable_ipv6': '1',
  // For ::1 only.
  'ipv6/conf/lo/disable_ipv6': '0',
  // One connection must not affect the next.
  'ipv4/tcp_no_metrics_save': '1',
  // Answers may arrive through another interface than the one that requests use.
  'ipv4/conf/all/rp_filter': '0',
  'ipv4/conf/default/rp_filter': '0',
  // Every datagram for a closed port is answered, without a limit for each second.
  'ipv4/icmp_ratelimit': '0',
  'ipv4/icmp_ratemask': '0',
  // An emulated internet may have ways of more than 64 routers, each of which lowers the time to live.
  'ipv4/ip_default_ttl': '255',
  // Any user may listen on low ports, as in a container.
  'ipv4/ip_unprivileged_port_start': '0',
}

/** Bytes that the kernel of a paced namespace buffers for each connection. Fewer would cut a common write into more parts. */
export const pacedSendBuffer = 32_768

/** Range from which the kernel chooses ports, inclusive. */
export const chosenPorts = [49_152, 65_535] as const

/**
 * Settings for a node whose peers answer only when a choice says so. Its TCP timers run in real time. Without these
 * settings they would act while a message is held.
 */
const held: Readonly<Record<string, string>> = {
  ...native,
  'ipv6/conf/all/disable_ipv6': '0',
  'ipv6/conf/default/disable_ipv6': '0',
  // No address that follows from the device, and no router is looked for: both would be asked for at random times.
  'ipv6/conf/default/addr_gen_mode': '1',
  'ipv6/conf/default/accept_ra': '0',
  'ipv6/conf/default/router_solicitations': '0',
  // Every datagram for a closed port is answered.
  'ipv6/icmp/ratelimit': '0',
  // A requested connection may be held for any time, so the kernel must keep asking. It asks each second for two
  // minutes, because otherwise it would not give up when told to (harness/hold/rest/unanswered.ts). The sum of both must fit
  // into a byte.
  'ipv4/tcp_syn_retries': '127',
  'ipv4/tcp_syn_linear_timeouts': '120',
  'ipv4/tcp_synack_retries': '127',
  'ipv4/tcp_fin_timeout': '100000',
  // A SYN cookie would lose the window scale.
  'ipv4/tcp_syncookies': '0',
  'ipv4/tcp_max_syn_backlog': '65535',
  // Reno sends by what was acknowledged. CUBIC and BBR measure time, which is not held in the kernel.
  'ipv4/tcp_congestion_control': 'reno',
  'ipv4/tcp_slow_start_after_idle': '0',
  // No peer has timestamps. A connection that is restored (harness/rewind) would leave room for them in each segment.
  'ipv4/tcp_timestamps': '0',
  // Otherwise receive buffers would grow with the speed at which a program reads.
  'ipv4/tcp_moderate_rcvbuf': '0',
  // The range known to `isEphemeral`. It is registered for this use, so no service is expected there.
  'ipv4/ip_local_port_range': chosenPorts.join(' '),
}

/**
 * The same where time passes while bytes are sent. Its own buffers are small, because the model of its connections says how much
 * a sender may have under way (harness/timed/flow.ts).
 */
const paced: Readonly<Record<string, string>> = {
  ...held,
  'ipv4/tcp_wmem': `4096 ${pacedSendBuffer} ${pacedSendBuffer}`,
}

/**
 * The same where a connection holds little, so that a slow reader makes its writer wait. The kernel takes no less than some 4 KiB to
 * send. What it keeps for a reader is what its window allows, half of this.
 */
const narrow: Readonly<Record<string, string>> = {
  ...held,
  'ipv4/tcp_wmem': '4096 4096 4096',
  'ipv4/tcp_rmem': '4096 16384 16384',
}

const settingsOf = { held, paced, narrow, native }
export type NetworkKind = keyof typeof settingsOf

/**
 * Gives a namespace made from here a connection table of its own, and a small one: listing its listeners then takes
 * 0.02 ms instead of 0.2.
 */
const inherited: Readonly<Record<string, string>> = { 'ipv4/tcp_child_ehash_entries': '1024' }

/**
 * A network namespace that contains only `lo`. Only a descriptor holds it, so it disappears once that is closed and no
 * process lives in it any more, even if this process is killed.
 */
export class NetworkNamespace {
  /** The namespace from which all others are made. It lives as long as this process. */
  static #parent: NetworkNamespace | undefined

  /** The descriptor that holds it: for `setns`, or as the path `/proc/self/fd/N`. */
  readonly fd: number

  private constructor(fd: number) {
    this.fd = fd
  }

  /**
   * Makes a namespace, which takes about 2 ms. In a `held` one, TCP waits for peers that answer only when a choice says
   * so; in a `paced` one, until it is due; in a `narrow` one, besides, for readers. The caller's user namespace must own its network namespace, as it does for root, and for anybody after `unshare
   * --user --map-root-user --net`.
   *
   * @throws SystemError `unshare: EPERM (operation not permitted)`
   */
  static create(kind: NetworkKind = 'held'): NetworkNamespace {
    NetworkNamespace.#parent ??= NetworkNamespace.#make(inherited)
    return NetworkNamespace.#parent.run(() => NetworkNamespace.#make(settingsOf[kind]))
  }

  /**
   * The namespace of a process that has not used it yet, after applying our settings.
   *
   * @throws SystemError
   */
  static of(pid: number, kind: NetworkKind = 'held'): NetworkNamespace {
    const namespace = new NetworkNamespace(openSync(`/proc/${pid}/ns/net`, 'r'))
    namespace.run(() => configure(settingsOf[kind]))
    return namespace
  }

  static #make(settings: Readonly<Record<string, string>>): NetworkNamespace {
    return comingBack(() => {
      requireSuccess('unshare(CLONE_NEWNET)', unshare(CLONE_NEWNET))
      configure(settings)
      return new NetworkNamespace(openSync(current, 'r'))
    })
  }

  /**
   * Runs a synchronous function with this thread inside the namespace. Sockets that it opens and processes that it
   * spawns stay there. It must not be the first to use Node's thread pool, since the pool's threads would stay there
   * too.
   */
  run<T>(inside: () => T): T {
    return comingBack(() => {
      requireSuccess('setns', setns(this.fd, CLONE_NEWNET))
      return inside()
    })
  }

  close(): void {
    closeSync(this.fd)
  }
}

/** Runs a function and returns the thread to its network namespace. */
const comingBack = <T>(away: () => T): T => {
  const home = openSync(current, 'r')
  try {
    // A thread that may not enter its own namespace could not return to it. Fail before anything happens.
    requireSuccess('setns to the present network namespace', setns(home, CLONE_NEWNET))
    try {
      return away()
    } finally {
      requireSuccess('setns', setns(home, CLONE_NEWNET))
    }
  } finally {
    closeSync(home)
  }
}

const configure = (settings: Readonly<Record<string, string>>) => {
  for (const [name, value] of Object.entries(settings)) setSysctl(name, value)
  setLoopbackUp()
}

const setLoopbackUp = () => Netlink.use(netlink => netlink.setUp(netlink.indexOf('lo')))

/** A setting that this kernel lacks (older ones lack some) needs no value. */
const setSysctl = (name: string, value: string) => {
  try {
    // /proc/sys/net shows the namespace of the thread that opens it.
    writeFileSync(`/proc/sys/net/${name}`, value)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}
