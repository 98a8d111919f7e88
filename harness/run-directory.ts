import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** The user as the machine knows him: in a user namespace of his own he is root (user_namespaces(7)). */
export const realUser = (): number => {
  const user = process.getuid!()
  for (const range of readFileSync('/proc/self/uid_map', 'utf8').trim().split('\n')) {
    const [inside, outside, count] = range.trim().split(/\s+/).map(Number) as [number, number, number]
    if (inside <= user && user < inside + count) return outside + user - inside
  }
  return user
}

/** Where this user's run directories are. In memory where there is some: nodes are started thousands of times. */
export const runRoot = (): string => {
  const user = realUser()
  return join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), user === 0 ? 'lastnail' : `lastnail-${user}`)
}

/**
 * A directory for what the nodes of this process write. It is named for the process, so that one that was killed leaves
 * a directory that `removeStale` knows for abandoned.
 */
export const createRunDirectory = (): string => {
  removeStale()
  if (count === 0) process.once('exit', removeMine)
  const directory = join(runRoot(), `${identity(process.pid)}-${count++}`)
  mine.add(directory)
  mkdirSync(directory, { recursive: true })
  return directory
}

let count = 0
const mine = new Set<string>()

export const removeRunDirectory = (directory: string): void => {
  rmSync(directory, { recursive: true, force: true })
  mine.delete(directory)
}

/** Also what an error left behind on its way. */
const removeMine = () => mine.forEach(removeRunDirectory)

/** Removes the directories of processes that have ended, and what still runs in them. */
export const removeStale = (): void => {
  const root = runRoot()
  if (!existsSync(root)) return
  const stale = readdirSync(root).filter(name => {
    const [pid, started] = name.split('-')
    return identity(Number(pid)) !== `${pid}-${started}`
  })
  if (stale.length > 0) endProcessesIn(stale)
  for (const name of stale) rmSync(join(root, name), { recursive: true, force: true })
}

/** A node that was being saved, or made again, may have been left behind: what it sees shows whose it was. */
const endProcessesIn = (names: readonly string[]): void => {
  for (const pid of readdirSync('/proc').filter(name => /^\d+$/.test(name))) {
    const mounts = readIfThere(`/proc/${pid}/mountinfo`)
    if (names.some(name => mounts.includes(`/${name}/`))) process.kill(Number(pid), 'SIGKILL')
  }
}

/** Empty where it is gone, or another user's. */
const readIfThere = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** A process id with its start time, in ticks since boot: an id alone is used again. */
export const identity = (pid: number): string => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return `${pid}-${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]}`
  } catch {
    return ''
  }
}
