import { createHash } from 'node:crypto'
import { constants } from 'node:fs'
import type { ProcessMemory } from '../../../linux/memory.ts'
import { type SyscallName, syscallName } from '../../../linux/syscall-number.ts'

/** Memory that a system call reads or writes: bytes at an argument. */
interface Content {
  /** Index of the argument that points to it, from 0. */
  readonly argument: number
  /** Length in bytes, from the call's arguments and result. */
  readonly length: (args: readonly number[], result: number) => number
  /** The part of these bytes that has a meaning; all by default. */
  readonly meaning?: (bytes: Buffer) => Buffer
}

const sized = (argument: number, sizeArgument: number): Content => ({ argument, length: args => args[sizeArgument]! })
const returned = (argument: number, factor = 1): Content => ({ argument, length: (_, result) => result * factor })
const fixed = (argument: number, bytes: number): Content => ({ argument, length: () => bytes })
const text = (argument: number): Content => ({ argument, length: () => Number.NaN })
const counted = (argument: number, countArgument: number, bytes: number): Content => ({
  argument,
  length: args => args[countArgument]! * bytes,
})
/** An array of `struct iovec`, whose parts are read one by one. */
const vectors = (argument: number, count: number | undefined): Content & { vectors: number | undefined } => ({
  argument,
  length: () => 0,
  vectors: count,
})

const [AF_UNIX, AF_INET] = [1, 2]

/** A struct sockaddr. What follows its path, or its port and address, is left over from the program's stack. */
export const socketAddressIn = (bytes: Buffer): Buffer => {
  const family = bytes.length < 2 ? undefined : bytes.readUInt16LE()
  if (family === AF_INET) return bytes.subarray(0, 8)
  const end = family === AF_UNIX && bytes[2] !== 0 ? bytes.indexOf(0, 2) : -1
  return end === -1 ? bytes : bytes.subarray(0, end)
}

const address = (argument: number, sizeArgument: number): Content => ({
  ...sized(argument, sizeArgument),
  meaning: socketAddressIn,
})

const timespec = 16

/** Number of arguments of a call, and what it reads from memory and writes to it. By default three and none. */
interface Shape {
  readonly takes: number
  readonly given?: Content
  readonly gives?: Content
}

const shapes: Readonly<Partial<Record<SyscallName, Shape>>> = {
  read: { takes: 3, gives: returned(1) },
  write: { takes: 3, given: sized(1, 2) },
  open: { takes: 3, given: text(0) },
  close: { takes: 1 },
  stat: { takes: 2, given: text(0), gives: fixed(1, 144) },
  fstat: { takes: 2, gives: fixed(1, 144) },
  lstat: { takes: 2, given: text(0), gives: fixed(1, 144) },
  poll: { takes: 3, gives: counted(0, 1, 8) },
  mmap: { takes: 6 },
  brk: { takes: 1 },
  pread64: { takes: 4, gives: returned(1) },
  pwrite64: { takes: 4, given: sized(1, 2) },
  readv: { takes: 3, gives: vectors(1, 2) },
  writev: { takes: 3, given: vectors(1, 2) },
  access: { takes: 2, given: text(0) },
  pipe: { takes: 1, gives: fixed(0, 8) },
  sched_yield: { takes: 0 },
  nanosleep: { takes: 2, given: fixed(0, timespec) },
  getpid: { takes: 0 },
  connect: { takes: 3, given: address(1, 2) },
  sendto: { takes: 6, given: sized(1, 2) },
  recvfrom: { takes: 4, gives: returned(1) },
  sendmsg: { takes: 3, given: vectors(1, undefined) },
  recvmsg: { takes: 3, gives: vectors(1, undefined) },
  bind: { takes: 3, given: address(1, 2) },
  getsockname: { takes: 3, gives: fixed(1, 16) },
  getpeername: { takes: 3, gives: fixed(1, 16) },
  socketpair: { takes: 4, gives: fixed(3, 8) },
  clone: { takes: 5 },
  wait4: { takes: 4, gives: fixed(1, 4) },
  kill: { takes: 2 },
  uname: { takes: 1, gives: fixed(0, 390) },
  getcwd: { takes: 2, gives: returned(0) },
  readlink: { takes: 3, given: text(0), gives: returned(1) },
  gettimeofday: { takes: 2, gives: fixed(0, 16) },
  getrlimit: { takes: 2, gives: fixed(1, 16) },
  getrusage: { takes: 2, gives: fixed(1, 144) },
  sysinfo: { takes: 1, gives: fixed(0, 112) },
  times: { takes: 1, gives: fixed(0, 32) },
  statfs: { takes: 2, given: text(0), gives: fixed(1, 120) },
  gettid: { takes: 0 },
  futex: { takes: 3 }, // what it waits for matters, its time-out is ours
  getdents64: { takes: 3, gives: returned(1) },
  clock_gettime: { takes: 2, gives: fixed(1, timespec) },
  clock_nanosleep: { takes: 4, given: fixed(2, timespec) },
  exit_group: { takes: 1 },
  epoll_wait: { takes: 3, gives: returned(1, 12) },
  openat: { takes: 4, given: text(1) },
  newfstatat: { takes: 4, given: text(1), gives: fixed(2, 144) },
  readlinkat: { takes: 4, given: text(1), gives: returned(2) },
  epoll_pwait: { takes: 3, gives: returned(1, 12) },
  accept4: { takes: 4 },
  prlimit64: { takes: 4, gives: fixed(3, 16) },
  getrandom: { takes: 3, gives: returned(0) },
  statx: { takes: 5, given: text(1), gives: fixed(4, 256) },
}

