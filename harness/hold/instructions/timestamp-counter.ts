import type { Registers } from '../../../linux/ptrace.ts'
import { readsOfCall } from '../clock/clock-reads.ts'
import { millisecond, second } from '../clock/virtual-clock.ts'
import type { HeldThread } from '../held/held-node.ts'

/**
 * The processor's timestamp counter, which programs read without the kernel. With PR_TSC_SIGSEGV reading it faults, and
 * the program is shown the node's own time instead, one tick per nanosecond.
 */

export const ticksPerMillisecond = millisecond

const rdtsc = Buffer.from([0x0f, 0x31])
const rdtscp = Buffer.from([0x0f, 0x01, 0xf9])

/** Answers the read of the counter at which a thread stopped with SIGSEGV; false if it did something else. */
export const readCounter = (thread: HeldThread, registers: Registers): boolean => {
  const { process } = thread
  const address = registers.get('rip')
  const code = instructionAt(process.memory, address)
  const found = [rdtsc, rdtscp].find(one => code.subarray(0, one.length).equals(one))
  if (found === undefined) return false
  process.node.countReads(thread, readsOfCall)
  const { seconds, nanoseconds } = process.node.clock.show('monotonic')
  const ticks = BigInt(seconds) * BigInt(second) + BigInt(nanoseconds)
  registers.set('rax', Number(ticks & 0xffff_ffffn))
  registers.set('rdx', Number(ticks >> 32n))
  // The number of the CPU, of which a node sees only the first.
  if (found === rdtscp) registers.set('rcx', 0)
  registers.set('rip', address + found.length)
  return true
}

/** Empty if the program jumped to unmapped memory. */
const instructionAt = (memory: HeldThread['process']['memory'], address: number): Buffer => {
  try {
    return memory.read(address, rdtscp.length)
  } catch {
    return Buffer.alloc(0)
  }
}
