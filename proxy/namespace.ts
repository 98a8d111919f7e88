import { closeSync, openSync, writeFileSync } from 'node:fs'
import { CLONE_NEWNET, check, setns, unshare } from './libc.ts'
import { Netlink } from './netlink.ts'

/** The network namespace of the calling thread, not of the process's first thread. */
const current = '/proc/thread-self/ns/net'

/** What any node's kernel does differently. */
const native: Readonly<Record<string, string>> = {
  'ipv6/conf/all/disable_ipv6': '1',
  'ipv6/conf/default/disable_ipv6': '1',
  // Only ::1.
  'ipv6/conf/lo/disable_ipv6': '0',
  // Nothing learned from one connection may change the next.
  'ipv4/tcp_no_metrics_save': '1',
  // Answers may come in where nothing goes out.
  'ipv4/conf/all/rp_filter': '0',
  'ipv4/conf/default/rp_filter': '0',
  // Every datagram for a port that nobody has is answered, not so many in a second.
  'ipv4/icmp_ratelimit': '0',
  'ipv4/icmp_ratemask': '0',
  // Any user may listen on low ports, as in a container.
  'ipv4/ip_unprivileged_port_start': '0',
}

/** What the kernel chooses ports from, the last included. */
export const chosenPorts = [49_152, 65_535] as const

/**
 * What one must do differently because its peers answer only when a choice says so. Its TCP timers run on
 * real time; without these they would act while a message is held.
 */
const held: Readonly<Record<string, string>> = {
  ...native,
  // A connection that is asked for may be held for any time: go on asking. It is asked again each second for two minutes, as
  // only then the kernel gives up where it is told to (harness/hold/unanswered.ts); the sum of the two fits into a byte.
  'ipv4/tcp_syn_retries': '127',
  'ipv4/tcp_syn_linear_timeouts': '120',
  'ipv4/tcp_synack_retries': '127',
  'ipv4/tcp_fin_timeout': '100000',
  // A cookie would forget the window scale.
  'ipv4/tcp_syncookies': '0',
  'ipv4/tcp_max_syn_backlog': '65535',
  // How much it sends at once follows from what was acknowledged, and from no time that passed: CUBIC and BBR measure that.
  'ipv4/tcp_congestion_control': 'reno',
  'ipv4/tcp_slow_start_after_idle': '0',
  // No peer has them; a connection that is made again (harness/rewind) would leave room for them in each segment.
  'ipv4/tcp_timestamps': '0',
  // Receive buffers would grow by how fast a program reads.
  'ipv4/tcp_moderate_rcvbuf': '0',
  // The range that `isEphemeral` knows: the one that is registered for it, where no service is looked for.
  'ipv4/ip_local_port_range': chosenPorts.join(' '),
}

const settingsOf = { held, native }
type Kind = keyof typeof settingsOf

/**
 * Gives a namespace made from here a table of connections of its own, and a small one: to ask what listens in it takes
 * 0.02 ms instead of 0.2.
 */
const inherited: Readonly<Record<string, string>> = { 'ipv4/tcp_child_ehash_entries': '1024' }

/**
 * A network namespace with nothing in it but `lo`. It is held by a descriptor alone: it goes when it is closed and no
 * process lives in it any more, also if this process is killed.
 */
export class NetworkNamespace {
  /** What all others are made from; it lives as long as this process. */
  static #parent: NetworkNamespace | undefined

  /** The descriptor that holds it; for `setns`, and for `/proc/self/fd/N` as a path. */
  readonly fd: number

  private constructor(fd: number) {
    this.fd = fd
  }

  /**
   * Makes a namespace; takes about 2 ms. In a `held` one TCP waits for peers that answer only when a choice says so. The user namespace of the caller must own the network namespace that it is in,
   * as it does for root, and after `unshare --user --map-root-user --net` for everybody.
   *
   * @throws SystemError `unshare: EPERM (operation not permitted)`
   */
  static create(kind: Kind = 'held'): NetworkNamespace {
    NetworkNamespace.#parent ??= NetworkNamespace.#make(inherited)
    return NetworkNamespace.#parent.run(() => NetworkNamespace.#make(settingsOf[kind]))
  }

  /**
   * That of a process which has not yet begun to use it, made ours by its settings.
   *
   * @throws SystemError
   */
  static of(pid: number, kind: Kind = 'held'): NetworkNamespace {
    const namespace = new NetworkNamespace(openSync(`/proc/${pid}/ns/net`, 'r'))
    namespace.run(() => configure(settingsOf[kind]))
    return namespace
  }

  static #make(settings: Readonly<Record<string, string>>): NetworkNamespace {
    return comingBack(() => {
      check('unshare(CLONE_NEWNET)', unshare(CLONE_NEWNET))
      configure(settings)
      return new NetworkNamespace(openSync(current, 'r'))
    })
  }

  /**
   * Runs a synchronous function with this thread inside the namespace. Sockets it opens and processes it spawns stay
   * there. It must not be the first to use Node's thread pool: the pool's threads would stay there too.
   */
  run<T>(inside: () => T): T {
    return comingBack(() => {
      check('setns', setns(this.fd, CLONE_NEWNET))
      return inside()
    })
  }

  close(): void {
    closeSync(this.fd)
  }
}

/** Runs a function, and brings the thread back to the network namespace that it was in. */
const comingBack = <T>(away: () => T): T => {
  const home = openSync(current, 'r')
  try {
    // Whoever may not enter the namespace that he is in could not come back to it: refused before anything happens.
    check('setns to the present network namespace', setns(home, CLONE_NEWNET))
    try {
      return away()
    } finally {
      check('setns', setns(home, CLONE_NEWNET))
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

/** A setting that this kernel does not have (older ones lack some) cannot be wrong. */
const setSysctl = (name: string, value: string) => {
  try {
    // /proc/sys/net shows the namespace of the thread that opens it.
    writeFileSync(`/proc/sys/net/${name}`, value)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}
