import { constants } from 'node:fs'
import { withDuplicate } from '../../../linux/descriptor.ts'
import { AT_FDCWD, lseek } from '../../../linux/libc.ts'
import { type ProcessMemory, pathAt } from '../../../linux/memory.ts'
import type { RegisterName, Registers } from '../../../linux/ptrace.ts'
import { syscallNumber } from '../../../linux/syscall-number.ts'
import type { Treat, Treatments } from '../calls/treatment.ts'
import type { HeldThread } from '../held/held-node.ts'
import { pathMeant } from './asked-path.ts'
import { contentShown, uuidPath } from './kernel-files.ts'
import { belowStack, openAtOtherPath } from './other-path.ts'
import { provide, provideNew } from './provided-files.ts'
import { completeRandomFile, randomNames, randomPlace } from './random-files.ts'
import { keepFile } from './resident-files.ts'

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

const isOfKernel = (path: string) => /^\/(?:proc|dev|sys)\//.test(path)
const randomPaths = new Set(randomNames.map(name => `/dev/${name}`))

/** Treats a call that opens a file. */
const openShown =
  (asked: Asked): Treat =>
  (thread, registers, name, isRecorded) => {
    const written = pathAt(thread.process.memory, registers.get(asked.path))
    if (written === undefined) return undefined
    const path = pathMeant(thread, asked.directory ? registers.get(asked.directory) | 0 : AT_FDCWD, written)
    if (!isOfKernel(path)) {
      keepFile(thread.process, path)
      return undefined
    }
    if (randomPaths.has(path)) {
      thread.atExit = after => moveOn(thread, after.get('rax'))
      return 'exit'
    }
    if (name === 'openat2') return openat2Shown(thread, registers, path) ? 'exit' : undefined
    const instead = fileInstead(thread, path)
    if (instead === undefined) return undefined
    if (name === 'openat' && !isRecorded && openAtOtherPath(thread.process, registers, instead)) return 'go on'
    return replacePath(thread, registers, asked.path, instead) ? 'exit' : undefined
  }

/**
 * The file that is opened instead lies elsewhere, so rules of openat2 about the way to a file would refuse it. The call
 * becomes openat.
 */
const openat2Shown = (thread: HeldThread, registers: Registers, path: string): boolean => {
  const how = registers.get('rdx')
  const flags = flagsOf(thread.process.memory, how)
  if (flags === undefined || (flags & accessMode) !== constants.O_RDONLY) return false
  const instead = fileInstead(thread, path)
  if (instead === undefined || !replacePath(thread, registers, 'rsi', instead)) return false
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

const fromBegin = 0

const moveOn = ({ process }: HeldThread, fd: number): void => {
  if (fd < 0) return
  const place = randomPlace(process.node.countRandomFile())
  withDuplicate(process.pid, fd, own => {
    completeRandomFile(own)
    lseek(own, place, fromBegin)
  })
}

/** Path of a file with the content that is shown; undefined if the program sees the file itself. */
const fileInstead = (thread: HeldThread, path: string): string | undefined => {
  const content = contentShown(thread, path)
  if (content === undefined) return undefined
  try {
    return path === uuidPath ? provideNew(thread.process, content) : provide(thread.process, path, content)
  } catch {
    return undefined
  }
}

/** Replaces the path of a call until its exit. False if the program has no stack there. */
const replacePath = (thread: HeldThread, registers: Registers, register: RegisterName, path: string): boolean => {
  const address = registers.get('rsp') - belowStack
  try {
    thread.process.memory.write(address, Buffer.from(`${path}\0`))
  } catch {
    return false
  }
  const asked = registers.get(register)
  registers.set(register, address)
  thread.atExit = after => after.set(register, asked)
  return true
}

/** Of `open` and `openat` those are not reported that open something for other purposes than reading alone. */
export const openingCalls: Treatments = {
  open: openShown({ path: 'rdi' }),
  openat: openShown({ path: 'rsi', directory: 'rdi' }),
  openat2: openShown({ path: 'rsi', directory: 'rdi' }),
}
