import type { ProcessMemory } from '../../../linux/memory.ts'
import type { RegisterName } from '../../../linux/ptrace.ts'
import type { HeldProcess } from './held-node.ts'

/**
 * Call sites that decide themselves whether a call needs the tracer. Programs ask for file times a thousand times
 * during their start, and two stops take 50 µs; but only times of files written since this tool began must be changed.
 * So in a library, such a call is replaced by a jump to code that makes the call, and repeats it for the tracer if one
 * of the times is that late.
 */

/** Just above the addresses of libraries, within reach of a jump from there. */
export const sitesAddress = 0x7fff_f800_0000
const pageSize = 4096
/** Calls made from the first page pass the filter; those from the second page stop. */
export const passingEnd = sitesAddress + pageSize
export const sitesLength = 2 * pageSize

const slotSize = 64
const slowSlotSize = 16
/** The first slot holds the number of used slots, and code for other calls (other-path.ts). */
const slots = pageSize / slotSize
export const ownCodeAddress = sitesAddress + 16
const jumpMax = 0x7fff_0000

/** mov eax, number; syscall */
const callLength = 7
const callOf = (number: number): Buffer => {
  const code = Buffer.from('b8000000000f05', 'hex')
  code.writeInt32LE(number, 1)
  return code
}

/**
 * mov r9, [rsp + 8]; syscall: the end of the C library's function `syscall`, by which programs make calls for which the
 * library has no function. libuv asks for file times this way.
 */
const anyCall = Buffer.from('4c8b4c24080f05', 'hex')
const syscallLength = 2
/** mov r9, [rsp + 8]; cmp eax, number; jne to the call as it stands at the site; syscall. The jump leaves that call there. */
const thisOfAnyCall = (at: number, after: number, number: number): Buffer => {
  const code = Buffer.from('4c8b4c24083d000000000f85000000000f05', 'hex')
  code.writeInt32LE(number, 6)
  code.writeInt32LE(after - syscallLength - (at + 16), 12)
  return code
}

/** jmp from one address to another */
const jumpLength = 5
const jump = (from: number, to: number): Buffer => {
  const code = Buffer.from('e900000000', 'hex')
  code.writeInt32LE(to - (from + jumpLength), 1)
  return code
}

/** cmp qword [register + offset], rcx: its first bytes, to which the offset is added. */
const comparisons: Partial<Record<RegisterName, readonly number[]>> = {
  rsi: [0x48, 0x39, 0x4e],
  rdx: [0x48, 0x39, 0x4a],
  r8: [0x49, 0x39, 0x48],
}

/** A call that returns seconds, and where it writes them. */
export interface LookingCall {
  readonly number: number
  readonly address: RegisterName
  readonly times: readonly number[]
  /** In seconds since 1970. A time from here on needs the tracer. */
  readonly from: number
}

/**
 * Makes a site decide itself from now on, if possible.
 *
 * @param after address after the instruction `syscall`
 */
export const letLook = (process: HeldProcess, after: number, call: LookingCall): void => {
  const isOwn = after > sitesAddress && after < sitesAddress + sitesLength
  if (isOwn || !process.mayChange || Math.abs(after - sitesAddress) > jumpMax) return
  const { memory } = process
  const site = after - callLength
  const isAny = memory.read(site, callLength).equals(anyCall)
  if (!isAny && !isPlain(memory, site, call.number)) return
  const slot = takeSlot(memory)
  if (slot === undefined) return
  const fast = sitesAddress + slot * slotSize
  const slow = passingEnd + slot * slowSlotSize
  memory.write(slow, Buffer.concat([callOf(call.number), jump(slow + callLength, after)]))
  const making = isAny ? thisOfAnyCall(fast, after, call.number) : callOf(call.number)
  memory.write(fast, Buffer.concat([making, looking(fast + making.length, slow, after, call)]))
  memory.write(site, jump(site, fast))
}

/**
 * Whether the number is loaded just before by a complete instruction, not by the end of a longer one (41 b8: mov r8d).
 */
const isPlain = (memory: ProcessMemory, site: number, number: number): boolean => {
  const code = memory.read(site - 1, callLength + 1)
  return (code[0]! & 0xf0) !== 0x40 && code.subarray(1).equals(callOf(number))
}

/** The count is in the process's memory, because processes may share that memory. */
const takeSlot = (memory: ProcessMemory): number | undefined => {
  const count = memory.read(sitesAddress, 4)
  const slot = count.readUInt32LE() + 1
  if (slot >= slots) return undefined
  count.writeUInt32LE(slot)
  memory.write(sitesAddress, count)
  return slot
}

/** The code after the call. */
const looking = (at: number, slow: number, after: number, { address, times, from }: LookingCall): Buffer => {
  // mov ecx, from
  const load = Buffer.from('b900000000', 'hex')
  load.writeUInt32LE(from, 1)
  // test eax, eax; jnz back
  const test = [0x85, 0xc0, 0x75, load.length + times.length * 6]
  // cmp [address + time], rcx; jge slow
  const compare = times.flatMap((time, index) => [
    ...comparisons[address]!,
    time,
    0x7d,
    jumpLength + (times.length - 1 - index) * 6,
  ])
  const code = Buffer.concat([Buffer.from(test), load, Buffer.from(compare)])
  const back = at + code.length
  return Buffer.concat([code, jump(back, after), jump(back + jumpLength, slow)])
}
