import { closeSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { constants } from 'node:os'
import { type Mounted, mountsOf } from '../../linux/mountinfo.ts'
import { awaitProcess, openProcess, signalProcess } from '../../linux/pidfd.ts'

/** Killed processes end within milliseconds, unless they wait for a device. */
const endMsMax = 2000

/**
 * Ends the processes that belong to these directories of killed runs: a node that was being started, saved or restored
 * is not yet traced, and lives on. Each node has files of its run's directory mounted, and a pid namespace of its own.
 * The kernel reports the file system and the path in it of every mount. Whoever may not enter the directory cannot
 * forge that, while mount points and names can be chosen freely.
 *
 * @param directories descriptors of them
 */
export const endProcessesOf = (directories: readonly number[]): void => {
  if (directories.length === 0) return
  const places = directories.map(placeOf)
  const killed = pids().flatMap(pid => kill(pid, places))
  const deadline = performance.now() + endMsMax
  for (const handle of killed) {
    awaitProcess(handle, Math.max(0, deadline - performance.now()))
    closeSync(handle)
  }
}

/** Where a file is, whatever is mounted over it: a file system and a path in it. */
type Place = Pick<Mounted, 'device' | 'root'>

const placeOf = (directory: number): Place => {
  const [, id] = /^mnt_id:\s*(\d+)$/m.exec(readFileSync(`/proc/self/fdinfo/${directory}`, 'latin1'))!
  const { device, root, path } = mountsOf('self').find(mounted => mounted.id === id)!
  const here = readlinkSync(`/proc/self/fd/${directory}`)
  return { device, root: join(root, path === '/' ? here : here.slice(path.length)) }
}

const join = (root: string, rest: string) => (root === '/' ? rest : root + rest)

const pids = (): number[] =>
  readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(Number)

/**
 * Returns a descriptor of the process if it was killed. It is opened first, because an id may be reused by another
 * process.
 */
const kill = (pid: number, places: readonly Place[]): number[] => {
  const handle = openProcess(pid)
  if (handle === undefined) return []
  if (isOfOtherNamespace(pid) && mountsOf(pid).some(mounted => places.some(place => liesIn(mounted, place)))) {
    signalProcess(handle, constants.signals.SIGKILL)
    return [handle]
  }
  closeSync(handle)
  return []
}

const liesIn = ({ device, root }: Place, place: Place) => device === place.device && root.startsWith(`${place.root}/`)

const isOfOtherNamespace = (pid: number): boolean => {
  const own = namespaceOf('self')
  return ![undefined, own].includes(namespaceOf(pid))
}

/** Undefined if the process is gone or belongs to another user. */
const namespaceOf = (pid: number | 'self'): string | undefined => {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`)
  } catch {
    return undefined
  }
}
