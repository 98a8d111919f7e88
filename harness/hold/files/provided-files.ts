import { hash } from 'node:crypto'
import { closeSync, constants, mkdirSync, openSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { openFor } from '../../../linux/inside.ts'
import { close, errno, lastErrno, libc, requireSuccess } from '../../../linux/libc.ts'
import type { ProcessMemory } from '../../../linux/memory.ts'
import type { HeldProcess } from '../held/held-node.ts'

/** Files in a node that its processes open in place of files of the kernel. */

/** A directory that every node has in memory, and empty. The files are put there. */
const roomParent = '/sys/fs/cgroup'
const roomName = '0'
const room = join(roomParent, roomName)
const memoryFileSystem = 0x0102_1994

const openat = libc.func('int openat(int directory, const char *name, int flags, int mode)')
const unlinkat = libc.func('int unlinkat(int directory, const char *name, int flags)')
const pwrite = libc.func('long pwrite(int fd, void *bytes, size_t length, long offset)')
const ftruncate = libc.func('int ftruncate(int fd, long length)')
const closeOnExec = 0o2000000
const newFile = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | closeOnExec

/** A file that is written again. */
interface Provided {
  readonly descriptor: number
  /** In Latin-1: one character for each byte. */
  content: string
}

interface Room {
  readonly directory: number
  /** By name. */
  readonly files: Map<string, Provided>
  /** How many files were provided beside these. */
  others: number
}

/** The room of each process, so that it is not looked up for each file. */
const rooms = new WeakMap<ProcessMemory, Room>()

/** How many files of a process are written again. Its other files are new each time, and the number of these is limited. */
const filesMax = 32
const othersMax = 1000

/**
 * Provides a file in place of another. It is the same one each time, and whoever has it open sees the new content, as
 * in /proc itself.
 *
 * @param path of the file that is replaced
 *
 * @param content in Latin-1
 *
 * @returns the path at which the process finds it
 *
 * @throws Error for a container without such a directory, or a program that changed its root
 */
export const provide = (process: HeldProcess, path: string, content: string): string => {
  const { directory, files } = roomOf(process)
  const name = `${process.innerPid}${path.replaceAll('/', '-')}`
  const known = files.get(name)
  if (known) fill(known, content)
  else if (files.size >= filesMax) return provideNew(process, content)
  else {
    unlinkat(directory, name, 0)
    const file = make(directory, name)!
    process.memory.closeToo(file.descriptor)
    files.set(name, file)
    fill(file, content)
  }
  return join(room, name)
}

/** Provides a file whose content never changes. */
export const provideNew = (process: HeldProcess, content: string): string => {
  const known = roomOf(process)
  known.others += 1
  if (known.others % othersMax === 0) removeOthers(known)
  const name = `${process.innerPid}-${hash('sha256', content).slice(0, 16)}`
  const file = make(known.directory, name)
  // The name has the content's hash: an existing file has this content.
  if (file) {
    fill(file, content)
    close(file.descriptor)
  }
  return join(room, name)
}

/** Returns a function that restores the present content of a process's files. */
export const markProvided = ({ memory }: HeldProcess): (() => void) => {
  const marked = [...(rooms.get(memory)?.files.values() ?? [])].map(file => ({ file, content: file.content }))
  return () => {
    for (const { file, content } of marked) fill(file, content)
  }
}

/** Undefined if there is a file with this name. */
const make = (directory: number, name: string): Provided | undefined => {
  const descriptor = openat(directory, name, newFile, 0o444)
  if (descriptor === -1 && lastErrno() === errno.EEXIST) return undefined
  return { descriptor: requireSuccess('openat', descriptor), content: '' }
}

const fill = (file: Provided, content: string): void => {
  if (file.content === content) return
  const bytes = Buffer.from(content, 'latin1')
  const put = pwrite(file.descriptor, bytes, bytes.length, 0)
  if (put !== bytes.length) throw new Error(`wrote ${put} of ${bytes.length} bytes`)
  if (content.length < file.content.length) requireSuccess('ftruncate', ftruncate(file.descriptor, content.length))
  file.content = content
}

const removeOthers = ({ directory, files }: Room): void => {
  for (const name of readdirSync(`/proc/self/fd/${directory}`)) if (!files.has(name)) unlinkat(directory, name, 0)
}

const roomOf = ({ pid, memory }: HeldProcess): Room => rooms.get(memory) ?? openRoom(pid, memory)

/**
 * Uses a descriptor of ours, because resolving the path takes longer than the work in it. A node may have put links on
 * the path, so no link is followed out of its files, nor at the end.
 */
const openRoom = (pid: number, memory: ProcessMemory): Room => {
  const parent = openFor(pid, roomParent, constants.O_RDONLY | constants.O_DIRECTORY, memoryFileSystem)
  try {
    const path = `/proc/self/fd/${parent}/${roomName}`
    mkdirSync(path, { recursive: true, mode: 0o755 })
    const directory = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW)
    memory.closeToo(directory)
    const opened = { directory, files: new Map(), others: 0 }
    rooms.set(memory, opened)
    return opened
  } finally {
    closeSync(parent)
  }
}
