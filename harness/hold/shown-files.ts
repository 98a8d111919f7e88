import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { lseek } from '../../proxy/libc.ts'
import { withDuplicate } from './descriptor.ts'
import type { HeldProcess, HeldThread } from './held-node.ts'
import { contentShown } from './kernel-files.ts'
import type { ProcessMemory } from './memory.ts'
import type { RegisterName, Registers } from './ptrace.ts'
import type { SyscallName } from './syscall-number.ts'

/**
 * Files in which the kernel tells of time, of what this machine does, and of chance. Who opens one of the first two kinds
 * opens another in its place, which says what follows from the node; who opens one of random bytes finds others than
 * who opened it before.
 */

/** Where a call has its path, and its flags. */
const openCalls: Partial<Record<SyscallName, { readonly path: RegisterName; readonly flags: RegisterName }>> = {
  open: { path: 'rdi', flags: 'rsi' },
  openat: { path: 'rsi', flags: 'rdx' },
}

/** O_WRONLY | O_RDWR | O_PATH | O_DIRECTORY */
const noReading = 1 | 2 | 0o10000000 | 0o200000
const isRandom = (path: string) => path === '/dev/urandom' || path === '/dev/random'

/** Whether the call opens such a file: its exit must be seen then. */
export const openShown = (thread: HeldThread, registers: Registers, name: SyscallName): boolean => {
  const call = openCalls[name]
  if (call === undefined || (registers.get(call.flags) & noReading) !== 0) return false
  const path = pathAt(thread.process.memory, registers.get(call.path))
  if (path === undefined) return false
  if (isRandom(path)) {
    thread.atExit = after => moveOn(thread, after.get('rax'))
    return true
  }
  const content = contentShown(thread, path)
  return content !== undefined && openInstead(thread, registers, call.path, content)
}

/** Longer ones are none of these. */
const longestPath = 64
const pageSize = 4096

/** Undefined where it is too long, does not begin like one of these, or cannot be read. */
const pathAt = (memory: ProcessMemory, address: number): string | undefined => {
  try {
    const inPage = Math.min(longestPath, pageSize - (address % pageSize))
    const begin = memory.read(address, inPage)
    if (!/^\/(?:proc|dev)/.test(begin.toString('latin1', 0, 5)) && inPage >= 5) return undefined
    const isWhole = begin.includes(0) || inPage === longestPath
    const bytes = isWhole ? begin : Buffer.concat([begin, memory.read(address + inPage, longestPath - inPage)])
    const end = bytes.indexOf(0)
    return end === -1 ? undefined : bytes.toString('latin1', 0, end)
  } catch {
    return undefined
  }
}

/**
 * How far apart two openings of a file of random bytes begin. The file is longer by `randomBytesAfter` than what they begin
 * in; as this is sixteen times an odd number, 65,536 of them begin at different places.
 */
const stride = 4112
const randomBytesBegun = 1 << 20
const randomBytesAfter = 1 << 16
export const randomBytesLength = randomBytesBegun + randomBytesAfter

const fromBegin = 0

const moveOn = ({ process }: HeldThread, fd: number): void => {
  if (fd < 0) return
  const position = (process.node.countRandomFile() * stride) % randomBytesBegun
  withDuplicate(process.pid, fd, own => lseek(own, position, fromBegin))
}

/** A directory of every node that is in memory and has nothing in it: there the files are that are opened instead. */
const room = '/sys/fs/cgroup/0'
const memoryFileSystem = 0x0102_1994
const filesMax = 1000

/** Below the stack pointer, where the program has nothing. */
const belowStack = 256

const openInstead = (thread: HeldThread, registers: Registers, register: RegisterName, content: string): boolean => {
  const { memory } = thread.process
  const name = createHash('sha256').update(content).digest('hex').slice(0, 16)
  const address = registers.get('rsp') - belowStack
  try {
    provide(thread.process, name, content)
    memory.write(address, Buffer.from(`${join(room, name)}\0`))
  } catch {
    // A container without such a directory, or a program in a root of its own: it sees what is there.
    return false
  }
  const asked = registers.get(register)
  registers.set(register, address)
  thread.atExit = after => after.set(register, asked)
  return true
}

/** How many files were made for a process: the room need not be looked at for each. */
const made = new WeakMap<HeldProcess, number>()

/** A file is never written to again: somebody may have it open. */
const provide = (process: HeldProcess, name: string, content: string): void => {
  const directory = `/proc/${process.pid}/root${room}`
  const count = made.get(process)
  if (count === undefined) openRoom(directory)
  else if (count % filesMax === 0) for (const each of readdirSync(directory)) rmSync(join(directory, each))
  made.set(process, (count ?? 0) + 1)
  const file = join(directory, name)
  if (!existsSync(file)) writeFileSync(file, content, { mode: 0o444 })
}

const openRoom = (directory: string): void => {
  if (statfsSync(dirname(directory)).type !== memoryFileSystem) throw new Error(`${directory} is not in memory`)
  mkdirSync(directory, { recursive: true, mode: 0o755 })
}
