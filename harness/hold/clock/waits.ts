import type { ProcessMemory } from '../../../linux/memory.ts'
import type { RegisterName, Registers } from '../../../linux/ptrace.ts'
import { type SyscallName, syscallNumber } from '../../../linux/syscall-number.ts'
import {
  type ClockName,
  clockNamed,
  millisecond,
  type Nanoseconds,
  never,
  second,
  type VirtualClock,
} from './virtual-clock.ts'

/**
 * A system call that waits for a limited time. The held process waits without limit instead; its time-out is an event
 * that a choice triggers.
 */
export interface WaitKind {
  /** The register that holds the time-out. */
  readonly timeout: RegisterName
  readonly unit: 'milliseconds' | 'timespec' | 'timeval'
  /** The clock of an absolute time-out; undefined for a duration. */
  readonly until?: (registers: Registers) => ClockName | undefined
  /** What the call returns on time-out. */
  readonly timedOut: number
  /** A call that waits without limit instead, if no argument of this one can express that. */
  readonly forever?: number
  /** Whether the remaining time is written back to the time-out. */
  readonly isUpdated?: true
  /** Whether the kernel rejects the call at once, because it does not know the clock. */
  readonly isRefused?: (registers: Registers) => boolean
  /** Registers that point to sets of descriptors, which are emptied on time-out. */
  readonly sets?: readonly RegisterName[]
  /** The register that points to where an interrupted wait stores the remaining time. */
  readonly remaining?: RegisterName
}

/** The deadline of a wait that does not end. */
export const endless: Nanoseconds = Number.POSITIVE_INFINITY

const tryAgain = -11
const timedOut = -110

/** FUTEX_WAIT, LOCK_PI, WAIT_BITSET, WAIT_REQUEUE_PI, LOCK_PI2 */
export const futexWaits: readonly number[] = [0, 6, 9, 11, 13]
/** FUTEX_PRIVATE_FLAG and FUTEX_CLOCK_REALTIME */
export const futexFlags = 128 | 256

const futexUntil = (registers: Registers): ClockName | undefined => {
  const operation = registers.get('rsi')
  const plain = operation & 127
  if (plain === 0) return undefined
  return plain === 6 || (operation & 256) !== 0 ? 'realtime' : 'monotonic'
}

const absoluteFlag = 1

/** CLOCK_REALTIME, MONOTONIC, PROCESS_CPUTIME_ID, BOOTTIME, REALTIME_ALARM, BOOTTIME_ALARM, TAI. */
const clocksToSleepBy: ReadonlySet<number> = new Set([0, 1, 2, 7, 8, 9, 11])

export const waitKinds: Partial<Record<SyscallName, WaitKind>> = {
  epoll_wait: { timeout: 'r10', unit: 'milliseconds', timedOut: 0 },
  epoll_pwait: { timeout: 'r10', unit: 'milliseconds', timedOut: 0 },
  epoll_pwait2: { timeout: 'r10', unit: 'timespec', timedOut: 0 },
  poll: { timeout: 'rdx', unit: 'milliseconds', timedOut: 0 },
  ppoll: { timeout: 'rdx', unit: 'timespec', timedOut: 0, isUpdated: true },
  select: { timeout: 'r8', unit: 'timeval', timedOut: 0, isUpdated: true, sets: ['rsi', 'rdx', 'r10'] },
  pselect6: { timeout: 'r8', unit: 'timespec', timedOut: 0, isUpdated: true, sets: ['rsi', 'rdx', 'r10'] },
  nanosleep: { timeout: 'rdi', unit: 'timespec', timedOut: 0, forever: syscallNumber.pause, remaining: 'rsi' },
  clock_nanosleep: {
    timeout: 'rdx',
    unit: 'timespec',
    until: registers => (registers.get('rsi') & absoluteFlag ? clockNamed(registers.get('rdi')) : undefined),
    timedOut: 0,
    forever: syscallNumber.pause,
    isRefused: registers => !clocksToSleepBy.has(registers.get('rdi') | 0),
    remaining: 'r10',
  },
  futex: { timeout: 'r10', unit: 'timespec', until: futexUntil, timedOut },
  futex_wait: { timeout: 'r8', unit: 'timespec', until: registers => clockNamed(registers.get('r9')), timedOut },
  futex_waitv: { timeout: 'r10', unit: 'timespec', until: registers => clockNamed(registers.get('r8')), timedOut },
  rt_sigtimedwait: { timeout: 'rdx', unit: 'timespec', timedOut: tryAgain },
  semtimedop: { timeout: 'r10', unit: 'timespec', timedOut: tryAgain },
  mq_timedsend: { timeout: 'r8', unit: 'timespec', until: () => 'realtime', timedOut },
  mq_timedreceive: { timeout: 'r8', unit: 'timespec', until: () => 'realtime', timedOut },
  recvmmsg: { timeout: 'r8', unit: 'timespec', timedOut: tryAgain },
}

