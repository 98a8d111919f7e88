import { totalmem } from 'node:os'
import type { Registers } from '../../../linux/ptrace.ts'
import type { SyscallName } from '../../../linux/syscall-number.ts'
import { second } from '../clock/virtual-clock.ts'
import type { HeldThread } from '../held/held-node.ts'

/**
 * What a program learns about its CPU and memory use. Both differ between executions, so they are derived from the
 * node's clock: all time that passes on it counts as CPU time, and memory stays the same.
 */

type Answer = (thread: HeldThread, registers: Registers) => number

/** What is reported as resident memory. */
export const residentKilobytes = 64 * 1024
export const ticksPerSecond = 100
const invalidArgument = -22

/** struct rusage: user time, system time, greatest resident size, and thirteen counts. */
const getrusage: Answer = ({ process }, registers) => {
  const { elapsed } = process.node.clock
  const usage = Buffer.alloc(144)
  usage.writeBigInt64LE(BigInt(Math.floor(elapsed / second)), 0)
  usage.writeBigInt64LE(BigInt(Math.floor((elapsed % second) / 1000)), 8)
  usage.writeBigInt64LE(BigInt(residentKilobytes), 32)
  process.memory.write(registers.get('rsi'), usage)
  return 0
}

/** struct tms: user and system time of the process, and of its children. The call returns the ticks since boot. */
const times: Answer = ({ process }, registers) => {
  const { clock } = process.node
  const address = registers.get('rdi')
  const used = Buffer.alloc(32)
  used.writeBigInt64LE(BigInt(Math.floor((clock.elapsed * ticksPerSecond) / second)), 0)
  if (address !== 0) process.memory.write(address, used)
  const { seconds, nanoseconds } = clock.show('monotonic')
  return seconds * ticksPerSecond + Math.floor((nanoseconds * ticksPerSecond) / second)
}

/** struct sysinfo: half of the memory is free, and nothing else runs. */
const sysinfo: Answer = ({ process }, registers) => {
  const total = BigInt(totalmem())
  const info = Buffer.alloc(112)
  info.writeBigInt64LE(BigInt(process.node.clock.show('monotonic').seconds), 0)
  info.writeBigUInt64LE(total, 32)
  info.writeBigUInt64LE(total / 2n, 40)
  info.writeUInt16LE(process.node.processes.size, 80)
  info.writeUInt32LE(1, 104)
  process.memory.write(registers.get('rdi'), info)
  return 0
}

const getcpu: Answer = ({ process }, registers) => {
  for (const name of ['rdi', 'rsi'] as const) {
    const address = registers.get(name)
    if (address !== 0) process.memory.write(address, Buffer.alloc(4))
  }
  return 0
}

/**
 * A set that contains only the first CPU. Its length is constant, while that of the kernel's depends on the machine.
 */
const schedGetaffinity: Answer = ({ process }, registers) => {
  if (registers.get('rsi') < 8) return invalidArgument
  process.memory.write(registers.get('rdx'), Buffer.from(BigUint64Array.of(1n).buffer))
  return 8
}

/** SCHED_OTHER, the default of every program. */
const schedGetscheduler: Answer = () => 0

const schedGetparam: Answer = ({ process }, registers) => {
  process.memory.write(registers.get('rsi'), Buffer.alloc(4))
  return 0
}

export const resourceCalls: Partial<Record<SyscallName, Answer>> = {
  getrusage,
  times,
  sysinfo,
  getcpu,
  sched_getaffinity: schedGetaffinity,
  sched_getscheduler: schedGetscheduler,
  sched_getparam: schedGetparam,
}
