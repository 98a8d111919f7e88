/** The longest instruction of x86-64. */
export const instructionMax = 15

/** Makes operands of four bytes ones of two. */
export const operandSize = 0x66

/** 66, F2, F3: operand size and repetition; F0: lock; 2E, 3E, 26, 36, 64, 65: segments and hints. */
export const prefixes: ReadonlySet<number> = new Set([
  operandSize,
  0xf2,
  0xf3,
  0xf0,
  0x2e,
  0x3e,
  0x26,
  0x36,
  0x64,
  0x65,
])

const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)

/** Opcodes that write to no operand in memory: jumps, moves to registers, comparisons, and pushes of a call. */
const harmless: ReadonlySet<number> = new Set([
  ...range(0x38, 0x3d), // cmp
  0x63, // movsxd
  ...range(0x70, 0x7f), // jcc
  ...range(0x84, 0x85), // test
  ...range(0x86, 0x87), // xchg: the same again in the next round, where all registers are the same
  ...range(0x8a, 0x8b), // mov to a register
  0x8d, // lea
  ...range(0x90, 0x97), // nop, pause, xchg of registers
  ...range(0xa8, 0xa9), // test
  ...range(0xb0, 0xbf), // mov of a constant to a register
  ...range(0x50, 0x5f), // push, pop
  0xc3, // ret
  0xe8, // call
  0xe9, // jmp
  0xeb, // jmp
])

/** Second bytes of harmless opcodes that begin with 0F. */
const harmlessLong: ReadonlySet<number> = new Set([
  0x0d, // prefetch
  ...range(0x18, 0x1f), // prefetch, nop
  ...range(0x40, 0x4f), // cmovcc
  ...range(0x80, 0x8f), // jcc
  0xa3, // bt
  0xaf, // imul
  ...range(0xb0, 0xb1), // cmpxchg: in a round that is like the last one it fails, or writes the same
  ...range(0xb6, 0xb7), // movzx
  ...range(0xbc, 0xbf), // bsf, bsr, movsx
])

/** Instructions distinguished by bits 3 to 5 of the next byte: those that only read. */
const readingExtensions: Readonly<Record<number, readonly number[]>> = {
  128: [7], // 80: cmp
  129: [7], // 81: cmp
  131: [7], // 83: cmp
  246: [0, 1], // F6: test
  247: [0, 1], // F7: test
  255: [2, 4], // FF: call, jmp
}

/** From this value on, the byte after the opcode says that the operand is a register. */
const registerOperand = 0xc0

/** Whether an instruction may change memory, as far as its bytes tell. True for unknown instructions. */
export const mayWrite = (code: Buffer): boolean => {
  let at = 0
  while (prefixes.has(code[at]!)) at++
  if ((code[at]! & 0xf0) === 0x40) at++ // REX
  const opcode = code[at]!
  const isLong = opcode === 0x0f
  const operand = code[at + (isLong ? 2 : 1)] ?? 0
  if (isLong) return !harmlessLong.has(code[at + 1]!) && operand < registerOperand
  if (harmless.has(opcode)) return false
  const reading = readingExtensions[opcode]
  if (reading?.includes((operand >> 3) & 7)) return false
  return !takesOperand(opcode) || operand < registerOperand
}

/** Arithmetic, moves and shifts, whose next byte describes their operand. */
const takesOperand = (opcode: number): boolean =>
  (opcode < 0x40 && (opcode & 7) < 4) ||
  [
    0x69, 0x6b, 0x80, 0x81, 0x83, 0x88, 0x89, 0xc0, 0xc1, 0xc6, 0xc7, 0xd0, 0xd1, 0xd2, 0xd3, 0xf6, 0xf7, 0xfe, 0xff,
  ].includes(opcode)
