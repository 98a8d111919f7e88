import { constants } from 'node:os'
import type { Registers } from '../../linux/ptrace.ts'
import type { SyscallName } from '../../linux/syscall-number.ts'
import { expirePosixTimer, forgetOverruns, overrunOf, posixTimer } from './calls/posix-timer.ts'
import { disarmTimerfd, expireTimerfd, type Holder, holderOf, timerfdNumber } from './calls/timerfd.ts'
import { type Nanoseconds, second } from './clock/virtual-clock.ts'
import { isTime, readTime } from './clock/waits.ts'
import type { Expiries, HeldNode, HeldProcess, HeldThread, Timer } from './held/held-node.ts'
import { sendSignal } from './start/launch.ts'

/**
 * Timers that the kernel would keep for a process: setitimer and alarm, timer_create, timerfd. None is ever armed in
 * the kernel. The tool keeps their deadlines and lets each expire when its choice is made.
 */

/** The result of a call that is not made. Undefined: the kernel makes the call. */
export type CallAnswer = number | undefined

interface Setting {
  /** In elapsed time; undefined if disarmed. */
  readonly deadline: Nanoseconds | undefined
  /** 0 for a timer that expires once. */
  readonly interval: Nanoseconds
  /** Whether the deadline is an instant of the wall clock. */
  readonly isByWallClock?: boolean | undefined
}

/** The state of a process's timer, without the process. */
export interface TimerMark {
  /** Its name in the process, `itimer` or `timer 0`, or its number in the node, `timerfd 7`. */
  readonly key: string
  readonly deadline: Nanoseconds
  readonly interval: Nanoseconds
  readonly isByWallClock?: boolean | undefined
  /** For a timerfd: the process's descriptor. */
  readonly fd?: number
}

/** The state of a process's timers, without the process. */
export interface TimersMark {
  readonly armed: readonly TimerMark[]
  /** Of timers made by timer_create, by their ids, which may not be armed. */
  readonly expiries: readonly (readonly [id: number, expiries: Readonly<Expiries>])[]
}

/** A kernel timer that the tool keeps. */
class KernelTimer implements Timer {
  deadline: Nanoseconds
  readonly interval: Nanoseconds
  readonly isByWallClock: boolean | undefined
  #process: HeldProcess
  readonly #key: string
  #fd: number | undefined

  constructor(process: HeldProcess, { key, deadline, interval, isByWallClock, fd }: TimerMark) {
    this.deadline = deadline
    this.interval = interval
    this.isByWallClock = isByWallClock
    this.#process = process
    this.#key = key
    this.#fd = fd
    process.kernelTimers.set(key, this)
    process.node.timers.add(this)
  }

