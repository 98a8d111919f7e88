import {
  closeSync,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  readSync,
  type Stats,
  statSync,
} from 'node:fs'
import { basename, dirname, isAbsolute, join } from 'node:path/posix'
import { openFor, pathOnly } from '../../../linux/inside.ts'
import { AT_FDCWD } from '../../../linux/libc.ts'
import { type ProcessMemory, pathAt } from '../../../linux/memory.ts'
import { isInOverlay } from '../../../linux/mounts.ts'
import type { RegisterName, Registers } from '../../../linux/ptrace.ts'
import type { SyscallName } from '../../../linux/syscall-number.ts'
import type { Inode } from '../../unsynced/operation.ts'
import { isTornWithoutOrder } from '../../unsynced/outcomes.ts'
import { directoriesOf, type Unsynced } from '../../unsynced/unsynced.ts'
import type { HeldThread } from '../held/held-node.ts'
import { mappedBytesMax, mapsToWrite, seeMapped } from './mapped-files.ts'

/**
 * System calls that change a disk, seen at their entry and their exit: what a power failure may lose. They are stopped only
 * where a power failure may come.
 */

/** What is to be done at the exit of a call that succeeded. @param result of the call */
type Then = (result: number) => void

type Watch = (writer: Writer, registers: Registers) => Then | undefined

/** Who calls. */
interface Writer {
  readonly thread: HeldThread
  readonly unsynced: Unsynced
}

const O_CREAT = 0o100
const O_TRUNC = 0o1000
const O_APPEND = 0o2000
/** O_DSYNC, which O_SYNC contains. */
const O_DSYNC = 0o10000
/** RWF_DSYNC and RWF_SYNC */
const RWF_DSYNC = 2 | 4
const RENAME_EXCHANGE = 2
const FALLOC_FL_KEEP_SIZE = 1

/** A file of the disk that a process has open. */
export interface OpenFile {
  /** Leads to it from here. */
  readonly own: string
  /** As its node sees it. */
  readonly path: string
  readonly size: number
  readonly flags: number
  readonly position: number
}

/** Undefined for what is no file of the disk. */
export const fileOf = (pid: number, fd: number): OpenFile | undefined => {
  const own = `/proc/${pid}/fd/${fd}`
  try {
    const path = readlinkSync(own)
    if (!path.startsWith('/') || path.endsWith(' (deleted)') || !isInOverlay(own)) return undefined
    // A pipe with a name is no file: opening it would take its other end.
    if (!statSync(own).isFile()) return undefined
    const info = readFileSync(`/proc/${pid}/fdinfo/${fd}`, 'latin1')
    const [, position] = /^pos:\s*(\d+)/m.exec(info)!
    const [, flags] = /^flags:\s*(\d+)/m.exec(info)!
    return { own, path, size: sizeOf(own), position: Number(position), flags: Number.parseInt(flags!, 8) }
  } catch {
    return undefined
  }
}

/** Whether a descriptor is of a file of the disk. */
export const isFileOfDisk = (pid: number, fd: number): boolean => {
  const own = `/proc/${pid}/fd/${fd}`
  try {
    return readlinkSync(own).startsWith('/') && isInOverlay(own) && statSync(own).isFile()
  } catch {
    return false
  }
}

/** Opened again, because the process may have opened it for writing alone. */
const reading = <Result>(own: string, use: (descriptor: number) => Result): Result => {
  const descriptor = openSync(own, 'r')
  try {
    return use(descriptor)
  } finally {
    closeSync(descriptor)
  }
}

const sizeOf = (own: string): number => reading(own, descriptor => fstatSync(descriptor).size)

export const bytesAt = (own: string, offset: number, length: number): Buffer => {
  if (length <= 0) return nothing
  const bytes = Buffer.alloc(length)
  return bytes.subarray(
    0,
    reading(own, descriptor => readSync(descriptor, bytes, 0, length, offset)),
  )
}

const nothing = Buffer.alloc(0)

/** Where a write begins, at the file's position if no other place is given. */
const offsetOf = ({ flags, size, position }: OpenFile, at: number | undefined): number =>
  (flags & O_APPEND) !== 0 ? size : (at ?? position)

