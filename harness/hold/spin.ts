import { isInPage } from './clock-page.ts'
import type { HeldThread } from './held-node.ts'
import { instructionMax, mayWrite } from './instruction.ts'
import { type Change, Registers, singleStep, wait } from './ptrace.ts'

/** A loop that waits for a word in memory has a dozen instructions; with the calls of an unoptimised one, some dozens. */
const instructionsMax = 160
const trapSignal = 5

/** Instructions that leave the program: system calls, reads of the processor's counter, which are a fault, and traps. */
const leaving = [
  Buffer.from([0x0f, 0x05]), // syscall
  Buffer.from([0x0f, 0x31]), // rdtsc
  Buffer.from([0x0f, 0x01, 0xf9]), // rdtscp
  Buffer.from([0xcd, 0x80]), // int 0x80
  Buffer.from([0xcc]), // int3
]

/**
 * Whether a stopped thread goes round and round without changing anything: after some instructions, none of which writes
 * anything new to memory, all of its registers are what they were. It goes on so until another thread writes to what it
 * reads, and it does not matter at which instruction it is put aside. One that counts its rounds is none, nor one that
 * asks for the time.
 *
 * @returns what else happened to the thread, where something did: it is for the caller to treat
 * @throws ThreadEnded
 */
export const spins = (thread: HeldThread): boolean | Change => {
  const { tid } = thread
  const seen = new Registers()
  const now = new Registers()
  if (!now.load(tid)) return false
  seen.copyFrom(now)
  for (let count = 1; count <= instructionsMax; count++) {
    const code = codeAt(thread, now.get('rip'))
    if (code === undefined || !singleStep(tid)) return false
    const change = wait(tid)
    if (change.kind !== 'signal' || change.signal !== trapSignal) return change
    if (!now.load(tid)) return false
    const wrote = mayWrite(code)
    if (!wrote && now.equals(seen)) return true
    // A round begins after the last write, and after what lies before the loop: ever later, each time twice as late.
    if (wrote || (count & (count - 1)) === 0) seen.copyFrom(now)
  }
  return false
}

/** Undefined where the next instruction leaves the program, or is of the clock. */
const codeAt = ({ process }: HeldThread, address: number): Buffer | undefined => {
  if (isInPage(address)) return undefined
  try {
    const code = process.memory.read(address, instructionMax)
    return leaving.some(one => code.subarray(0, one.length).equals(one)) ? undefined : code
  } catch {
    return undefined
  }
}