/** A `struct timespec` or `timeval` in the process's memory. */
export const readTime = (memory: ProcessMemory, address: number, unit: 'timespec' | 'timeval') => {
  const bytes = memory.read(address, 16)
  const fraction = Number(bytes.readBigInt64LE(8))
  return { seconds: Number(bytes.readBigInt64LE(0)), nanoseconds: unit === 'timeval' ? fraction * 1000 : fraction }
}

/** Whether the kernel accepts it as a time. Otherwise the call fails with EINVAL. */
export const isTime = ({ seconds, nanoseconds }: ReturnType<typeof readTime>): boolean =>
  seconds >= 0 && nanoseconds >= 0 && nanoseconds < second

/** Stores a duration as a `struct timespec` or `timeval`. */
export const writeTime = (
  memory: ProcessMemory,
  address: number,
  unit: 'timespec' | 'timeval' | 'milliseconds',
  duration: Nanoseconds,
): void => {
  const bytes = Buffer.alloc(16)
  const fraction = duration % second
  bytes.writeBigInt64LE(BigInt(Math.floor(duration / second)), 0)
  bytes.writeBigInt64LE(BigInt(unit === 'timeval' ? Math.floor(fraction / 1000) : fraction), 8)
  memory.write(address, bytes)
}

/**
 * When the wait that the thread is about to begin ends, possibly in the past. Undefined if the kernel rejects the call.
 */
export const waitEnd = (
  kind: WaitKind,
  registers: Registers,
  memory: ProcessMemory,
  clock: VirtualClock,
): Nanoseconds | undefined => {
  if (kind.isRefused?.(registers)) return undefined
  const timeout = registers.get(kind.timeout)
  // An int: the upper half of its register is ignored.
  if (kind.unit === 'milliseconds') return limited(clock.elapsed + (timeout | 0) * millisecond)
  const time = readTime(memory, timeout, kind.unit)
  // The kernel carries excess microseconds of select over to seconds.
  if (!isTime(kind.unit === 'timeval' ? { ...time, nanoseconds: time.nanoseconds % second } : time)) return undefined
  const { seconds, nanoseconds } = time
  const until = kind.until?.(registers)
  if (until === undefined) return limited(clock.elapsed + seconds * second + nanoseconds)
  return limited(clock.instant(until, seconds, nanoseconds))
}

/** A wait until an instant that never comes does not end. */
const limited = (deadline: Nanoseconds): Nanoseconds => (deadline <= never ? deadline : endless)

/** Empties the sets of a select that timed out. */
export const emptySets = (kind: WaitKind, registers: Registers, memory: ProcessMemory): void => {
  const length = Math.ceil(registers.get('rdi') / 64) * 8
  for (const name of kind.sets ?? []) {
    const address = registers.get(name)
    if (address !== 0) memory.write(address, Buffer.alloc(length))
  }
}
