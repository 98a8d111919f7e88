import { isStep, Registers, singleStep, type ThreadChange, wait } from '../../../linux/ptrace.ts'
import { syscallNumber } from '../../../linux/syscall-number.ts'
import { isInPage } from '../clock/clock-page.ts'
import type { HeldThread } from '../held/held-node.ts'
import { instructionMax, mayWrite } from '../instructions/instruction.ts'

/**
 * A loop that waits for a word in memory has about a dozen instructions; with the calls of unoptimised code, some
 * dozens. A larger limit would make each check slower.
 */
const instructionsMax = 160

/** Instructions that leave the program: system calls, reads of the processor's counter (which fault), and traps. */
const leaving = [
  Buffer.from([0x0f, 0x05]), // syscall
  Buffer.from([0x0f, 0x31]), // rdtsc
  Buffer.from([0x0f, 0x01, 0xf9]), // rdtscp
  Buffer.from([0xcd, 0x80]), // int 0x80
  Buffer.from([0xcc]), // int3
]

const syscallLength = 2
const [yieldCall, isYieldDone] = [syscallNumber.sched_yield, 0]

/** Skips `sched_yield`, which changes only these registers; false if the next instruction is another. */
const passesYield = (code: Buffer, registers: Registers): boolean => {
  if (!code.subarray(0, syscallLength).equals(leaving[0]!) || registers.get('rax') !== yieldCall) return false
  const next = registers.get('rip') + syscallLength
  registers.set('rip', next)
  registers.set('rcx', next)
  registers.set('r11', registers.get('eflags'))
  registers.set('rax', isYieldDone)
  return true
}

/**
 * Whether a stopped thread spins without changing anything: after some instructions, none of which wrote anything new
 * to memory, all registers are the same again. It continues so until another thread writes to what it reads, and may be
 * set aside at any instruction. A loop that counts its rounds or asks for the time is not one.
 *
 * @param mayWriteFirst whether writes before the loop are allowed
 *
 * @returns what else happened to the thread, if anything did: the caller must handle it
 *
 * @throws ThreadEnded
 */
export const spins = (thread: HeldThread, mayWriteFirst = true): boolean | ThreadChange => {
  const { tid } = thread
  const seen = new Registers()
  const now = new Registers()
  if (!now.load(tid)) return false
  seen.copyFrom(now)
  for (let count = 1; count <= instructionsMax; count++) {
    const code = codeAt(thread, now.get('rip'))
    if (code === undefined) return false
    const isYield = passesYield(code, now)
    if (isYield) now.store(tid)
    else {
      if (leaves(code) || !singleStep(tid)) return false
      const change = wait(tid)
      if (!isStep(change)) return change
      if (!now.load(tid)) return false
    }
    const wrote = !isYield && mayWrite(code)
    if (wrote && !mayWriteFirst) return false
    if (!wrote && now.equals(seen)) return true
    // A round begins after the last write and after the code before the loop, so the starting point is moved ever
    // later, each time twice as far.
    if (wrote || (count & (count - 1)) === 0) seen.copyFrom(now)
  }
  return false
}

/** Whether a thread spins that is stopped in a system call. The call will not be made. */
export const spinsAfterCall = (thread: HeldThread): boolean | ThreadChange => {
  if (!singleStep(thread.tid)) return false
  const change = wait(thread.tid)
  return isStep(change) ? spins(thread) : change
}

const leaves = (code: Buffer): boolean => leaving.some(one => code.subarray(0, one.length).equals(one))

/** The next instruction; undefined if it belongs to the clock page. */
const codeAt = ({ process }: HeldThread, address: number): Buffer | undefined => {
  if (isInPage(address)) return undefined
  try {
    return process.memory.read(address, instructionMax)
  } catch {
    return undefined
  }
}
