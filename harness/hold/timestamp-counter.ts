import { type HeldThread, readsOfCall } from './held-node.ts'
import type { Registers } from './ptrace.ts'
import { millisecond, second } from './virtual-clock.ts'

/**
 * The processor's timestamp counter: programs measure time by it past the kernel. With PR_TSC_SIGSEGV reading it is a
 * fault, and what it shows is the node's own time, one tick a nanosecond.
 */

export const ticksPerMillisecond = millisecond

const rdtsc = Buffer.from([0x0f, 0x31])
const rdtscp = Buffer.from([0x0f, 0x01, 0xf9])

/** Does in place of a thread that stopped with SIGSEGV what it faulted at, if that was reading the counter. */
export const readCounter = ({ process }: HeldThread, registers: Registers): boolean => {
  const address = registers.get('rip')
  const code = instructionAt(process.memory, address)
  const found = [rdtsc, rdtscp].find(one => code.subarray(0, one.length).equals(one))
  if (found === undefined) return false
  process.node.countReads(process, readsOfCall)
  const { seconds, nanoseconds } = process.node.clock.show('monotonic')
  const ticks = BigInt(seconds) * BigInt(second) + BigInt(nanoseconds)
  registers.set('rax', Number(ticks & 0xffff_ffffn))
  registers.set('rdx', Number(ticks >> 32n))
  // The number of the CPU.
  if (found === rdtscp) registers.set('rcx', 0)
  registers.set('rip', address + found.length)
  return true
}

/** Empty where a program jumped to where nothing is. */
const instructionAt = (memory: HeldThread['process']['memory'], address: number): Buffer => {
  try {
    return memory.read(address, rdtscp.length)
  } catch {
    return Buffer.alloc(0)
  }
}
