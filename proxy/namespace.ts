import { closeSync, openSync, writeFileSync } from 'node:fs'
import { CLONE_NEWNET, check, setns, unshare } from './libc.ts'
import { Netlink } from './netlink.ts'

/** The network namespace of the calling thread, not of the process's first thread. */
const current = '/proc/thread-self/ns/net'

/**
 * What a node's kernel must do differently because its peers answer only when a choice says so. Its TCP timers run
 * on real time; without these they would act while a message is held.
 */
const sysctls: Readonly<Record<string, string>> = {
  'ipv6/conf/all/disable_ipv6': '1',
  'ipv6/conf/default/disable_ipv6': '1',
  // A connection that is asked for may be held for any time: go on asking, and seldom.
  'ipv4/tcp_syn_retries': '127',
  'ipv4/tcp_syn_linear_timeouts': '0',
  'ipv4/tcp_synack_retries': '127',
  'ipv4/tcp_fin_timeout': '100000',
  // A cookie would forget the window scale.
  'ipv4/tcp_syncookies': '0',
  'ipv4/tcp_max_syn_backlog': '65535',
  'core/somaxconn': '65535',
  // Nothing learned from one connection may change the next.
  'ipv4/tcp_no_metrics_save': '1',
  // The range that `isEphemeral` knows.
  'ipv4/ip_local_port_range': '32768 60999',
  // Any user of the namespace may ping and use low ports, as in a container.
  'ipv4/ip_unprivileged_port_start': '0',
}

/**
 * A network namespace with nothing in it but `lo`. It is held by a descriptor alone: it goes when it is closed and no
 * process lives in it any more, also if this process is killed.
 */
export class NetworkNamespace {
  /** The descriptor that holds it; for `setns`, and for `/proc/self/fd/N` as a path. */
  readonly fd: number

  private constructor(fd: number) {
    this.fd = fd
  }

  /**
   * Makes a namespace; takes about 2 ms. The caller needs CAP_SYS_ADMIN in its user namespace.
   *
   * @throws SystemError `unshare: EPERM (operation not permitted)`
   */
  static create(): NetworkNamespace {
    const home = openSync(current, 'r')
    try {
      check('unshare(CLONE_NEWNET)', unshare(CLONE_NEWNET))
      try {
        const namespace = new NetworkNamespace(openSync(current, 'r'))
        prepare()
        return namespace
      } finally {
        check('setns', setns(home, CLONE_NEWNET))
      }
    } finally {
      closeSync(home)
    }
  }

  /**
   * Runs a synchronous function with this thread inside the namespace. Sockets it opens and processes it spawns stay
   * there. It must not be the first to use Node's thread pool: the pool's threads would stay there too.
   */
  run<T>(inside: () => T): T {
    const home = openSync(current, 'r')
    try {
      check('setns', setns(this.fd, CLONE_NEWNET))
      try {
        return inside()
      } finally {
        check('setns', setns(home, CLONE_NEWNET))
      }
    } finally {
      closeSync(home)
    }
  }

  close(): void {
    closeSync(this.fd)
  }
}

const prepare = () => {
  for (const [name, value] of Object.entries(sysctls)) setSysctl(name, value)
  const netlink = Netlink.open()
  try {
    netlink.setUp(netlink.indexOf('lo'))
  } finally {
    netlink.close()
  }
}

/** A setting that this kernel does not have (older ones lack some) cannot be wrong. */
const setSysctl = (name: string, value: string) => {
  try {
    // /proc/sys/net shows the namespace of the thread that opens it.
    writeFileSync(`/proc/sys/net/${name}`, value)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}