const other: Shape = { takes: 3 }

const shapeOf = (call: number): Shape => {
  const name = syscallName(call)
  return (name && shapes[name]) ?? other
}

type Range = readonly [from: number, to: number]

/** Bytes of a file's status that differ between executions but that few programs look at. */
interface Incidental {
  readonly modeAt: number
  /** Device, inode number and times. */
  readonly ofAll: readonly Range[]
  /** Links, size and blocks, which only tell how many entries there are: a program that looks at entries reads them. */
  readonly ofDirectories: readonly Range[]
}

const inStat: Incidental = {
  modeAt: 24,
  ofAll: [
    [0, 16],
    [72, 120],
  ],
  ofDirectories: [
    [16, 24],
    [48, 56],
    [64, 72],
  ],
}

const inStatx: Incidental = {
  modeAt: 28,
  ofAll: [
    [32, 40],
    [64, 144],
  ],
  ofDirectories: [
    [16, 20],
    [40, 56],
  ],
}

const incidental: Readonly<Partial<Record<SyscallName, Incidental>>> = {
  stat: inStat,
  fstat: inStat,
  lstat: inStat,
  newfstatat: inStat,
  statx: inStatx,
}

/** The bytes without the incidental ones, which count only if nothing else differs. */
export const essential = (call: number, bytes: Buffer): Buffer => {
  const name = syscallName(call)
  const known = name && incidental[name]
  if (known === undefined || bytes.length === 0) return bytes
  const { modeAt, ofAll, ofDirectories } = known
  const isDirectory = (bytes.readUInt16LE(modeAt) & constants.S_IFMT) === constants.S_IFDIR
  const copy = Buffer.from(bytes)
  for (const [from, to] of isDirectory ? [...ofAll, ...ofDirectories] : ofAll) copy.fill(0, from, to)
  return copy
}

/** Number of arguments of a call that have a meaning. */
export const argumentsOf = (call: number): number => shapeOf(call).takes

/** Memory that the call reads, taken at its entry. Empty if it reads nothing known. */
export const given = (memory: ProcessMemory, call: number, args: readonly number[]): Buffer =>
  contentOf(memory, shapeOf(call).given, args, 0)

/** Memory that the call wrote, taken at its exit. */
export const gives = (memory: ProcessMemory, call: number, args: readonly number[], result: number): Buffer =>
  result < 0 ? nothing : contentOf(memory, shapeOf(call).gives, args, result)

const nothing = Buffer.alloc(0)
/** Longer contents are compared only up to this length. Differences usually appear early. */
const lengthMax = 1 << 16
const textLengthMax = 256
const vectorsMax = 16

const contentOf = (memory: ProcessMemory, content: Content | undefined, args: readonly number[], result: number) => {
  if (content === undefined) return nothing
  const address = args[content.argument]!
  if (address === 0) return nothing
  try {
    if ('vectors' in content) return ofVectors(memory, address, args, content.vectors as number | undefined, result)
    const length = content.length(args, result)
    if (Number.isNaN(length)) return textAt(memory, address)
    const bytes = length > 0 ? memory.read(address, Math.min(length, lengthMax)) : nothing
    return content.meaning?.(bytes) ?? bytes
  } catch {
    // A bad pointer: the call fails, or has failed.
    return nothing
  }
}

const textAt = (memory: ProcessMemory, address: number): Buffer => {
  // A text may end just before an unmapped page.
  const untilPageEnd = 4096 - (address % 4096)
  const first = memory.read(address, Math.min(textLengthMax, untilPageEnd))
  const bytes =
    first.includes(0) || untilPageEnd >= textLengthMax
      ? first
      : Buffer.concat([first, memory.read(address + first.length, textLengthMax - first.length)])
  const end = bytes.indexOf(0)
  return end === -1 ? bytes : bytes.subarray(0, end)
}

/** Offsets of msg_iov and msg_iovlen in a struct msghdr. */
const [vectorsOffset, countOffset] = [16, 24]

const ofVectors = (
  memory: ProcessMemory,
  address: number,
  args: readonly number[],
  countArgument: number | undefined,
  result: number,
): Buffer => {
  const isMessage = countArgument === undefined
  const at = isMessage ? Number(memory.read(address + vectorsOffset, 8).readBigUInt64LE()) : address
  const count = isMessage ? Number(memory.read(address + countOffset, 8).readBigUInt64LE()) : args[countArgument]!
  // Of the call's buffers, only what it read is taken; what it is given is taken whole.
  let left = result > 0 ? result : lengthMax
  const table = memory.read(at, Math.min(count, vectorsMax) * 16)
  const parts: Buffer[] = []
  for (let row = 0; row < table.length && left > 0; row += 16) {
    const length = Math.min(Number(table.readBigUInt64LE(row + 8)), left)
    if (length > 0) parts.push(memory.read(Number(table.readBigUInt64LE(row)), length))
    left -= length
  }
  return Buffer.concat(parts)
}

const shownMax = 48

/** A short digest. Equal digests mean equal bytes, for practical purposes. */
export const digest = (bytes: Buffer): string => {
  if (bytes.length === 0) return ''
  const shown = JSON.stringify(bytes.subarray(0, shownMax).toString('latin1'))
  if (bytes.length <= shownMax) return shown
  return `${shown}… (${bytes.length} bytes, sha1 ${createHash('sha1').update(bytes).digest('hex').slice(0, 12)})`
}
