import { constants } from 'node:os'
import type { ProcessMemory } from '../../linux/memory.ts'
import { interrupt, type Registers } from '../../linux/ptrace.ts'
import { type SyscallName, syscallName, syscallNumber } from '../../linux/syscall-number.ts'
import { flushCalls } from './calls/flushes.ts'
import { showSpace } from './calls/free-space.ts'
import { lastingCalls } from './calls/lasting-calls.ts'
import { countPoll, isPoll, pollAgain, pollsInVain } from './calls/polls.ts'
import { fixPort } from './calls/ports.ts'
import { receiveWaitedFor } from './calls/posix-timer.ts'
import { resourceCalls } from './calls/resources.ts'
import { socketCalls } from './calls/socket-timeouts.ts'
import { CLONE_UNTRACED, familiesOfTheMachine, systemCalls } from './calls/system-calls.ts'
import { isInPage, zeroTimespec } from './clock/clock-page.ts'
import { readsOfCall } from './clock/clock-reads.ts'
import { clockNamed, millisecond, type Nanoseconds, never, second } from './clock/virtual-clock.ts'
import { deadlineOf, emptySets, endless, type WaitKind, waitKind, writeTime } from './clock/waits.ts'
import { showTimes } from './files/file-times.ts'
import { openShown } from './files/shown-files.ts'
import { refusal } from './filter.ts'
import type { HeldNode, HeldProcess, HeldThread, LimitedWait } from './held/held-node.ts'
import { interruptedResults } from './held/interrupted.ts'
import { trapMapped } from './instructions/hardware-random.ts'
import { timerCalls } from './kernel-timers.ts'

/**
 * What happens to a call that the filter stopped, and to a wait when it returns. `exit`: the thread must be stopped
 * again at the call's exit. `nap`: it continues after all others have done what they do. `yield`: others go first,
 * whatever their rank.
 */
export type Treatment = 'go on' | 'exit' | 'nap' | 'yield'

/** ERESTARTNOHAND: the call is entered again unless a signal handler runs. */
export const restart = -514
const noSuchCall = -1

/**
 * Treats a call at its filter stop. The caller stores the thread's registers.
 *
 * @param isRecorded whether every call is seen, as the program makes it
 */
export const enterCall = (thread: HeldThread, registers: Registers, isRecorded: boolean): Treatment => {
  try {
    return treat(thread, registers, isRecorded)
  } catch (error) {
    if (!isBadAddress(error)) throw error
    answerWith(registers, -constants.errno.EFAULT)
    return 'go on'
  }
}

/** Whether an argument points to unmapped memory. */
const isBadAddress = (error: unknown): boolean =>
  error instanceof RangeError || (error as NodeJS.ErrnoException).code === 'EIO'

const treat = (thread: HeldThread, registers: Registers, isRecorded: boolean): Treatment => {
  const number = registers.get('origRax')
  if (number === syscallNumber.rt_sigtimedwait && registers.get('rdx') === 0) {
    thread.atExit = after => {
      if (after.get('rax') > 0) receiveWaitedFor(thread, after.get('rsi'))
    }
    return 'exit'
  }
  const kind = waitKind(number)
  if (kind !== undefined) return beginWait(thread, registers, number, kind)
  if (number === syscallNumber.sched_yield) return 'yield'
  if (number === syscallNumber.sigaltstack || number === syscallNumber.set_tid_address) thread.hasToldAnew = true
  if (number === syscallNumber.socket) {
    if (familiesOfTheMachine.includes(registers.get('rdi') | 0)) {
      answerWith(registers, refuseFamily(thread.process.node))
      return 'go on'
    }
    thread.atExit = after => {
      if (after.get('rax') >= 0) fixPort(thread.process, after.get('rax'))
    }
    return 'exit'
  }
  if (makesProcess.has(number) && isFull(thread.process.node)) {
    answerWith(registers, -constants.errno.EAGAIN)
    return 'go on'
  }
  if (number === syscallNumber.clone && registers.get('rdi') & CLONE_UNTRACED)
    registers.set('rdi', registers.get('rdi') - CLONE_UNTRACED)
  if (number === syscallNumber.clone3) traceNew(thread.process.memory, registers.get('rdi'))
  if (number === syscallNumber.mmap) return lookAtCode(thread, registers)
  const name = syscallName(number)
  if (name && (showTimes(thread, registers, name) || showSpace(thread, name))) return 'exit'
  const opened = name && openShown(thread, registers, name, isRecorded)
  if (opened) return opened
  const answer = answerCall(thread, registers, name, number)
  if (answer !== undefined) answerWith(registers, answer)
  return 'go on'
}

