import { accessSync, constants, existsSync, readFileSync } from 'node:fs'
import { NetworkNamespace } from '../proxy/namespace.ts'
import { openTun } from '../proxy/tun.ts'
import { MachineLacks } from './exit-code.ts'

/** Something that this machine has or lacks. */
export interface Ability {
  readonly name: string
  readonly isNeeded: boolean
  readonly isThere: boolean
  /** What is lacking and what helps; or what was found. */
  readonly detail: string
}

const tun = '/dev/net/tun'

const attempt = (name: string, isNeeded: boolean, probe: () => string, remedy: string): Ability => {
  try {
    return { name, isNeeded, isThere: true, detail: probe() }
  } catch (error) {
    return { name, isNeeded, isThere: false, detail: `${(error as Error).message}; ${remedy}` }
  }
}

const fail = (message: string): never => {
  throw new Error(message)
}

/** All that checking needs or can use, each tried out. */
export const abilities = (): Ability[] => [
  attempt(
    'x86-64 Linux',
    true,
    () =>
      process.platform === 'linux' && process.arch === 'x64'
        ? 'yes'
        : fail(`this is ${process.platform} ${process.arch}`),
    'processes can be held there alone',
  ),
  attempt(
    'namespaces',
    true,
    probeNamespaces,
    'run as root, or allow user namespaces (sysctl user.max_user_namespaces)',
  ),
  attempt('TUN devices', true, probeTun, `load the module tun, and let this user open ${tun} (chmod 666)`),
  attempt('ptrace', true, probePtrace, 'sysctl kernel.yama.ptrace_scope must be 0 or 1'),
  attempt('overlay file system', true, probeOverlay, 'load the module overlay'),
]

const probeNamespaces = () => {
  NetworkNamespace.create().close()
  return process.getuid?.() === 0 ? 'yes, as root' : 'yes'
}

const probeTun = () => {
  if (!existsSync(tun)) fail(`there is no ${tun}`)
  accessSync(tun, constants.R_OK | constants.W_OK)
  const namespace = NetworkNamespace.create()
  try {
    openTun(namespace, '10.77.0.2').close()
  } finally {
    namespace.close()
  }
  return 'yes'
}

const probePtrace = () => {
  const scope = '/proc/sys/kernel/yama/ptrace_scope'
  const value = existsSync(scope) ? Number(readFileSync(scope, 'utf8')) : 0
  return value <= 1 ? 'yes' : fail(`kernel.yama.ptrace_scope is ${value}`)
}

const probeOverlay = () =>
  readFileSync('/proc/filesystems', 'utf8').includes('\toverlay\n') ? 'yes' : fail('the kernel has no overlay')

/** Throws `MachineLacks` with one line for each thing that is needed and not there. */
export const requireAbilities = (): void => {
  const lacking = abilities().filter(({ isNeeded, isThere }) => isNeeded && !isThere)
  if (lacking.length === 0) return
  throw new MachineLacks(lacking.map(({ name, detail }) => `this machine lacks ${name}: ${detail}`).join('\n'))
}
