import { appendFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { MountPlan } from '../../linux/mounts.ts'
import { resolverAddress } from '../../proxy/dns/resolver.ts'
import type { NodeLimits } from '../config/limits.ts'
import { beginRandomFile } from '../hold/files/random-files.ts'
import { ticksPerMillisecond } from '../hold/instructions/timestamp-counter.ts'
import { trustDirectories, trustFiles } from '../outside/hosts.ts'

/** Paths of files that every node of a system sees instead of the machine's. */
export interface SharedFiles {
  /** All that nodes are given lies in it. */
  readonly directory: string
  readonly hosts: string
  readonly resolvConf: string
  /** Path of random bytes, the same for the same name. */
  readonly random: (name: string) => string
  /** Directory of certificates, if nodes trust others than this machine does. */
  readonly trust: string | undefined
  /** Directory of files about the CPU. */
  readonly cpu: string
}

/** Programs read the speed of the timestamp counter here. Otherwise they would measure it by sleeping. */
const cpuDirectory = '/sys/devices/system/cpu/cpu0'

/** Files by which a node finds the others. */
export const hostsShownTo = ({ hosts, resolvConf }: SharedFiles): MountPlan['files'] => [
  ['/etc/hosts', hosts],
  ['/etc/resolv.conf', resolvConf],
]

/** Directories that also show the certificate of whoever a node trusts. */
export const trustShownTo = ({ trust }: SharedFiles): MountPlan['additions'] =>
  trust === undefined ? [] : trustDirectories.map(path => [path, trust])

/**
 * What a node sees of these files, as far as its file system has places for them.
 *
 * @param random names the random bytes that it reads
 */
export const shownTo = (
  shared: SharedFiles,
  random: string,
  { shmBytesMax }: NodeLimits,
): Omit<MountPlan, 'overlays' | 'shared'> => ({
  files: [...hostsShownTo(shared), ['/dev/random', shared.random(random)], ['/dev/urandom', shared.random(random)]],
  additions: [[cpuDirectory, shared.cpu], ...trustShownTo(shared)],
  // A runtime would read there how much memory all processes of this machine use, and adapt its own size.
  empty: [
    ['/dev/shm', shmBytesMax],
    ['/sys/fs/cgroup', 1 << 20],
  ],
})

/** Host names by which nodes find each other. */
export interface NamedHost {
  readonly address: string
  readonly names: readonly string[]
}

/** @param hasResolver whether their network answers them which hosts there are */
export const writeSharedFiles = (
  directory: string,
  nodes: readonly NamedHost[],
  { trustsOutside = false, hasResolver = true } = {},
): SharedFiles => {
  const cpu = join(directory, 'cpu')
  mkdirSync(cpu, { recursive: true })
  const write = (name: string, content: string | Buffer) => {
    const path = join(directory, name)
    writeFileSync(path, content)
    return path
  }
  const lines = nodes.map(hostLine)
  write('cpu/tsc_freq_khz', `${ticksPerMillisecond}\n`)
  return {
    directory,
    cpu,
    trust: trustsOutside ? writeTrust(join(directory, 'trust')) : undefined,
    hosts: write('hosts', `127.0.0.1 localhost\n${lines.join('')}`),
    resolvConf: write('resolv.conf', hasResolver ? `nameserver ${resolverAddress}\n` : ''),
    random: name => {
      const path = join(directory, `random-${encodeURIComponent(name)}`)
      if (!existsSync(path)) beginRandomFile(path, name)
      return path
    },
  }
}

/** Nodes that run already see it too. */
export const addSharedHost = ({ hosts }: SharedFiles, { address, names }: NamedHost): void =>
  appendFileSync(hosts, hostLine({ address, names }))

const hostLine = ({ address, names }: NamedHost) => `${address} ${names.join(' ')}\n`

const writeTrust = (directory: string): string => {
  for (const [name, content] of Object.entries(trustFiles)) {
    const path = join(directory, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content)
  }
  return directory
}