const refuseFamily = (node: HeldNode): number => {
  node.note(
    'socket() of a family other than those of a network (AF_VSOCK, AF_BLUETOOTH, …) is refused with EAFNOSUPPORT: it would reach this machine or its host',
  )
  return -constants.errno.EAFNOSUPPORT
}

const makesProcess: ReadonlySet<number> = new Set([
  syscallNumber.fork,
  syscallNumber.vfork,
  syscallNumber.clone,
  syscallNumber.clone3,
])

/** Whether a node has as many processes and threads as it may have. */
const isFull = (node: HeldNode): boolean => {
  const { processesMax } = node.limits
  if (node.threadCount < processesMax) return false
  node.note(
    `it has ${processesMax} processes and threads, as many as it may have (limits.processes): more are refused with EAGAIN`,
  )
  return true
}

/** @param flags address of the 64 bits with which a `struct clone_args` begins */
const traceNew = (memory: ProcessMemory, flags: number): void => {
  const low = memory.read(flags, 4).readUInt32LE()
  if ((low & CLONE_UNTRACED) === 0) return
  const traced = Buffer.alloc(4)
  traced.writeUInt32LE(low - CLONE_UNTRACED)
  memory.write(flags, traced)
}

/** Code of a file is inspected before the program executes it. */
const lookAtCode = (thread: HeldThread, registers: Registers): Treatment => {
  const [length, fd, offset] = [registers.get('rsi'), registers.get('r8') | 0, registers.get('r9')]
  thread.atExit = after => {
    const address = after.get('rax')
    if (address > 0) trapMapped(thread.process, fd, { address, offset, length })
  }
  return 'exit'
}

/** Sets the result of a call that is not made. */
const answerWith = (registers: Registers, result: number) => {
  registers.set('origRax', noSuchCall)
  registers.set('rax', result)
}

const answerCall = (
  thread: HeldThread,
  registers: Registers,
  name: SyscallName | undefined,
  number: number,
): number | undefined => {
  const answer = name && answers[name]
  if (answer) return answer(thread, registers)
  const error = refusal(name)
  if (error === undefined) return undefined
  thread.process.node.note(refusalNote(name, number, error))
  return -error
}

const refusalNote = (name: SyscallName | undefined, number: number, error: number): string => {
  const code = Object.entries(constants.errno).find(([, value]) => value === error)![0]
  const why = name ? systemCalls[name].why : 'it is not in the table of system calls'
  return `${name ?? `system call ${number}`} is refused with ${code}: ${why}`
}

const pair = (first: number, rest: number): Buffer => {
  const bytes = Buffer.alloc(16)
  bytes.writeBigInt64LE(BigInt(first), 0)
  bytes.writeBigInt64LE(BigInt(rest), 8)
  return bytes
}

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
  process.memory.write(registers.get('rsi'), pair(seconds, nanoseconds))
  return 0
}

const gettimeofday = (thread: HeldThread, registers: Registers): number => {
  const { process } = thread
  countRead(thread, registers)
  const { seconds, nanoseconds } = process.node.clock.show('realtime')
  const address = registers.get('rdi')
  if (address !== 0) process.memory.write(address, pair(seconds, Math.floor(nanoseconds / 1000)))
  return 0
}

const time = (thread: HeldThread, registers: Registers): number => {
  const { process } = thread
  countRead(thread, registers)
  const { seconds } = process.node.clock.show('realtime')
  const address = registers.get('rdi')
  if (address !== 0) process.memory.write(address, pair(seconds, 0).subarray(0, 8))
  return seconds
}

const longestRandom = 1 << 25

const getrandom = ({ process, randomness }: HeldThread, registers: Registers): number => {
  const length = Math.min(registers.get('rsi'), longestRandom)
  process.memory.write(registers.get('rdi'), randomness.bytes(length))
  return length
}

const answers: Partial<Record<SyscallName, (thread: HeldThread, registers: Registers) => number | undefined>> = {
  clock_gettime: clockGettime,
  gettimeofday,
  time,
  getrandom,
  ...timerCalls,
  ...resourceCalls,
  ...flushCalls,
  ...socketCalls,
  ...lastingCalls,
}

/** Go's monitor sleeps at most this long while it watches the others, and longer while all of them sleep. */
const longestNap = 11 * millisecond

