import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, readFileSync, statSync } from 'node:fs'
import { criuDirectory, findCriu } from '../../harness/checkpoint/criu.ts'
import { realUser, requireRunRoot } from '../../harness/files/run-root.ts'
import { highestPriority } from '../../harness/hold/turns/turns.ts'
import { NetworkNamespace } from '../../linux/namespace.ts'
import { openTun } from '../../linux/tun.ts'
import { MachineLacks } from '../command/exit-code.ts'
import { namespacesRefused } from './ordinary-user.ts'

/** An ability that this machine has or lacks. */
export interface Ability {
  readonly name: string
  readonly isNeeded: boolean
  readonly isThere: boolean
  /** What was found on this machine; or what is missing, and the remedy. */
  readonly detail: string
}

/** Everything that checking needs or can use, each tested by trying it. */
export const abilities = (): Ability[] => [
  ...needed(),
  attempt('first-in first-out scheduling', false, probeScheduling, schedulingRemedy),
  attempt('checkpoints', false, probeCheckpoints, checkpointsRemedy),
]

const needed = (): Ability[] => [
  attempt('x86-64 Linux', true, probePlatform, () => 'processes can be held only there'),
  attempt('namespaces', true, probeNamespaces, namespacesRemedy),
  attempt('TUN devices', true, probeTun, tunRemedy),
  attempt('ptrace', true, probePtrace, () => 'set the sysctl kernel.yama.ptrace_scope to 0 or 1'),
  attempt('overlay file system', true, probeOverlay, overlayRemedy),
]

/** @throws UnsafeRunRoot, and MachineLacks with one line for each missing necessity */
export const requireAbilities = (): void => {
  requireRunRoot()
  const lacking = needed().filter(({ isThere }) => !isThere)
  if (lacking.length === 0) return
  throw new MachineLacks(lacking.map(({ name, detail }) => `this machine lacks ${name}: ${detail}`).join('\n'))
}

/**
 * @param probe returns what was found, or throws
 *
 * @param remedy what to do if it throws
 */
const attempt = (name: string, isNeeded: boolean, probe: () => string, remedy: () => string): Ability => {
  try {
    return { name, isNeeded, isThere: true, detail: probe() }
  } catch (error) {
    return { name, isNeeded, isThere: false, detail: `${(error as Error).message}; ${remedy()}` }
  }
}

const fail = (message: string): never => {
  throw new Error(message)
}

const isRoot = () => process.geteuid!() === 0

const probePlatform = () =>
  process.platform === 'linux' && process.arch === 'x64' ? 'yes' : fail(`this is ${process.platform} ${process.arch}`)

/** The command already tried to become root in its own namespaces. If it is not root now, that was refused. */
const probeNamespaces = () => {
  if (!isRoot()) fail(namespacesRefused() ?? 'this process is not in a user namespace of its own')
  NetworkNamespace.create().close()
  return realUser() === 0 ? 'yes, as root' : `yes, in a user namespace of user ${realUser()}`
}

const namespacesRemedy = () => {
  const container = 'a container needs --privileged'
  if (isRoot()) return `this root lacks CAP_SYS_ADMIN: ${container}`
  const forbidding = userNamespaceSettings.find(({ name, forbids }) => readSetting(name) === forbids)
  return forbidding
    ? `sysctl -w ${forbidding.name.replace('/', '.')}=${forbidding.allows}, or run as root`
    : `run as root; ${container}`
}

/** Settings that forbid user namespaces: of every kernel, of Debian's, of Ubuntu's. */
const userNamespaceSettings = [
  { name: 'user/max_user_namespaces', forbids: 0, allows: 10_000 },
  { name: 'kernel/unprivileged_userns_clone', forbids: 0, allows: 1 },
  { name: 'kernel/apparmor_restrict_unprivileged_userns', forbids: 1, allows: 0 },
] as const

/** Undefined if the kernel has no such setting. */
const readSetting = (name: string): number | undefined => {
  const path = `/proc/sys/${name}`
  return existsSync(path) ? Number(readFileSync(path, 'utf8')) : undefined
}

const tun = '/dev/net/tun'

const probeTun = () => {
  if (!existsSync(tun)) fail(`there is no ${tun}`)
  accessSync(tun, constants.R_OK | constants.W_OK)
  // Without namespaces no device can be made there, and their absence is reported already.
  if (!isRoot()) return `${tun} may be opened`
  const namespace = NetworkNamespace.create()
  try {
    openTun(namespace, '10.77.0.2').close()
  } finally {
    namespace.close()
  }
  return 'yes'
}

const tunRemedy = () => {
  if (!existsSync(tun)) return `load its module (modprobe tun); a container needs --device ${tun}`
  const mode = (statSync(tun).mode & 0o777).toString(8)
  return `its mode is ${mode}: let every user open it, as most distributions do (chmod 666 ${tun})`
}

const probePtrace = () => {
  const value = readSetting('kernel/yama/ptrace_scope') ?? 0
  return value <= 1 ? 'yes' : fail(`kernel.yama.ptrace_scope is ${value}`)
}

/**
 * Mounts an overlay over this machine's own files, as for nodes, in memory and in a mount namespace that ends with the
 * process. Root of a mere user namespace may not cover the root directory itself.
 */
const mountOverlay = `
  mount -t tmpfs lastnail "$0" && cd "$0" && mkdir lower upper work &&
  for below in / /usr; do
    mount -t overlay lastnail -o "userxattr,lowerdir=$below,upperdir=upper,workdir=work" lower 2>error && exit
  done
  cat error >&2; exit 1`

const probeOverlay = () => {
  if (!isRoot()) return 'not tried, because it needs namespaces'
  const { error, status, stderr } = spawnSync('unshare', ['--mount', 'sh', '-c', mountOverlay, requireRunRoot()], {
    encoding: 'utf8',
  })
  if (error) throw error
  return status === 0 ? 'yes' : fail(stderr.trim().split('\n')[0]!)
}

const overlayRemedy = () => 'load its module (modprobe overlay); in a user namespace it needs Linux 5.11'

const probeCheckpoints = () => {
  if (realUser() !== 0) fail('only root may restore processes with CRIU')
  return `yes, by CRIU ${findCriu().version}`
}

const checkpointsRemedy = () =>
  `without checkpoints, schedules are executed again; lastnail doctor --fix gets CRIU (8 MB of Debian packages) into ${criuDirectory()}`

const probeScheduling = () => {
  const { error, status, stderr } = spawnSync('chrt', ['--fifo', String(highestPriority), 'true'], { encoding: 'utf8' })
  if (error) throw error
  return status === 0 ? 'yes' : fail(stderr.trim().split('\n')[0]!)
}

const schedulingRemedy = () =>
  'without it, races between threads inside a node do not repeat; run as root, or allow it ' +
  `("<user> - rtprio ${highestPriority}" in /etc/security/limits.conf)`