/** Where a call writes to a file, and at most how much; undefined for a call of another kind. */
export const placeOfWrite = (
  memory: ProcessMemory,
  registers: Registers,
  name: SyscallName,
  file: OpenFile,
): { readonly offset: number; readonly length: number } | undefined => {
  const length = registers.get('rdx')
  const vectors = () => vectorsLength(memory, registers.get('rsi'), int(registers, 'rdx'))
  const at = registers.get('r10') >= 0 ? registers.get('r10') : undefined
  switch (name) {
    case 'write':
      return { offset: offsetOf(file, undefined), length }
    case 'pwrite64':
      return { offset: offsetOf(file, registers.get('r10')), length }
    case 'writev':
      return { offset: offsetOf(file, undefined), length: vectors() }
    case 'pwritev':
    case 'pwritev2':
      return { offset: offsetOf(file, at), length: vectors() }
    default:
      return undefined
  }
}

/** A write of a number of bytes at most, at the file's position if no other is given. */
const write = (writer: Writer, fd: number, length: number, at?: number, flags = 0): Then | undefined => {
  const file = fileOf(writer.thread.process.pid, fd)
  if (file === undefined) return undefined
  const { own, path, size } = file
  const offset = offsetOf(file, at)
  const before = bytesAt(own, offset, Math.min(length, size - offset))
  return result => {
    const { unsynced } = writer
    if (result <= 0) return
    const after = bytesAt(own, offset, result)
    const operation = {
      ...{ does: 'write' as const, file: unsynced.fileAt(path), path, offset },
      ...{ before: before.subarray(0, result), after, sizeBefore: size },
    }
    unsynced.add(operation)
    if (unsynced.model === 'ordered' && isTornWithoutOrder(operation)) unsynced.isSpared = true
    if ((file.flags & O_DSYNC) !== 0 || (flags & RWF_DSYNC) !== 0) unsynced.syncFile(path)
  }
}

const resize = ({ unsynced }: Writer, own: string, path: string, to: number): Then => {
  const from = sizeOf(own)
  const lost = bytesAt(own, to, from - to)
  return () => {
    if (from !== to) unsynced.add({ does: 'resize', file: unsynced.fileAt(path), path, from, to, lost })
  }
}

/** The sum of an array of struct iovec. */
const vectorsLength = (memory: ProcessMemory, address: number, count: number): number => {
  if (count <= 0 || count > 1024) return 0
  const vectors = memory.read(address, count * 16)
  let sum = 0
  for (let index = 0; index < count; index++) sum += Number(vectors.readBigUInt64LE(index * 16 + 8))
  return sum
}

const int = (registers: Registers, name: RegisterName): number => registers.get(name) | 0

const vectors =
  (at: boolean, hasFlags = false): Watch =>
  (writer, registers) =>
    write(
      writer,
      int(registers, 'rdi'),
      vectorsLength(writer.thread.process.memory, registers.get('rsi'), int(registers, 'rdx')),
      at && registers.get('r10') >= 0 ? registers.get('r10') : undefined,
      hasFlags ? int(registers, 'r9') : 0,
    )

/** Where a call says at which offset it writes; at the position if it says nothing. */
const offsetAt = ({ thread }: Writer, pointer: number): number | undefined =>
  pointer === 0 ? undefined : Number(thread.process.memory.read(pointer, 8).readBigInt64LE())

/** A name on the disk, without links in its way. */
interface Name {
  readonly path: string
  /** Leads to it from here. */
  readonly own: string
}

const nameOf = (
  { thread: { tid, process } }: Writer,
  directory: number,
  address: number,
  follows = false,
): Name | undefined => {
  const asked = pathAt(process.memory, address)?.replace(/\/+$/, '')
  if (!asked) return undefined
  const from = isAbsolute(asked)
    ? ''
    : readlinkSync(`/proc/${tid}/${directory === AT_FDCWD ? 'cwd' : `fd/${directory}`}`)
  const full = join('/', from, asked)
  try {
    if (follows && lstatSync(`/proc/${tid}/root${full}`, { throwIfNoEntry: false })?.isSymbolicLink()) {
      const path = placeOf(process.pid, full)
      return { path, own: `/proc/${tid}/root${path}` }
    }
    const parent = placeOf(process.pid, dirname(full))
    const own = `/proc/${tid}/root${parent}`
    return isInOverlay(own) ? { path: join(parent, basename(full)), own: join(own, basename(full)) } : undefined
  } catch {
    return undefined
  }
}

