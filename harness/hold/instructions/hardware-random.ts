import { fstatSync, readFileSync, readSync } from 'node:fs'
import { withFile } from '../../../linux/descriptor.ts'
import type { ProcessMemory } from '../../../linux/memory.ts'
import type { RegisterName, Registers } from '../../../linux/ptrace.ts'
import type { HeldProcess, HeldThread } from '../held/held-node.ts'
import { operandSize } from './instruction.ts'
import { instructionLength } from './instruction-length.ts'

/**
 * The processor's random numbers. RDRAND and RDSEED involve no kernel, and programs find them by CPUID, which not every
 * machine can mask. So in mapped code of a file, the first byte of such an instruction is replaced by a breakpoint, and
 * the number comes from the thread's random stream. Code that a program writes itself is not inspected.
 */

/** 0F C7 and an operand from F0 on: /6 and /7 with a register. */
const opcode = 0x0f
const extended = 0xc7
const firstOperand = 0xf0
const breakpoint = 0xcc
const instructionRest = 2

/** Bytes before an instruction from which decoding starts to decide whether it is one: enough to get in step. */
const lookBack = 96
/** Starting points nearer than this are not yet in step. */
const nearest = 16

const isRex = (byte: number) => (byte & 0xf0) === 0x40
const isWide = (rex: number) => (rex & 8) !== 0

/** Sets breakpoints in a newly mapped part of a file. */
export const trapMapped = (process: HeldProcess, fd: number, mapped: MappedCode): void =>
  trap(process, `/proc/${process.pid}/fd/${fd}`, [mapped])

/** Sets breakpoints in the program that a process has just executed. */
export const trapProgram = (process: HeldProcess): void =>
  trap(process, `/proc/${process.pid}/exe`, mappedOf(process.pid))

interface MappedCode {
  readonly address: number
  /** Offset in the file. */
  readonly offset: number
  readonly length: number
}

const mappedOf = (pid: number): MappedCode[] => {
  const maps = readFileSync(`/proc/${pid}/maps`, 'latin1')
  const lines = [...maps.matchAll(/^(\w+)-(\w+) (....) (\w+) \S+ (\d+)/gm)]
  // Only the program and its interpreter are mapped yet, and the interpreter has no such instruction. The program comes
  // first.
  const program = lines.find(([, , , , , inode]) => inode !== '0')?.[5]
  return lines
    .filter(([, , , rights, , inode]) => rights!.includes('x') && inode === program)
    .map(([, start, end, , offset]) => {
      const address = Number.parseInt(start!, 16)
      return { address, offset: Number.parseInt(offset!, 16), length: Number.parseInt(end!, 16) - address }
    })
}

const trap = ({ memory }: HeldProcess, path: string, mapped: readonly MappedCode[]): void => {
  withFile(path, 'r', fd => {
    for (const code of mapped)
      for (const at of sitesOf(fd, code)) memory.write(code.address + at, Buffer.from([breakpoint]))
  })
}

/** By file and offset, for the lifetime of this tool. */
const known = new Map<string, readonly number[]>()

const sitesOf = (fd: number, { offset, length }: MappedCode): readonly number[] => {
  const { ino, size, mtimeMs, ctimeMs } = fstatSync(fd)
  const key = [ino, size, mtimeMs, ctimeMs, offset, length].join(' ')
  const sites = known.get(key) ?? findSites(fd, offset, Math.min(length, Math.max(0, size - offset)))
  known.set(key, sites)
  return sites
}

/** Code is read in pieces that stay in the processor's cache: a whole program takes 30 ms. */
export const pieceSize = 1 << 18
/** Bytes of a piece that are looked at again with the next one. */
const overlap = lookBack + instructionRest

/** Where these instructions begin in a part of a file, counted from its beginning. */
export const findSites = (fd: number, offset: number, length: number): number[] => {
  const sites: number[] = []
  const buffer = Buffer.allocUnsafe(overlap + pieceSize)
  let kept = 0
  for (let done = 0; done < length; ) {
    const count = readSync(fd, buffer, kept, Math.min(pieceSize, length - done), offset + done)
    if (count === 0) break
    const piece = buffer.subarray(0, kept + count)
    sites.push(...sitesIn(piece, kept - instructionRest).map(at => done - kept + at))
    done += count
    kept = Math.min(overlap, piece.length)
    piece.copyWithin(0, piece.length - kept)
  }
  return sites
}

/** @param from where to begin to look; what comes before is needed to decode */
const sitesIn = (code: Buffer, from: number): number[] => {
  const sites: number[] = []
  const begins = Buffer.from([opcode, extended])
  for (let at = code.indexOf(begins, Math.max(0, from)); at !== -1; at = code.indexOf(begins, at + 1))
    if (code[at + begins.length]! >= firstOperand && beginOf(code, at) !== undefined) sites.push(at)
  return sites
}

/**
 * Start of the instruction with this opcode, including prefixes; undefined if these bytes are part of another
 * instruction. Decoding from most starting points before it finds the instruction.
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

/** Start of the instruction that contains the last byte, for decoding from there. */
const lastBegin = (lengths: readonly number[], from: number): number => {
  let begin = from
  for (let next = from; next < lengths.length; next += lengths[next]!) begin = next
  return begin
}

/** Whether these bytes may precede the opcode. F3 would make it another instruction. */
const isPrefixed = (before: Buffer): boolean =>
  before.every((byte, index) => byte === operandSize || (isRex(byte) && index === before.length - 1))

const numbered: readonly RegisterName[] = [
  'rax', 'rcx', 'rdx', 'rbx', 'rsp', 'rbp', 'rsi', 'rdi', 'r8', 'r9', 'r10', 'r11', 'r12', 'r13', 'r14', 'r15',
] // biome-ignore format: as the processor counts them

/** CF, which says that a number was available. */
const carry = 1n
/** CF, PF, AF, ZF, SF, OF */
const flags = 0x8d5n

/** Draws a number for a thread that stopped at one of our breakpoints; returns false for another stop. */
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
  // A 16-bit result keeps the other bits of the register; a 32-bit one clears them.
  const kept = bits === 16n ? registers.getWord(name) & ~0xffffn : 0n
  registers.setWord(name, kept | drawn)
  registers.setWord('eflags', (registers.getWord('eflags') & ~flags) | carry)
  registers.set('rip', after + instructionRest)
  return true
}

/** The bytes before the breakpoint and the instruction; empty if a program jumped to an unmapped address. */
const codeBefore = (memory: ProcessMemory, after: number): Buffer => {
  try {
    return memory.read(after - 1 - lookBack, lookBack + 1 + instructionRest)
  } catch {
    return Buffer.alloc(1 + instructionRest)
  }
}

/** Restores the opcodes at breakpoints. */
const restore = (code: Buffer): void => {
  for (let at = code.indexOf(breakpoint); at !== -1; at = code.indexOf(breakpoint, at + 1))
    if (code[at + 1] === extended && code[at + 2]! >= firstOperand) code[at] = opcode
}
