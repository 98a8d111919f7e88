import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs'
import type { HeldProcess, HeldThread } from './held-node.ts'
import { instructionLength } from './instruction-length.ts'
import type { ProcessMemory } from './memory.ts'
import type { RegisterName, Registers } from './ptrace.ts'

/**
 * The processor's own random numbers: RDRAND and RDSEED ask no kernel, and programs find them by CPUID, which not every
 * machine lets one mask. So where the code of a file has such an instruction, its first byte is replaced by a breakpoint
 * as soon as the file is mapped, and the number comes from the thread's randomness. Code that a program writes itself is not
 * looked at.
 */

/** 0F C7, and an operand from F0 on: /6 and /7 with a register. */
const opcode = 0x0f
const extended = 0xc7
const firstOperand = 0xf0
const breakpoint = 0xcc
const instructionRest = 2

/** Bytes before an instruction from which it is decided whether it is one: enough to be in step. */
const lookBack = 96
/** Nearer ones are not in step yet. */
const nearest = 16

const operandSize = 0x66
const isRex = (byte: number) => (byte & 0xf0) === 0x40
const isWide = (rex: number) => (rex & 8) !== 0

/** Sets breakpoints in what has just been mapped of a file. */
export const trapMapped = (process: HeldProcess, fd: number, mapped: MappedCode): void =>
  trap(process, `/proc/${process.pid}/fd/${fd}`, [mapped])

/** The same in the program that a process executes from now on. */
export const trapProgram = (process: HeldProcess): void =>
  trap(process, `/proc/${process.pid}/exe`, mappedOf(process.pid))

interface MappedCode {
  readonly address: number
  /** In the file. */
  readonly offset: number
  readonly length: number
}

const mappedOf = (pid: number): MappedCode[] => {
  const maps = readFileSync(`/proc/${pid}/maps`, 'latin1')
  const lines = [...maps.matchAll(/^(\w+)-(\w+) (....) (\w+) \S+ (\d+)/gm)]
  // Nothing but the program and its interpreter, which has no such instruction, is mapped yet: the program comes first.
  const program = lines.find(([, , , , , inode]) => inode !== '0')?.[5]
  return lines
    .filter(([, , , rights, , inode]) => rights!.includes('x') && inode === program)
    .map(([, start, end, , offset]) => {
      const address = Number.parseInt(start!, 16)
      return { address, offset: Number.parseInt(offset!, 16), length: Number.parseInt(end!, 16) - address }
    })
}

const trap = ({ memory }: HeldProcess, path: string, mapped: readonly MappedCode[]): void => {
  const fd = openSync(path, 'r')
  try {
    for (const code of mapped)
      for (const at of sitesOf(fd, code)) memory.write(code.address + at, Buffer.from([breakpoint]))
  } finally {
    closeSync(fd)
  }
}

/** By file and place in it, for as long as this tool runs. */
const known = new Map<string, readonly number[]>()

const sitesOf = (fd: number, { offset, length }: MappedCode): readonly number[] => {
  const { ino, size, mtimeMs, ctimeMs } = fstatSync(fd)
  const key = [ino, size, mtimeMs, ctimeMs, offset, length].join(' ')
  const sites = known.get(key) ?? findSites(readCode(fd, offset, Math.min(length, Math.max(0, size - offset))))
  known.set(key, sites)
  return sites
}

const readCode = (fd: number, offset: number, length: number): Buffer => {
  const code = Buffer.allocUnsafe(length)
  return code.subarray(0, readSync(fd, code, 0, length, offset))
}

const findSites = (code: Buffer): number[] => {
  const sites: number[] = []
  for (let at = code.indexOf(extended); at !== -1; at = code.indexOf(extended, at + 1))
    if (code[at - 1] === opcode && code[at + 1]! >= firstOperand && beginOf(code, at - 1) !== undefined)
      sites.push(at - 1)
  return sites
}

/**
 * Where the instruction begins whose opcode is there, before which it may have prefixes; undefined where these bytes are
 * part of another one. Most who begin to read somewhere before it find it.
 */
const beginOf = (code: Buffer, at: number): number | undefined => {
  const from = Math.max(0, at - lookBack)
  const lengths = Array.from({ length: at - from + 1 }, (_, index) => instructionLength(code, from + index))
  const votes = new Map<number, number>()
  const readers = Math.max(1, at - nearest - from)
  for (let first = 0; first < readers; first++) {
    const begin = from + lastBegin(lengths, first)
    votes.set(begin, (votes.get(begin) ?? 0) + 1)
  }
  const [begin, count] = [...votes].sort(([, one], [, other]) => other - one)[0]!
  return count * 2 > readers && isPrefixed(code.subarray(begin, at)) ? begin : undefined
}

/** Of the instruction in which the last byte is, for who reads on from there. */
const lastBegin = (lengths: readonly number[], from: number): number => {
  let begin = from
  for (let next = from; next < lengths.length; next += lengths[next]!) begin = next
  return begin
}

/** Whether these may stand before the opcode: F3 would make another instruction of it. */
const isPrefixed = (before: Buffer): boolean =>
  before.every((byte, index) => byte === operandSize || (isRex(byte) && index === before.length - 1))

const numbered: readonly RegisterName[] = [
  'rax', 'rcx', 'rdx', 'rbx', 'rsp', 'rbp', 'rsi', 'rdi', 'r8', 'r9', 'r10', 'r11', 'r12', 'r13', 'r14', 'r15',
] // biome-ignore format: as the processor counts them

/** CF, which says that there was a number, of all flags that are set. */
const carry = 1n
/** CF, PF, AF, ZF, SF, OF */
const flags = 0x8d5n

/** Draws a number in place of a thread that stopped at one of our breakpoints; false where it is none. */
export const drawNumber = ({ process, randomness }: HeldThread, registers: Registers): boolean => {
  const after = registers.get('rip')
  const code = codeBefore(process.memory, after)
  const at = code.length - 1 - instructionRest
  if (code[at] !== breakpoint || code[at + 1] !== extended || code[at + 2]! < firstOperand) return false
  restore(code)
  const prefix = code.subarray(beginOf(code, at) ?? at, at)
  const rex = prefix.find(isRex) ?? 0
  const name = numbered[(code[at + 2]! & 7) | ((rex & 1) << 3)]!
  const bits = isWide(rex) ? 64n : prefix.includes(operandSize) ? 16n : 32n
  const drawn = BigInt.asUintN(Number(bits), randomness.bytes(8).readBigUInt64LE())
  // Two bytes leave the others of the register as they are; four do not.
  const kept = bits === 16n ? registers.getWord(name) & ~0xffffn : 0n
  registers.setWord(name, kept | drawn)
  registers.setWord('eflags', (registers.getWord('eflags') & ~flags) | carry)
  registers.set('rip', after + instructionRest)
  return true
}

/** What stands before the breakpoint, and the instruction; nothing where a program jumped to where nothing is. */
const codeBefore = (memory: ProcessMemory, after: number): Buffer => {
  try {
    return memory.read(after - 1 - lookBack, lookBack + 1 + instructionRest)
  } catch {
    return Buffer.alloc(1 + instructionRest)
  }
}

/** Puts the opcodes back where breakpoints are. */
const restore = (code: Buffer): void => {
  for (let at = code.indexOf(breakpoint); at !== -1; at = code.indexOf(breakpoint, at + 1))
    if (code[at + 1] === extended && code[at + 2]! >= firstOperand) code[at] = opcode
}
