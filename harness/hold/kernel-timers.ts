import { readlinkSync } from 'node:fs'
import { constants } from 'node:os'
import { libc } from '../../proxy/libc.ts'
import { withDuplicate } from './descriptor.ts'
import type { HeldProcess, HeldThread, Timer } from './held-node.ts'
import { injecting } from './inject.ts'
import { sendSignal } from './launch.ts'
import { interrupt, type Registers } from './ptrace.ts'
import { type SyscallName, syscallNumber } from './syscall-number.ts'
import { type Nanoseconds, second } from './virtual-clock.ts'
import { readTime } from './waits.ts'

/**
 * Timers that the kernel would keep for a process: setitimer and alarm, timer_create, timerfd. None of them is ever
 * armed in the kernel; we keep their deadlines and let each go off when its choice is made.
 */

/** Gives a call its result without its being made. Undefined: let the kernel make it. */
export type Answer = number | undefined

interface Setting {
  /** In time elapsed; undefined when it is disarmed. */
  readonly deadline: Nanoseconds | undefined
  /** 0: it goes off once. */
  readonly interval: Nanoseconds
}

/** What a timer of a process is, without the process. */
export interface TimerMark {
  /** What names it in its process: `itimer`, `timer 0`, `timerfd 7`. */
  readonly key: string
  readonly deadline: Nanoseconds
  readonly interval: Nanoseconds
}

/** One timer of the kernel, kept by us. */
class KernelTimer implements Timer {
  deadline: Nanoseconds
  readonly interval: Nanoseconds
  readonly #process: HeldProcess
  readonly #key: string

  constructor(process: HeldProcess, { key, deadline, interval }: TimerMark) {
    this.deadline = deadline
    this.interval = interval
    this.#process = process
    this.#key = key
    process.kernelTimers.set(key, this)
    process.node.timers.add(this)
  }

