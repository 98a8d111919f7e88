import { hash } from 'node:crypto'
import { closeSync, constants, mkdirSync, openSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { AT_FDCWD, close, errno, lastErrno, libc, lseek, SystemError, write } from '../../proxy/libc.ts'
import { pathMeant } from './asked-path.ts'
import { withDuplicate } from './descriptor.ts'
import type { HeldProcess, HeldThread } from './held-node.ts'
import { openFor } from './inside.ts'
import { contentShown } from './kernel-files.ts'
import type { ProcessMemory } from './memory.ts'
import type { RegisterName, Registers } from './ptrace.ts'
import { completeRandomFile, randomNames, randomPlace } from './random-files.ts'
import { keepFile } from './resident-files.ts'
import { type SyscallName, syscallNumber } from './syscall-number.ts'

/**
 * Files in which the kernel shows time, properties of this machine, and random bytes. Opening one of the first two
 * kinds opens another file instead, whose content follows from the node. Each opening of random bytes gets different
 * bytes.
 */

/** Where a call has the path and, if it has one, the descriptor from which a relative path counts. */
interface Asked {
  readonly path: RegisterName
  readonly directory?: RegisterName
}

/** Of `open` and `openat` those are not reported that open something for other purposes than reading alone. */
const askedBy: Partial<Record<SyscallName, Asked>> = {
  open: { path: 'rdi' },
  openat: { path: 'rsi', directory: 'rdi' },
  openat2: { path: 'rsi', directory: 'rdi' },
}

const isOfKernel = (path: string) => /^\/(?:proc|dev|sys)\//.test(path)
const randomPaths = new Set(randomNames.map(name => `/dev/${name}`))

/** Whether the call opens such a file. If so, its exit must be seen. */
export const openShown = (thread: HeldThread, registers: Registers, name: SyscallName): boolean => {
  const asked = askedBy[name]
  if (asked === undefined) return false
  const written = pathAt(thread.process.memory, registers.get(asked.path))
  if (written === undefined) return false
  const path = pathMeant(thread, asked.directory ? registers.get(asked.directory) | 0 : AT_FDCWD, written)
  if (!isOfKernel(path)) {
    keepFile(thread.process, path)
    return false
  }
  if (randomPaths.has(path)) {
    thread.atExit = after => moveOn(thread, after.get('rax'))
    return true
  }
  if (name === 'openat2') return openat2Shown(thread, registers, path)
  return isOpenedInstead(thread, registers, asked.path, path)
}

const isOpenedInstead = (thread: HeldThread, registers: Registers, register: RegisterName, path: string): boolean => {
  const content = contentShown(thread, path)
  return content !== undefined && openInstead(thread, registers, register, content)
}

/**
 * The file that is opened instead lies elsewhere, so rules of openat2 about the way to a file would refuse it. The call
 * becomes openat.
 */
const openat2Shown = (thread: HeldThread, registers: Registers, path: string): boolean => {
  const how = registers.get('rdx')
  const flags = flagsOf(thread.process.memory, how)
  if (flags === undefined || (flags & accessMode) !== constants.O_RDONLY) return false
  if (!isOpenedInstead(thread, registers, 'rsi', path)) return false
  registers.set('origRax', syscallNumber.openat)
  registers.set('rdx', flags)
  const { atExit } = thread
  thread.atExit = after => {
    atExit?.(after)
    after.set('rdx', how)
  }
  return true
}

/** O_ACCMODE */
const accessMode = 3

/** A `struct open_how` begins with them. Undefined if there is none, which the call itself will say. */
const flagsOf = (memory: ProcessMemory, how: number): number | undefined => {
  try {
    return memory.read(how, 4).readUInt32LE()
  } catch {
    return undefined
  }
}

/** Bytes of the first read, which ends with the page at the latest. Most paths are shorter; more bytes cost time. */
const firstRead = 128
const longestPath = 4096
const pageSize = 4096

/** Undefined if the path is too long or cannot be read. */
const pathAt = (memory: ProcessMemory, address: number): string | undefined => {
  const read: Buffer[] = []
  try {
    for (let length = 0; length < longestPath; ) {
      const from = address + length
      const bytes = memory.read(from, Math.min(length === 0 ? firstRead : longestPath, pageSize - (from % pageSize)))
      const end = bytes.indexOf(0)
      if (end !== -1) return Buffer.concat([...read, bytes.subarray(0, end)]).toString()
      read.push(bytes)
      length += bytes.length
    }
  } catch {}
  return undefined
}

const fromBegin = 0

const moveOn = ({ process }: HeldThread, fd: number): void => {
  if (fd < 0) return
  const place = randomPlace(process.node.countRandomFile())
  withDuplicate(process.pid, fd, own => {
    completeRandomFile(own)
    lseek(own, place, fromBegin)
  })
}

/** A directory that every node has in memory, and empty. The files that are opened instead are put there. */
const roomParent = '/sys/fs/cgroup'
const roomName = '0'
const room = join(roomParent, roomName)
const memoryFileSystem = 0x0102_1994
const filesMax = 1000
const newFile = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL

/** Distance below the stack pointer at which the program stores nothing. */
const belowStack = 256

const openInstead = (thread: HeldThread, registers: Registers, register: RegisterName, content: string): boolean => {
  const { memory } = thread.process
  const name = hash('sha256', content).slice(0, 16)
  const address = registers.get('rsp') - belowStack
  try {
    provide(thread.process, name, content)
    memory.write(address, Buffer.from(`${join(room, name)}\0`))
  } catch {
    // A container without such a directory, or a program that changed its root, sees the real file.
    return false
  }
  const asked = registers.get(register)
  registers.set(register, address)
  thread.atExit = after => after.set(register, asked)
  return true
}

const openat = libc.func('int openat(int directory, const char *name, int flags, int mode)')
const unlinkat = libc.func('int unlinkat(int directory, const char *name, int flags)')

interface Room {
  readonly directory: number
  /** How many files were provided in it. */
  provided: number
}

/** The room of each process, so that it is not looked up for each file. */
const rooms = new WeakMap<ProcessMemory, Room>()

/** Provides a file with this content. An existing one is never written again, because it may be open. */
const provide = ({ pid, memory }: HeldProcess, name: string, content: string): void => {
  const known = rooms.get(memory) ?? openRoom(pid, memory)
  known.provided += 1
  if (known.provided % filesMax === 0) empty(known)
  const file = openat(known.directory, name, newFile, 0o444)
  if (file === -1) {
    if (lastErrno() !== errno.EEXIST) throw new SystemError('openat', lastErrno())
    return
  }
  const bytes = Buffer.from(content)
  const put = write(file, bytes, bytes.length)
  close(file)
  if (put !== bytes.length) throw new Error(`wrote ${put} of ${bytes.length} bytes of ${name}`)
}

const empty = ({ directory }: Room): void => {
  for (const name of readdirSync(`/proc/self/fd/${directory}`)) unlinkat(directory, name, 0)
}

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
    const opened = { directory, provided: 0 }
    rooms.set(memory, opened)
    return opened
  } finally {
    closeSync(parent)
  }
}
