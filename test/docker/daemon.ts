import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, rmdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import Docker from 'dockerode'
import { has } from '../has.ts'

/**
 * Why tests with containers are skipped here; undefined where they are run.
 */
export const cannotRunContainers = (): string | undefined => {
  if (process.getuid!() !== 0) return 'only root can start a Docker engine'
  return has('dockerd') ? undefined : 'dockerd is not installed (Debian: docker.io)'
}

export interface Daemon {
  readonly docker: Docker
  /** For DOCKER_HOST. */
  readonly host: string
  stop(): Promise<void>
}

const startMsMax = 30_000

/** In a network of its own, which leaves the machine's firewall alone, and in a mount namespace that goes with it. */
const start = (directory: string) => `
  ip link set lo up && mount -t tmpfs tmpfs /run && exec dockerd --log-level error --host "unix://${directory}/socket" \
    --data-root "${directory}/data" --exec-root "${directory}/exec" --pidfile "${directory}/pid" \
    --bridge none --iptables=false --cgroup-parent "${basename(directory)}"`

/** A Docker engine for tests alone. It ends with them. */
export const startDaemon = (): Promise<Daemon> => begin([], 'SIGTERM')

/** One in a pid namespace of its own: the ids that it tells are of no processes here. */
export const startDaemonElsewhere = (): Promise<Daemon> =>
  begin(['--pid', '--fork', '--kill-child', '--mount-proc'], 'SIGKILL')

/** @param endedBy what it takes to end it: `unshare --fork` blocks other signals */
const begin = async (namespaces: readonly string[], endedBy: 'SIGTERM' | 'SIGKILL'): Promise<Daemon> => {
  const directory = mkdtempSync(join(tmpdir(), 'lastnail-docker-'))
  const apart = ['--net', '--mount', '--propagation', 'private', ...namespaces]
  const unshared = ['unshare', ...apart, 'sh', '-c', start(directory)]
  const process = spawn('setpriv', ['--pdeathsig', endedBy.slice(3), ...unshared], {
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let errors = ''
  process.stderr.on('data', chunk => {
    errors += chunk
  })
  const docker = new Docker({ socketPath: join(directory, 'socket') })
  const stop = () => stopDaemon(process, directory, endedBy)
  for (let waitedMs = 0; !(await answers(docker)); waitedMs += 50) {
    if (process.exitCode === null && waitedMs < startMsMax) await sleep(50)
    else {
      await stop()
      throw new Error(`dockerd did not start: ${errors}`)
    }
  }
  return { docker, host: `unix://${directory}/socket`, stop }
}

const answers = (docker: Docker): Promise<boolean> =>
  docker.ping().then(
    () => true,
    () => false,
  )

const stopDaemon = async (process: ChildProcess, directory: string, signal: NodeJS.Signals): Promise<void> => {
  if (process.exitCode === null) {
    process.kill(signal)
    await once(process, 'exit')
  }
  rmSync(directory, { recursive: true, force: true, maxRetries: 20 })
  removeGroups(basename(directory))
}

/** Control groups that it leaves, which are empty. */
const removeGroups = (name: string): void => {
  const root = '/sys/fs/cgroup'
  for (const controller of ['.', ...readdirSync(root)]) {
    const group = join(root, controller, name)
    if (existsSync(group)) rmdirSync(group)
  }
}
