import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { constants } from 'node:os'
import { requireRunRoot } from '../harness/files/run-root.ts'
import { endsItself } from './stray.ts'

/**
 * What root is needed for, every user may do in a user namespace of his own, where the machine allows one: he is root
 * there, of nothing but what he makes there. All other namespaces are new too, for only those that it owns can be come
 * back to. Run directories are in memory that goes with it: process ids, which name them, begin anew there.
 *
 * Whoever started all this may be killed: each process takes the next with it.
 */
const entrance = (): string[] => [
  ...['--pdeathsig', 'KILL', '--'],
  ...['unshare', '--user', '--map-root-user', '--mount', '--uts', '--ipc', '--net'],
  ...['--pid', '--fork', '--mount-proc', '--kill-child', '--'],
  ...['sh', '-c', 'mount -t tmpfs -o mode=700 lastnail "$0" && exec "$@"', requireRunRoot()],
]

/**
 * Runs this very command again as root of a user namespace, unless it is run by root, and ends with its exit code: it
 * returns only where there is nothing to do, or nothing to be done. A process that has threads, as this one, cannot
 * enter a user namespace itself.
 */
export const runInOwnNamespaces = async (): Promise<void> => {
  if (process.platform !== 'linux' || process.geteuid!() === 0 || namespacesRefused() !== undefined) return
  const code = await runAgain()
  endsItself()
  process.exit(code)
}

/** Why this user cannot have namespaces of his own, as the machine puts it; undefined where he can. */
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
    // The first process of a pid namespace ignores what it does not handle: who asks twice is obeyed all the same.
    if (++signals === 1) sendInside(child.pid!, signal)
    else child.kill('SIGKILL')
  }
  process.on('SIGINT', pass).on('SIGTERM', pass)
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
  return code ?? 128 + constants.signals[signal!]
}

/** `unshare` blocks signals while it waits for the process that it started, and passes none on. */
const sendInside = (outside: number, signal: NodeJS.Signals) => {
  const [inside] = readFileSync(`/proc/${outside}/task/${outside}/children`, 'utf8').trim().split(' ').filter(Boolean)
  process.kill(Number(inside ?? outside), signal)
}