const beginWait = (thread: HeldThread, registers: Registers, number: number, kind: WaitKind): Treatment => {
  const { process } = thread
  const resumed = takeUp(thread, registers)
  const deadline = resumed ?? deadlineOf(kind, registers, process.memory, process.node.clock)
  if (deadline === undefined) return 'go on'
  const left = deadline - process.node.clock.elapsed
  if (number === syscallNumber.nanosleep && process.isGo && left < longestNap) {
    answerWith(registers, 0)
    return 'nap'
  }
  // A wait that goes on may be overdue: it ends when a choice lets it.
  if (left <= 0 && resumed === undefined) return lookOnly(thread, registers, kind)
  const isAside = isPoll(number) && pollsInVain(thread)
  const wait = limitedWait(thread, kind, number, registers.get(kind.timeout), deadline, isAside)
  thread.wait = wait
  if (deadline < endless) process.node.timers.add(wait)
  if (isAside) {
    process.node.note(noteOfPolls)
    process.node.hasPollsAside = true
    registers.set('origRax', syscallNumber.pause)
  } else if (kind.forever !== undefined) registers.set('origRax', kind.forever)
  else registers.set(kind.timeout, kind.unit === 'milliseconds' ? -1 : 0)
  return 'exit'
}

const noteOfPolls =
  'a thread asks for events again and again, and does nothing with the answer: it counts as waiting for others'

/** The deadline of an interrupted wait, if this is the same call entered again. */
const takeUp = (thread: HeldThread, registers: Registers): Nanoseconds | undefined => {
  const { resumed } = thread
  thread.resumed = undefined
  return resumed?.address === registers.get('rip') ? resumed.deadline : undefined
}

/** The time ends before the wait begins, so the call checks once and returns. */
const lookOnly = (thread: HeldThread, registers: Registers, kind: WaitKind): Treatment => {
  if (kind.forever !== undefined) {
    thread.process.node.countLook(thread)
    answerWith(registers, kind.timedOut)
    return 'go on'
  }
  const timeout = registers.get(kind.timeout)
  thread.wait = limitedWait(thread, kind, registers.get('origRax'), timeout, thread.process.node.clock.elapsed)
  thread.atExit = after => {
    if (after.get('rax') === kind.timedOut) thread.process.node.countLook(thread)
  }
  registers.set(kind.timeout, kind.unit === 'milliseconds' ? 0 : zeroTimespec)
  return 'exit'
}

const limitedWait = (
  thread: HeldThread,
  kind: WaitKind,
  call: number,
  timeout: number,
  deadline: Nanoseconds,
  isAside = false,
): LimitedWait => ({
  kind,
  call,
  timeout,
  deadline,
  over: false,
  isAside,
  fire() {
    this.over = true
    if (this.isAside) pollAgain(thread)
    thread.process.node.timers.delete(this)
    thread.interrupted = true
    interrupt(thread.tid)
  },
})

/** Treats the exit of a call for which `enterCall` requested it. */
export const exitCall = (thread: HeldThread, registers: Registers): void => {
  const { atExit } = thread
  thread.atExit = undefined
  atExit?.(registers)
  const { wait } = thread
  if (wait === undefined) return
  const { memory } = thread.process
  thread.forgetWait()
  registers.set(wait.kind.timeout, wait.timeout)
  if (wait.kind.isUpdated) writeTimeLeft(thread, wait)
  if (!interruptedResults.has(registers.get('rax'))) {
    if (isPoll(wait.call)) countPoll(thread, registers)
    if (wait.call === syscallNumber.rt_sigtimedwait && registers.get('rax') > 0)
      receiveWaitedFor(thread, registers.get('rsi'))
    return
  }
  if (wait.over && !wait.isAside) {
    emptySets(wait.kind, registers, memory)
    answerWith(registers, wait.kind.timedOut)
    return
  }
  thread.resumed = { address: registers.get('rip'), deadline: wait.deadline }
  if (wait.kind.remaining !== undefined) writeRemaining(thread, registers.get(wait.kind.remaining), wait)
  // A signal of the program ends an epoll_wait in any case, and other calls only if it has a handler.
  if (thread.interrupted || registers.get('rax') !== -4) {
    registers.set('origRax', wait.call)
    registers.set('rax', restart)
  }
}

/** The kernel tells a call like select how much of its timeout is left. */
const writeTimeLeft = ({ process }: HeldThread, wait: LimitedWait) => {
  const left = wait.over ? 0 : Math.max(0, timeLeft(process, wait))
  writeTime(process.memory, wait.timeout, wait.kind.unit, left)
}

const timeLeft = ({ node }: HeldProcess, { deadline }: LimitedWait): Nanoseconds =>
  Math.min(deadline, node.clock.elapsed + never) - node.clock.elapsed

const writeRemaining = ({ process }: HeldThread, address: number, wait: LimitedWait) => {
  if (address === 0) return
  const left = timeLeft(process, wait)
  process.memory.write(address, pair(Math.floor(left / second), left % second))
}