  mark(): TimerMark {
    return { key: this.#key, deadline: this.deadline, interval: this.interval }
  }

  fire(): void {
    const stands = goOff(this.#process, this.#key)
    if (stands && this.interval > 0) this.deadline += this.interval
    else disarm(this.#process, this.#key)
  }
}

/** Forgets a timer of the process. */
export const disarm = (process: HeldProcess, key: string): void => {
  const timer = process.kernelTimers.get(key)
  if (timer === undefined) return
  process.kernelTimers.delete(key)
  process.node.timers.delete(timer)
}

/** Forgets all timers of a process that ended or runs another program. */
export const disarmAll = (process: HeldProcess): void => {
  for (const key of [...process.kernelTimers.keys()]) disarm(process, key)
}

/** Another program goes on with the alarm and the descriptors of the one before, but not with its timers. */
export const disarmAtExec = (process: HeldProcess): void => {
  for (const key of [...process.kernelTimers.keys()]) if (key.startsWith('timer ')) disarm(process, key)
}

/** The timers of a process as they are now. */
export const markTimers = (process: HeldProcess): TimerMark[] =>
  [...(process.kernelTimers as Map<string, KernelTimer>).values()].map(timer => timer.mark())

/** A process has these timers, and no others. */
export const rewindTimers = (process: HeldProcess, marks: readonly TimerMark[]): void => {
  disarmAll(process)
  for (const mark of marks) new KernelTimer(process, mark)
}

/** Lets the process notice that a timer's time has come; false where there is no such timer any more. */
const goOff = (process: HeldProcess, key: string): boolean => {
  const [kind, number] = key.split(' ')
  if (kind === 'timer') return expireInside(process, Number(number))
  if (kind === 'timerfd') return expireTimerfd(process, Number(number))
  return sendSignal(process.pid, alarmSignal)
}

const current = (process: HeldProcess, key: string): Setting => {
  const timer = process.kernelTimers.get(key) as KernelTimer | undefined
  return { deadline: timer?.deadline, interval: timer?.interval ?? 0 }
}

/** An itimerval or itimerspec: interval, then value; a value of zero disarms. */
const readSetting = (
  { memory, node }: HeldProcess,
  address: number,
  unit: 'timespec' | 'timeval',
  isAbsolute = false,
): Setting => {
  const interval = durationOf(readTime(memory, address, unit))
  const value = readTime(memory, address + 16, unit)
  const { clock } = node
  if (durationOf(value) === 0) return { deadline: undefined, interval }
  if (!isAbsolute) return { deadline: clock.elapsed + durationOf(value), interval }
  const instant = clock.instant(
    value.seconds >= realtimeFrom ? 'realtime' : 'monotonic',
    value.seconds,
    value.nanoseconds,
  )
  return { deadline: Math.max(instant, clock.elapsed), interval }
}

const durationOf = ({ seconds, nanoseconds }: { seconds: number; nanoseconds: number }): Nanoseconds =>
  seconds * second + nanoseconds

/** A setting does not name its clock; but no machine has been up for so many seconds. */
const realtimeFrom = 1_000_000_000

const writeSetting = (process: HeldProcess, address: number, unit: 'timespec' | 'timeval', setting: Setting): void => {
  if (address === 0) return
  const bytes = Buffer.alloc(32)
  const left = setting.deadline === undefined ? 0 : Math.max(setting.deadline - process.node.clock.elapsed, 1000)
  const write = (duration: Nanoseconds, offset: number) => {
    const fraction = duration % second
    bytes.writeBigInt64LE(BigInt(Math.floor(duration / second)), offset)
    bytes.writeBigInt64LE(BigInt(unit === 'timeval' ? Math.floor(fraction / 1000) : fraction), offset + 8)
  }
  write(setting.interval, 0)
  write(left, 16)
  process.memory.write(address, bytes)
}

const arm = (process: HeldProcess, key: string, { deadline, interval }: Setting): void => {
  disarm(process, key)
  if (deadline !== undefined) new KernelTimer(process, { key, deadline, interval })
}

const realTimeTimer = 0
const alarmSignal = constants.signals.SIGALRM

/** Computing takes no time: what it would end at never comes. */
const ofCpuTime = (process: HeldProcess, registers: Registers, before: 'rsi' | 'rdx'): Answer => {
  if (registers.get('rdi') > 2) return undefined
  writeSetting(process, registers.get(before), 'timeval', { deadline: undefined, interval: 0 })
  return 0
}

const setitimer = ({ process }: HeldThread, registers: Registers): Answer => {
  // The two others count CPU time.
  if (registers.get('rdi') !== realTimeTimer) return ofCpuTime(process, registers, 'rdx')
  const before = current(process, 'itimer')
  const address = registers.get('rsi')
  if (address !== 0) arm(process, 'itimer', readSetting(process, address, 'timeval'))
  writeSetting(process, registers.get('rdx'), 'timeval', before)
  return 0
}

const getitimer = ({ process }: HeldThread, registers: Registers): Answer => {
  if (registers.get('rdi') !== realTimeTimer) return ofCpuTime(process, registers, 'rsi')
  writeSetting(process, registers.get('rsi'), 'timeval', current(process, 'itimer'))
  return 0
}

const alarm = ({ process }: HeldThread, registers: Registers): Answer => {
  const { elapsed } = process.node.clock
  const before = current(process, 'itimer').deadline
  const seconds = registers.get('rdi')
  const deadline = seconds === 0 ? undefined : elapsed + seconds * second
  arm(process, 'itimer', { deadline, interval: 0 })
  return before === undefined ? 0 : Math.max(1, Math.round((before - elapsed) / second))
}

const absoluteFlag = 1

const timerSettime = ({ process }: HeldThread, registers: Registers): Answer => {
  const id = registers.get('rdi')
  const key = `timer ${id}`
  const before = current(process, key)
  const isAbsolute = (registers.get('rsi') & absoluteFlag) !== 0
  const setting = readSetting(process, registers.get('rdx'), 'timespec', isAbsolute)
  arm(process, key, setting)
  writeSetting(process, registers.get('r10'), 'timespec', before)
  return 0
}

const timerGettime = ({ process }: HeldThread, registers: Registers): Answer => {
  writeSetting(process, registers.get('rsi'), 'timespec', current(process, `timer ${registers.get('rdi')}`))
  return 0
}

/** The kernel deletes it. */
const timerDelete = ({ process }: HeldThread, registers: Registers): Answer => {
  disarm(process, `timer ${registers.get('rdi')}`)
  return undefined
}

/** One nanosecond, once: an itimerspec. */
const atOnce = Buffer.alloc(32)
atOnce.writeBigInt64LE(1n, 24)

/** Only the kernel can send the signal as timer_create asked for it, so the process itself lets the timer expire. */
const expireInside = (process: HeldProcess, id: number): boolean => {
  const thread = [...process.threads][0]
  if (thread === undefined) return false
  thread.interrupted = true
  thread.errand = tid =>
    injecting(tid, process.memory, ({ call, put }) => call(syscallNumber.timer_settime, id, 0, put(atOnce), 0))
  return interrupt(thread.tid)
}

const setTimerfd = libc.func('int timerfd_settime(int fd, int flags, void *value, void *old)')
const pollDescriptors = libc.func('poll', 'int', ['void *', 'unsigned long', 'int'])

const disarmed = Buffer.alloc(32)

const waitReadable = (fd: number) => {
  const request = Buffer.alloc(8)
  request.writeInt32LE(fd, 0)
  request.writeInt16LE(1, 4)
  pollDescriptors(request, 1, 100)
}

const timerfdSettime = ({ process }: HeldThread, registers: Registers): Answer => {
  const fd = registers.get('rdi') | 0
  const key = `timerfd ${fd}`
  const before = current(process, key)
  const isAbsolute = (registers.get('rsi') & absoluteFlag) !== 0
  const setting = readSetting(process, registers.get('rdx'), 'timespec', isAbsolute)
  if (!disarmTimerfd(process, fd)) return undefined
  arm(process, key, setting)
  writeSetting(process, registers.get('r10'), 'timespec', before)
  return 0
}

const timerfdGettime = ({ process }: HeldThread, registers: Registers): Answer => {
  writeSetting(process, registers.get('rsi'), 'timespec', current(process, `timerfd ${registers.get('rdi') | 0}`))
  return 0
}

/** Forgets expirations that were not read, as setting it does; false where it is none. */
export const disarmTimerfd = ({ pid }: HeldProcess, fd: number): boolean =>
  withDuplicate(pid, fd, own => setTimerfd(own, 0, disarmed, null) === 0) ?? false

/** Lets it expire at once; false when the process has closed it. */
const expireTimerfd = ({ pid }: HeldProcess, fd: number): boolean =>
  withDuplicate(pid, fd, own => {
    const done = setTimerfd(own, 0, atOnce, null) === 0
    if (done) waitReadable(own)
    return done
  }) ?? false

/** Forgets the timers whose descriptor was closed. */
export const sweepTimerfds = (process: HeldProcess): void => {
  for (const key of process.kernelTimers.keys()) {
    if (key.startsWith('timerfd ') && !isTimerfd(process, key.slice(8))) disarm(process, key)
  }
}

const isTimerfd = (process: HeldProcess, fd: string): boolean => {
  try {
    return readlinkSync(`/proc/${process.pid}/fd/${fd}`) === 'anon_inode:[timerfd]'
  } catch {
    return false
  }
}

type Handler = (thread: HeldThread, registers: Registers) => Answer

/** What is done in place of each call. */
export const timerCalls: Partial<Record<SyscallName, Handler>> = {
  setitimer,
  getitimer,
  alarm,
  timer_settime: timerSettime,
  timer_gettime: timerGettime,
  timer_delete: timerDelete,
  timerfd_settime: timerfdSettime,
  timerfd_gettime: timerfdGettime,
}
