import type { Registers } from '../../../linux/ptrace.ts'
import { syscallNumber } from '../../../linux/syscall-number.ts'
import { isInPage } from '../clock/clock-page.ts'
import { readsOfCall } from '../clock/clock-reads.ts'
import { clockNamed, type Nanoseconds, second } from '../clock/virtual-clock.ts'
import type { HeldThread } from '../held/held-node.ts'
import { type Treatments, timespec } from './treatment.ts'

/** Calls that read a clock, which shows the node's time. */

/** The clock page makes one call for many reads. */
const countRead = (thread: HeldThread, registers: Registers, isInstant = true) => {
  const { process } = thread
  const isOfPage = isInstant && isInPage(registers.get('rip'))
  process.node.countReads(thread, isOfPage ? process.clockReads.betweenStops : readsOfCall)
}

/** Whether a system call only reads a clock. */
export const readsClock = (number: number): boolean =>
  number === syscallNumber.clock_gettime || number === syscallNumber.gettimeofday || number === syscallNumber.time

const partsOf = (duration: Nanoseconds) => ({
  seconds: Math.floor(duration / second),
  nanoseconds: duration % second,
})

/** Clocks of CPU time show the time that passed on the node's clock, because computing takes no time. */
const clockGettime = (thread: HeldThread, registers: Registers): number => {
  const { process } = thread
  const { clock } = process.node
  const name = clockNamed(registers.get('rdi') | 0)
  countRead(thread, registers, name !== undefined)
  const { seconds, nanoseconds } = name ? clock.show(name) : partsOf(clock.elapsed)
  process.memory.write(registers.get('rsi'), timespec(seconds, nanoseconds))
  return 0
}

const gettimeofday = (thread: HeldThread, registers: Registers): number => {
  const { process } = thread
  countRead(thread, registers)
  const { seconds, nanoseconds } = process.node.clock.show('realtime')
  const address = registers.get('rdi')
  if (address !== 0) process.memory.write(address, timespec(seconds, Math.floor(nanoseconds / 1000)))
  return 0
}

const time = (thread: HeldThread, registers: Registers): number => {
  const { process } = thread
  countRead(thread, registers)
  const { seconds } = process.node.clock.show('realtime')
  const address = registers.get('rdi')
  if (address !== 0) process.memory.write(address, timespec(seconds, 0).subarray(0, 8))
  return seconds
}

export const clockCalls: Treatments = { clock_gettime: clockGettime, gettimeofday, time }
