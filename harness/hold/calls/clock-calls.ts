import type { Registers } from '../../../linux/ptrace.ts'
import { syscallNumber } from '../../../linux/syscall-number.ts'
import { isInPage } from '../clock/clock-page.ts'
import { readsOfCall } from '../clock/clock-reads.ts'
import { clockNamed, type Nanoseconds, second } from '../clock/virtual-clock.ts'
import type { HeldThread } from '../held/held-node.ts'
import { takeUp, waitBefore } from './limited-waits.ts'
import { type Treat, type Treatments, timespec } from './treatment.ts'

/** Calls that read a clock, which shows the node's time. */

/** Counts a read before it is answered. The clock page makes one call for many reads. */
const counted =
  (read: (thread: HeldThread, registers: Registers) => number): Treat =>
  (thread, registers) => {
    const { node, clockReads } = thread.process
    // It was interrupted while it waited for its turn to read.
    const resumed = node.isPaced ? takeUp(thread, registers) : undefined
    if (resumed !== undefined) return waitBefore(thread, registers, resumed)
    const isOfPage = showsTime(registers) && isInPage(registers.get('rip'))
    const duration = node.countReads(thread, isOfPage ? clockReads.betweenStops : readsOfCall)
    return duration > 0 ? waitBefore(thread, registers, node.clock.elapsed + duration) : read(thread, registers)
  }

/** Whether a call reads a clock that shows the time, and not how long something computed. */
const showsTime = (registers: Registers): boolean =>
  registers.get('origRax') !== syscallNumber.clock_gettime || clockNamed(registers.get('rdi') | 0) !== undefined

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
  const { seconds, nanoseconds } = name ? clock.show(name) : partsOf(clock.elapsed)
  process.memory.write(registers.get('rsi'), timespec(seconds, nanoseconds))
  return 0
}

const gettimeofday = (thread: HeldThread, registers: Registers): number => {
  const { process } = thread
  const { seconds, nanoseconds } = process.node.clock.show('realtime')
  const address = registers.get('rdi')
  if (address !== 0) process.memory.write(address, timespec(seconds, Math.floor(nanoseconds / 1000)))
  return 0
}

const time = (thread: HeldThread, registers: Registers): number => {
  const { process } = thread
  const { seconds } = process.node.clock.show('realtime')
  const address = registers.get('rdi')
  if (address !== 0) process.memory.write(address, timespec(seconds, 0).subarray(0, 8))
  return seconds
}

export const clockCalls: Treatments = {
  clock_gettime: counted(clockGettime),
  gettimeofday: counted(gettimeofday),
  time: counted(time),
}