  mark(): TimerMark {
    return {
      key: this.#key,
      deadline: this.deadline,
      interval: this.interval,
      ...(this.isByWallClock && { isByWallClock: true }),
      ...(this.#fd !== undefined && { fd: this.#fd }),
    }
  }

  disarm(): void {
    disarm(this.#process, this.#key)
  }

  get isTimerfd(): boolean {
    return this.#fd !== undefined
  }

  fire(): void {
    const stands = this.isTimerfd ? this.#expire() : goOff(this.#process, this.#key)
    if (stands && this.interval > 0) this.deadline += this.interval
    else this.disarm()
  }

  #expire(): boolean {
    const holder = this.findHolder()
    return holder !== undefined && expireTimerfd(holder)
  }

  /** For a timerfd: a process that has it open, to which the timer belongs from now on. */
  findHolder(): Holder | undefined {
    const likely = { process: this.#process, fd: this.#fd! }
    const holder = holderOf(this.#process.node, numberIn(this.#key), likely)
    if (holder === undefined || holder === likely) return holder
    this.#process.kernelTimers.delete(this.#key)
    this.#process = holder.process
    this.#fd = holder.fd
    holder.process.kernelTimers.set(this.#key, this)
    return holder
  }
}

const numberIn = (key: string): number => Number(key.split(' ')[1])

const timersOf = ({ kernelTimers }: HeldProcess): KernelTimer[] => [
  ...(kernelTimers as Map<string, KernelTimer>).values(),
]

/** Removes a timer of the process. */
export const disarm = (process: HeldProcess, key: string): void => {
  const timer = process.kernelTimers.get(key)
  if (timer === undefined) return
  process.kernelTimers.delete(key)
  process.node.timers.delete(timer)
}

/** Removes all timers of a process. */
export const disarmAll = (process: HeldProcess): void => {
  for (const key of [...process.kernelTimers.keys()]) disarm(process, key)
}

/** Removes the timers of an ended process. A timerfd that others have open becomes theirs. */
export const leaveTimers = (process: HeldProcess): void => {
  sweepTimerfds(process)
  disarmAll(process)
}

/** After exec, the alarm and timerfds stay, but the other timers are gone. */
export const disarmAtExec = (process: HeldProcess): void => {
  for (const key of [...process.kernelTimers.keys()]) if (key.startsWith('timer ')) disarm(process, key)
  process.expiries.clear()
}

/** The timers of a process as they are now. */
export const markTimers = (process: HeldProcess): TimersMark => ({
  armed: timersOf(process).map(timer => timer.mark()),
  expiries: [...process.expiries].map(([id, expiries]) => [id, { ...expiries }]),
})

/** Sets a process's timers to exactly these. */
export const rewindTimers = (process: HeldProcess, { armed, expiries }: TimersMark): void => {
  disarmAll(process)
  process.expiries.clear()
  for (const [id, each] of expiries) process.expiries.set(id, { ...each })
  for (const mark of armed) {
    new KernelTimer(process, mark)
    if (mark.fd !== undefined) numberAgain({ process, fd: mark.fd }, numberIn(mark.key))
  }
}

/** Where the kernel has made it again, it has no number. */
const numberAgain = (holder: Holder, number: number): void => {
  if (timerfdNumber(holder) !== number) disarmTimerfd(holder, number)
}

/** Signals a timer's expiry to the process; returns false if the timer does not exist any more. */
const goOff = (process: HeldProcess, key: string): boolean =>
  key === 'itimer' ? sendSignal(process.pid, alarmSignal) : expirePosixTimer(process, numberIn(key))

const current = (process: HeldProcess, key: string): Setting =>
  settingOf(process.kernelTimers.get(key) as KernelTimer | undefined)

const settingOf = (timer: KernelTimer | undefined): Setting => ({
  deadline: timer?.deadline,
  interval: timer?.interval ?? 0,
})

/**
 * An itimerval or itimerspec: interval, then value; a value of zero disarms. Undefined for an invalid time, which the
 * kernel reports.
 */
const readSetting = (
  { memory, node }: HeldProcess,
  address: number,
  unit: 'timespec' | 'timeval',
  isAbsolute = false,
): Setting | undefined => {
  const period = readTime(memory, address, unit)
  const value = readTime(memory, address + 16, unit)
  if (!isTime(period) || !isTime(value)) return undefined
  const interval = durationOf(period)
  const { clock } = node
  if (durationOf(value) === 0) return { deadline: undefined, interval }
  if (!isAbsolute) return { deadline: clock.elapsed + durationOf(value), interval }
  const isByWallClock = value.seconds >= realtimeFrom
  const instant = clock.instant(isByWallClock ? 'realtime' : 'monotonic', value.seconds, value.nanoseconds)
  return { deadline: Math.max(instant, clock.elapsed), interval, isByWallClock }
}

const durationOf = ({ seconds, nanoseconds }: { seconds: number; nanoseconds: number }): Nanoseconds =>
  seconds * second + nanoseconds

/** A setting does not name its clock, but no machine has been up for this many seconds. */
const realtimeFrom = 1_000_000_000

/** About KTIME_MAX: the kernel shows no longer time. */
const kernelTimeMax = 2 ** 62

const writeSetting = (process: HeldProcess, address: number, unit: 'timespec' | 'timeval', setting: Setting): void => {
  if (address === 0) return
  const bytes = Buffer.alloc(32)
  const ahead = (setting.deadline ?? 0) - process.node.clock.elapsed
  const left = setting.deadline === undefined ? 0 : Math.min(Math.max(ahead, 1000), kernelTimeMax)
  const write = (duration: Nanoseconds, offset: number) => {
    const fraction = duration % second
    bytes.writeBigInt64LE(BigInt(Math.floor(duration / second)), offset)
    bytes.writeBigInt64LE(BigInt(unit === 'timeval' ? Math.floor(fraction / 1000) : fraction), offset + 8)
  }
  write(setting.interval, 0)
  write(left, 16)
  process.memory.write(address, bytes)
}

const arm = (process: HeldProcess, key: string, { deadline, ...setting }: Setting): void => {
  disarm(process, key)
  if (deadline !== undefined) new KernelTimer(process, { key, deadline, ...setting })
}

const realTimeTimer = 0
const alarmSignal = constants.signals.SIGALRM

/** Computing takes no time, so a timer of CPU time never expires. */
const ofCpuTime = (process: HeldProcess, registers: Registers, before: 'rsi' | 'rdx'): CallAnswer => {
  if (registers.get('rdi') > 2) return undefined
  writeSetting(process, registers.get(before), 'timeval', { deadline: undefined, interval: 0 })
  return 0
}

const setitimer = ({ process }: HeldThread, registers: Registers): CallAnswer => {
  // The two other kinds count CPU time.
  if (registers.get('rdi') !== realTimeTimer) return ofCpuTime(process, registers, 'rdx')
  const before = current(process, 'itimer')
  const address = registers.get('rsi')
  if (address !== 0) {
    const setting = readSetting(process, address, 'timeval')
    if (setting === undefined) return undefined
    arm(process, 'itimer', setting)
  }
  writeSetting(process, registers.get('rdx'), 'timeval', before)
  return 0
}

const getitimer = ({ process }: HeldThread, registers: Registers): CallAnswer => {
  if (registers.get('rdi') !== realTimeTimer) return ofCpuTime(process, registers, 'rsi')
  writeSetting(process, registers.get('rsi'), 'timeval', current(process, 'itimer'))
  return 0
}

const alarm = ({ process }: HeldThread, registers: Registers): CallAnswer => {
  const { elapsed } = process.node.clock
  const before = current(process, 'itimer').deadline
  const seconds = registers.get('rdi')
  const deadline = seconds === 0 ? undefined : elapsed + seconds * second
  arm(process, 'itimer', { deadline, interval: 0 })
  return before === undefined ? 0 : Math.max(1, Math.round((before - elapsed) / second))
}

const absoluteFlag = 1

const CLOCK_PROCESS_CPUTIME_ID = 2
const CLOCK_THREAD_CPUTIME_ID = 3

/** Negative clocks are CPU time of other processes and threads, or devices that keep time, for which no timer can be made. */
const isOfCpuTime = (clock: number): boolean =>
  clock < 0 || clock === CLOCK_PROCESS_CPUTIME_ID || clock === CLOCK_THREAD_CPUTIME_ID

const timerSettime = ({ process }: HeldThread, registers: Registers): CallAnswer => {
  const id = registers.get('rdi')
  const timer = posixTimer(process, id)
  if (timer === undefined) return undefined
  const key = `timer ${id}`
  const before = current(process, key)
  const isAbsolute = (registers.get('rsi') & absoluteFlag) !== 0
  const setting = readSetting(process, registers.get('rdx'), 'timespec', isAbsolute)
  if (setting === undefined) return undefined
  if (!isOfCpuTime(timer.clock)) arm(process, key, setting)
  forgetOverruns(process, id)
  writeSetting(process, registers.get('r10'), 'timespec', before)
  return 0
}

const timerGettime = ({ process }: HeldThread, registers: Registers): CallAnswer => {
  if (posixTimer(process, registers.get('rdi')) === undefined) return undefined
  writeSetting(process, registers.get('rsi'), 'timespec', current(process, `timer ${registers.get('rdi')}`))
  return 0
}

const timerGetoverrun = ({ process }: HeldThread, registers: Registers): CallAnswer =>
  overrunOf(process, registers.get('rdi'))

/** The kernel deletes it. */
const timerDelete = ({ process }: HeldThread, registers: Registers): CallAnswer => {
  const id = registers.get('rdi')
  disarm(process, `timer ${id}`)
  process.expiries.delete(id)
  return undefined
}

/** The timer of a timerfd, whoever armed it. */
const timerfdTimer = ({ processes }: HeldNode, key: string): KernelTimer | undefined => {
  for (const { kernelTimers } of processes.values())
    if (kernelTimers.has(key)) return kernelTimers.get(key) as KernelTimer
  return undefined
}

const timerfdSettime = ({ process }: HeldThread, registers: Registers): CallAnswer => {
  const holder = { process, fd: registers.get('rdi') | 0 }
  const known = timerfdNumber(holder)
  if (known === undefined) return undefined
  const isAbsolute = (registers.get('rsi') & absoluteFlag) !== 0
  const setting = readSetting(process, registers.get('rdx'), 'timespec', isAbsolute)
  if (setting === undefined) return undefined
  const { deadline, interval, isByWallClock } = setting
  const number = known || process.node.countTimerfd()
  disarmTimerfd(holder, number)
  const key = `timerfd ${number}`
  const timer = timerfdTimer(process.node, key)
  const before = settingOf(timer)
  timer?.disarm()
  if (deadline !== undefined) new KernelTimer(process, { key, deadline, interval, isByWallClock, fd: holder.fd })
  writeSetting(process, registers.get('r10'), 'timespec', before)
  return 0
}

const timerfdGettime = ({ process }: HeldThread, registers: Registers): CallAnswer => {
  const number = timerfdNumber({ process, fd: registers.get('rdi') | 0 })
  if (number === undefined) return undefined
  writeSetting(process, registers.get('rsi'), 'timespec', settingOf(timerfdTimer(process.node, `timerfd ${number}`)))
  return 0
}

/**
 * Removes timers whose last descriptor was closed. If another process still has a descriptor, the timer becomes its
 * own.
 */
export const sweepTimerfds = (process: HeldProcess): void => {
  for (const timer of timersOf(process)) if (timer.isTimerfd && !timer.findHolder()) timer.disarm()
}

type Handler = (thread: HeldThread, registers: Registers) => CallAnswer

/** What is done in place of each call. */
export const timerCalls: Partial<Record<SyscallName, Handler>> = {
  setitimer,
  getitimer,
  alarm,
  timer_settime: timerSettime,
  timer_gettime: timerGettime,
  timer_getoverrun: timerGetoverrun,
  timer_delete: timerDelete,
  timerfd_settime: timerfdSettime,
  timerfd_gettime: timerfdGettime,
}