/** Where a path leads, in the node. */
const placeOf = (pid: number, path: string): string => {
  const descriptor = openFor(pid, path, pathOnly)
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`)
  } finally {
    closeSync(descriptor)
  }
}

const inodeOf = (own: string): Inode | undefined => {
  const stat = lstatSync(own, { throwIfNoEntry: false })
  return stat && described(own, stat)
}

const described = (own: string, stat: Stats): Inode | undefined => {
  const common = { mode: stat.mode & 0o7777, uid: stat.uid, gid: stat.gid }
  if (stat.isDirectory()) return { ...common, kind: 'directory' }
  if (stat.isSymbolicLink()) return { ...common, kind: 'link', target: readlinkSync(own) }
  return stat.isFile() ? { ...common, kind: 'file', bytes: readFileSync(own) } : undefined
}

/** A name that the call may make. */
const making = (writer: Writer, directory: number, address: number): Then | undefined => {
  const name = nameOf(writer, directory, address)
  if (name === undefined || lstatSync(name.own, { throwIfNoEntry: false })) return undefined
  return () => hasMade(writer, name)
}

const hasMade = ({ unsynced }: Writer, { path, own }: Name): void => {
  const inode = inodeOf(own)
  if (inode === undefined) return
  const empty = inode.kind === 'file' ? { ...inode, bytes: nothing } : inode
  unsynced.add({ does: 'make', file: unsynced.newFile(), path, inode: empty, awaits: directoriesOf(path) })
}

const opening = (writer: Writer, directory: number, address: number, flags: number): Then | undefined => {
  if ((flags & (O_CREAT | O_TRUNC)) === 0) return undefined
  const name = nameOf(writer, directory, address, true)
  if (name === undefined) return undefined
  const stat = lstatSync(name.own, { throwIfNoEntry: false })
  if (stat === undefined) return () => hasMade(writer, name)
  if (!stat.isFile() || (flags & O_TRUNC) === 0 || stat.size === 0 || !isInOverlay(name.own)) return undefined
  return resize(writer, name.own, name.path, 0)
}

const removing = (writer: Writer, directory: number, address: number): Then | undefined => {
  const name = nameOf(writer, directory, address)
  const inode = name && inodeOf(name.own)
  if (inode === undefined) return undefined
  const { path } = name!
  const { unsynced } = writer
  return () => unsynced.add({ does: 'remove', file: unsynced.fileAt(path), path, inode, awaits: directoriesOf(path) })
}

const renaming = (
  writer: Writer,
  [fromDirectory, fromAddress]: readonly [number, number],
  [toDirectory, toAddress]: readonly [number, number],
  flags = 0,
): Then | undefined => {
  const from = nameOf(writer, fromDirectory, fromAddress)
  const to = nameOf(writer, toDirectory, toAddress)
  if (from === undefined || to === undefined || from.path === to.path || (flags & RENAME_EXCHANGE) !== 0)
    return undefined
  const inode = inodeOf(to.own)
  const { unsynced } = writer
  return () => {
    const replaced = inode && { file: unsynced.fileAt(to.path), inode }
    unsynced.add({
      does: 'rename',
      file: unsynced.fileAt(from.path),
      path: to.path,
      from: from.path,
      replaced,
      awaits: directoriesOf(from.path, to.path),
    })
  }
}

const linking = (writer: Writer, from: readonly [number, number], to: readonly [number, number]): Then | undefined => {
  const [old, name] = [nameOf(writer, ...from), nameOf(writer, ...to)]
  if (old === undefined || name === undefined) return undefined
  const { unsynced } = writer
  return () =>
    unsynced.add({
      does: 'link',
      file: unsynced.fileAt(old.path),
      path: name.path,
      awaits: directoriesOf(name.path),
    })
}

const flagsOfHow = (memory: ProcessMemory, how: number): number => memory.read(how, 4).readUInt32LE()

/** A file that memory writes to from now on. */
const mapping: Watch = ({ thread, unsynced }, registers) => {
  const file = mapsToWrite(registers) ? fileOf(thread.process.pid, int(registers, 'r8')) : undefined
  if (file === undefined || file.size > mappedBytesMax) return undefined
  const bytes = bytesAt(file.own, 0, file.size)
  return () => unsynced.map(file.path, bytes)
}

const watches: Partial<Record<SyscallName, Watch>> = {
  mmap: mapping,
  write: (writer, registers) => write(writer, int(registers, 'rdi'), registers.get('rdx')),
  pwrite64: (writer, registers) => write(writer, int(registers, 'rdi'), registers.get('rdx'), registers.get('r10')),
  writev: vectors(false),
  pwritev: vectors(true),
  pwritev2: vectors(true, true),
  sendfile: (writer, registers) => write(writer, int(registers, 'rdi'), registers.get('r10')),
  copy_file_range: (writer, registers) =>
    write(writer, int(registers, 'rdx'), registers.get('r8'), offsetAt(writer, registers.get('r10'))),
  splice: (writer, registers) =>
    write(writer, int(registers, 'rdx'), registers.get('r8'), offsetAt(writer, registers.get('r10'))),
  ftruncate: (writer, registers) => {
    const file = fileOf(writer.thread.process.pid, int(registers, 'rdi'))
    return file && resize(writer, file.own, file.path, registers.get('rsi'))
  },
  truncate: (writer, registers) => {
    const name = nameOf(writer, AT_FDCWD, registers.get('rdi'), true)
    if (name === undefined || !lstatSync(name.own, { throwIfNoEntry: false })?.isFile()) return undefined
    return resize(writer, name.own, name.path, registers.get('rsi'))
  },
  fallocate: (writer, registers) => {
    const file = fileOf(writer.thread.process.pid, int(registers, 'rdi'))
    if (file === undefined) return undefined
    const [mode, offset, length] = [int(registers, 'rsi'), registers.get('rdx'), registers.get('r10')]
    // Other modes replace the range within the file by zeros, unless they only keep its size.
    if (mode === 0) return resize(writer, file.own, file.path, Math.max(file.size, offset + length))
    const inFile = Math.min(length, file.size - offset)
    const zeroed =
      inFile > 0 && (mode & ~FALLOC_FL_KEEP_SIZE) !== 0
        ? write(writer, int(registers, 'rdi'), inFile, offset)
        : undefined
    return zeroed && (() => zeroed(inFile))
  },
  open: (writer, registers) => opening(writer, AT_FDCWD, registers.get('rdi'), int(registers, 'rsi')),
  creat: (writer, registers) => opening(writer, AT_FDCWD, registers.get('rdi'), O_CREAT | O_TRUNC),
  openat: (writer, registers) => opening(writer, int(registers, 'rdi'), registers.get('rsi'), int(registers, 'rdx')),
  openat2: (writer, registers) =>
    opening(
      writer,
      int(registers, 'rdi'),
      registers.get('rsi'),
      flagsOfHow(writer.thread.process.memory, registers.get('rdx')),
    ),
  mkdir: (writer, registers) => making(writer, AT_FDCWD, registers.get('rdi')),
  mkdirat: (writer, registers) => making(writer, int(registers, 'rdi'), registers.get('rsi')),
  symlink: (writer, registers) => making(writer, AT_FDCWD, registers.get('rsi')),
  symlinkat: (writer, registers) => making(writer, int(registers, 'rsi'), registers.get('rdx')),
  link: (writer, registers) => linking(writer, [AT_FDCWD, registers.get('rdi')], [AT_FDCWD, registers.get('rsi')]),
  linkat: (writer, registers) =>
    linking(writer, [int(registers, 'rdi'), registers.get('rsi')], [int(registers, 'rdx'), registers.get('r10')]),
  unlink: (writer, registers) => removing(writer, AT_FDCWD, registers.get('rdi')),
  rmdir: (writer, registers) => removing(writer, AT_FDCWD, registers.get('rdi')),
  unlinkat: (writer, registers) => removing(writer, int(registers, 'rdi'), registers.get('rsi')),
  rename: (writer, registers) => renaming(writer, [AT_FDCWD, registers.get('rdi')], [AT_FDCWD, registers.get('rsi')]),
  renameat: (writer, registers) =>
    renaming(writer, [int(registers, 'rdi'), registers.get('rsi')], [int(registers, 'rdx'), registers.get('r10')]),
  renameat2: (writer, registers) =>
    renaming(
      writer,
      [int(registers, 'rdi'), registers.get('rsi')],
      [int(registers, 'rdx'), registers.get('r10')],
      int(registers, 'r8'),
    ),
}

/** The calls that are stopped where a power failure may come. */
export const writingCalls: ReadonlySet<SyscallName> = new Set(Object.keys(watches) as SyscallName[])

/** What must be done at the exit of a call that writes to a disk of which a power failure may lose something. */
export const watchWrite = (
  thread: HeldThread,
  registers: Registers,
  name: SyscallName,
): ((after: Registers) => void) | undefined => {
  const { unsynced } = thread.process.node
  const watch = watches[name]
  if (unsynced === undefined || watch === undefined) return undefined
  // So that what memory wrote before comes before.
  seeMapped(thread.process.node)
  const then = unlessGone(() => watch({ thread, unsynced }, registers))
  return (
    then &&
    (after => {
      const result = after.get('rax')
      if (result >= 0) unlessGone(() => then(result))
    })
  )
}

/** A descriptor, a directory or a process may be gone meanwhile, which the call itself says. */
const unlessGone = <Result>(look: () => Result): Result | undefined => {
  try {
    return look()
  } catch (error) {
    if (gone.has((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}

const gone = new Set(['ENOENT', 'ENOTDIR', 'EBADF', 'ESRCH', 'EIO', 'ELOOP', 'EACCES'])
