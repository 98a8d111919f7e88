import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Memory where there is some: nodes are started thousands of times. */
const root = join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'lastnail')

/**
 * A directory for what the nodes of this process write. It is named for the process, so that one that was killed leaves
 * a directory that `removeStale` knows for abandoned.
 */
export const createRunDirectory = (): string => {
  removeStale()
  const directory = join(root, `${identity(process.pid)}-${count++}`)
  mkdirSync(directory, { recursive: true })
  return directory
}

let count = 0

export const removeRunDirectory = (directory: string): void => rmSync(directory, { recursive: true, force: true })

/** Removes the directories of processes that have ended. */
export const removeStale = (): void => {
  if (!existsSync(root)) return
  for (const name of readdirSync(root)) {
    const [pid, started] = name.split('-')
    if (identity(Number(pid)) !== `${pid}-${started}`) removeRunDirectory(join(root, name))
  }
}

/** A process id with its start time, in ticks since boot: an id alone is used again. */
const identity = (pid: number): string => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return `${pid}-${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]}`
  } catch {
    return ''
  }
}
