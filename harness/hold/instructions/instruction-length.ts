import { operandSize, prefixes } from './instruction.ts'

/**
 * Lengths of x86-64 instructions: enough to find where instructions begin in compiled code. Unknown bytes count as one
 * byte; decoding from there soon gets in step again.
 */

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)

/** One-byte opcodes followed by a byte for the operand. */
const takesOperand: ReadonlySet<number> = new Set([
  ...range(0x00, 0x3f).filter(opcode => (opcode & 7) < 4),
  0x63,
  0x69,
  0x6b,
  ...range(0x80, 0x8f),
  ...[0xc0, 0xc1, 0xc6, 0xc7],
  ...range(0xd0, 0xd3),
  ...range(0xd8, 0xdf),
  ...[0xf6, 0xf7, 0xfe, 0xff],
])

/** Opcodes followed by a constant of one byte, and of four bytes (or two, with 16-bit operands). */
const byteFollows: ReadonlySet<number> = new Set([
  ...range(0x00, 0x3f).filter(opcode => (opcode & 7) === 4),
  ...[0x6a, 0x6b, 0x80, 0x83, 0xa8, 0xc0, 0xc1, 0xc6, 0xcd, 0xeb],
  ...range(0x70, 0x7f),
  ...range(0xb0, 0xb7),
  ...range(0xe0, 0xe7),
])
const wordFollows: ReadonlySet<number> = new Set([
  ...range(0x00, 0x3f).filter(opcode => (opcode & 7) === 5),
  ...[0x68, 0x69, 0x81, 0xa9, 0xc7],
  ...range(0xb8, 0xbf),
])

/** Second bytes of opcodes that begin with 0F and have no operand. */
const longWithoutOperand: ReadonlySet<number> = new Set([
  ...[0x05, 0x06, 0x07, 0x08, 0x09, 0x0b, 0x0e, 0x77, 0xa0, 0xa1, 0xa2, 0xa8, 0xa9, 0xaa],
  ...range(0x30, 0x37),
  ...range(0x80, 0x8f),
  ...range(0xc8, 0xcf),
])
const longByteFollows: ReadonlySet<number> = new Set([
  ...range(0x70, 0x73),
  ...[0xa4, 0xac, 0xba, 0xc2, 0xc4, 0xc5, 0xc6],
])

/** Opcode maps 0F, 0F 38 and 0F 3A, as VEX and EVEX number them. */
const [long, long38, long3a] = [1, 2, 3]

/** Length of the instruction that begins there. */
export const instructionLength = (code: Buffer, begin: number): number => {
  let at = begin
  let hasWords = true
  for (; prefixes.has(code[at]!) && at - begin < 14; at++) if (code[at] === operandSize) hasWords = false
  const rex = (code[at]! & 0xf0) === 0x40 ? code[at++]! : 0
  const opcode = code[at++] ?? 0x90
  const vector = vectorOf(code, opcode, at)
  if (vector) return at + vector.length + longRest(code, at + vector.length, vector.map) - begin
  if (opcode !== 0x0f) return at + shortRest(code, at, opcode, { hasWords, isWide: (rex & 8) !== 0 }) - begin
  if (code[at] === 0x38) return at + 1 + longRest(code, at + 1, long38) - begin
  if (code[at] === 0x3a) return at + 1 + longRest(code, at + 1, long3a) - begin
  return at + longRest(code, at, long) - begin
}

/** Bytes between the first and the opcode of an instruction with VEX (C5, C4) or EVEX (62). */
const vectorOf = (code: Buffer, opcode: number, at: number): { length: number; map: number } | undefined => {
  const next = code[at] ?? 0
  switch (opcode) {
    case 0xc5:
      return { length: 1, map: long }
    case 0xc4:
      return { length: 2, map: next & 0x1f }
    case 0x62:
      return { length: 3, map: next & 7 }
    default:
      return undefined
  }
}

/** Length after the beginning of a long opcode: the opcode, operand and constant. */
const longRest = (code: Buffer, at: number, map: number): number => {
  const opcode = code[at] ?? 0
  if (map !== long) return 1 + operandLength(code, at + 1) + (map === long3a ? 1 : 0)
  const operand = longWithoutOperand.has(opcode) ? 0 : operandLength(code, at + 1)
  const isJump = opcode >= 0x80 && opcode < 0x90
  return 1 + operand + (isJump ? 4 : longByteFollows.has(opcode) ? 1 : 0)
}

interface Size {
  readonly hasWords: boolean
  readonly isWide: boolean
}

const shortRest = (code: Buffer, at: number, opcode: number, { hasWords, isWide }: Size): number => {
  const word = hasWords ? 4 : 2
  const operand = takesOperand.has(opcode) ? operandLength(code, at) : 0
  if (byteFollows.has(opcode)) return operand + 1
  if (opcode >= 0xb8 && opcode < 0xc0 && isWide) return 8
  if (wordFollows.has(opcode)) return operand + word
  switch (opcode) {
    case 0xe8: // call
    case 0xe9: // jmp
      return 4
    case 0xf6: // test, where bits 3 to 5 are 0 or 1
      return operand + (isTest(code[at]!) ? 1 : 0)
    case 0xf7:
      return operand + (isTest(code[at]!) ? word : 0)
    case 0xc2: // ret
      return 2
    case 0xc8: // enter
      return 3
    case 0xa0: // mov of a far address
    case 0xa1:
    case 0xa2:
    case 0xa3:
      return 8
    default:
      return operand
  }
}

const isTest = (operand: number) => (operand & 0x30) === 0

/** ModRM, SIB and displacement. */
const operandLength = (code: Buffer, at: number): number => {
  const operand = code[at] ?? 0
  const mode = operand >> 6
  if (mode === 3) return 1
  const hasIndex = (operand & 7) === 4
  const base = hasIndex ? code[at + 1]! & 7 : operand & 7
  const displacement = mode === 1 ? 1 : mode === 2 || base === 5 ? 4 : 0
  return 1 + (hasIndex ? 1 : 0) + displacement
}
