import { spawnSync } from 'node:child_process'
import { closeSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { libc } from '../../linux/libc.ts'
import { endProcessesOf } from './processes-of.ts'
import { openDirectory, requireRunRoot, UnsafeRunRoot } from './run-root.ts'

/** The name of a run directory: id and start time of the process that made it, and its number. */
const ownForm = /^([1-9]\d{0,9}-\d{1,20})-\d{1,9}$/

/**
 * Creates a directory for what this process's nodes write. The process holds a lock on it, which the kernel releases in
 * any case when the process ends. So `removeAbandoned` recognises the directories of killed processes.
 *
 * @throws UnsafeRunRoot
 */
export const createRunDirectory = (): string => {
  const root = requireRunRoot()
  if (count === 0) {
    removeAbandoned()
    process.once('exit', removeMine)
  }
  const directory = join(root, `${identity(process.pid)}-${count++}`)
  makeDirectory(directory)
  mine.set(directory, lockDirectory(directory)!)
  return directory
}

/** @throws UnsafeRunRoot */
const makeDirectory = (path: string): void => {
  try {
    mkdirSync(path, { mode: 0o755 })
  } catch (cause) {
    throw new UnsafeRunRoot(`cannot make a directory for what nodes write: ${(cause as Error).message}`, { cause })
  }
}

let count = 0
/** Directories of this process, each with the descriptor that holds its lock. */
const mine = new Map<string, number>()

/** Also removes what a failed run left behind. */
const removeMine = () => {
  for (const directory of mine.keys()) removeTree(directory)
}

export const removeRunDirectory = (directory: string): void => {
  const lock = mine.get(directory)
  if (lock === undefined) return
  const problem = removeTree(directory)
  closeSync(lock)
  mine.delete(directory)
  if (problem !== undefined) throw new Error(`cannot remove ${directory}: ${problem}`)
}

/** The run directories of all living processes of this user. @throws UnsafeRunRoot */
export const runDirectories = (): string[] =>
  runDirectoriesNow()
    .filter(({ name, path }) => isInUse(name, path))
    .map(({ path }) => path)

/**
 * Removes the directories of ended processes, and ends what still runs on them. Anything without the name of a run
 * directory, or that is not a directory, is left alone. A directory that cannot be removed is tried again by the next
 * run.
 *
 * @throws UnsafeRunRoot
 */
export const removeAbandoned = (): void => {
  const abandoned = runDirectoriesNow().flatMap(({ name, path }) => {
    const lock = isInUse(name, path) ? undefined : lockDirectory(path)
    return lock === undefined ? [] : [{ path, lock }]
  })
  try {
    endProcessesOf(abandoned.map(({ lock }) => lock))
    for (const { path } of abandoned) removeTree(path)
  } finally {
    for (const { lock } of abandoned) closeSync(lock)
  }
}

const runDirectoriesNow = () => {
  const root = requireRunRoot()
  return readdirSync(root, { withFileTypes: true })
    .filter(entry => entry.isDirectory() && ownForm.test(entry.name))
    .map(({ name }) => ({ name, path: join(root, name) }))
}

/** Whether the process in its name lives, or, for a process of another pid namespace, holds its lock. */
const isInUse = (name: string, path: string): boolean => {
  const [, maker] = ownForm.exec(name)!
  if (identity(Number.parseInt(maker!, 10)) === maker) return true
  const lock = lockDirectory(path)
  if (lock === undefined) return true
  closeSync(lock)
  return false
}

const flock = libc.func('int flock(int descriptor, int operation)')
const exclusivelyAtOnce = 2 | 4 // LOCK_EX | LOCK_NB

/**
 * Returns the descriptor that holds the lock until it is closed; undefined if another process has the lock, or the
 * directory is gone.
 */
const lockDirectory = (path: string): number | undefined => {
  const descriptor = openDirectory(path)
  if (descriptor === undefined || flock(descriptor, exclusivelyAtOnce) === 0) return descriptor
  closeSync(descriptor)
  return undefined
}

/**
 * Uses a program that follows no links even if somebody changes the tree meanwhile, and handles any name and depth.
 * Returns why it failed.
 */
const removeTree = (directory: string): string | undefined => {
  const { error, status, stderr } = spawnSync('/bin/rm', ['-rf', '--one-file-system', '--', directory], {
    encoding: 'utf8',
  })
  if (error) return error.message
  return status === 0 ? undefined : stderr.trim()
}

/** A process id with its start time in ticks since boot, because ids are reused. Empty if there is no such process. */
export const identity = (pid: number): string => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return `${pid}-${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]}`
  } catch {
    return ''
  }
}
