import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { requireRunRoot } from '../../harness/files/run-root.ts'
import { endsItself } from './stray.ts'

/**
 * Everything that needs root is possible for any user in a user namespace, if the machine allows those: there the user
 * is root over what was made there. All other namespaces are new too, because one may return only to namespaces that
 * this one owns. Run directories are named by process ids, which begin again there, so they are in a memory file system
 * that ends with the namespaces.
 *
 * If the parent is killed, each process takes the next one with it.
 */
const entrance = (): string[] => [
  ...['--pdeathsig', 'KILL', '--'],
  ...['unshare', '--user', '--map-root-user', '--mount', '--uts', '--ipc', '--net'],
  ...['--pid', '--fork', '--mount-proc', '--kill-child', '--'],
  ...['sh', '-c', 'mount -t tmpfs -o mode=700 lastnail "$0" && exec "$@"', requireRunRoot()],
]

/**
 * Runs this very command again as root of a user namespace, unless root runs it, and exits with its exit code. It
 * returns only if that is not necessary or not possible. This process has threads, so it cannot enter a user namespace
 * itself.
 */
export const runInOwnNamespaces = async (): Promise<void> => {
  if (process.platform !== 'linux' || process.geteuid!() === 0 || namespacesRefused() !== undefined) return
  const code = await runAgain()
  endsItself()
  process.exit(code)
}

/** Why this user may not have namespaces, in the machine's words; undefined if it may. */
export const namespacesRefused = (): string | undefined => {
  const { error, status, stderr } = spawnSync('setpriv', [...entrance(), 'true'], { encoding: 'utf8' })
  if (error) return `${error.message}`
  return status === 0 ? undefined : stderr.trim().split('\n')[0] || `unshare ended with code ${status}`
}

const runAgain = async (): Promise<number> => {
  const command = [process.execPath, ...process.execArgv, ...process.argv.slice(1)]
  const child = spawn('setpriv', [...entrance(), ...command], { stdio: 'inherit' })
  let signals = 0
  const pass = (signal: NodeJS.Signals) => {
    // The first process of a pid namespace ignores signals without a handler, so a second request kills it.
    if (++signals === 1) sendInside(child.pid!, signal)
    else child.kill('SIGKILL')
  }
  process.on('SIGINT', pass).on('SIGTERM', pass)
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
  return code ?? 128 + constants.signals[signal!]
}

/** Signals the process inside, because `unshare` blocks signals while it waits for it and passes none on. */
const sendInside = (outside: number, signal: NodeJS.Signals) => {
  const [inside] = readFileSync(`/proc/${outside}/task/${outside}/children`, 'utf8').trim().split(' ').filter(Boolean)
  process.kill(Number(inside ?? outside), signal)
}
