import { zeroTimespec } from './clock-page.ts'
import type { HeldThread, LimitedWait } from './held-node.ts'
import { timerCalls } from './kernel-timers.ts'
import { interrupt, type Registers } from './ptrace.ts'
import { syscallName, syscallNumber } from './syscall-number.ts'
import { clockNamed, millisecond, type Nanoseconds, second } from './virtual-clock.ts'
import { deadlineOf, emptySets, type WaitKind, waitKind } from './waits.ts'

/**
 * What happens to a call that the filter stopped, and to a wait when it returns. `exit`: the thread must be stopped
 * again at the call's exit. `nap`: it goes on when all others have done what they do. `yield`: others go first, of
 * whatever rank.
 */
export type Treatment = 'go on' | 'exit' | 'nap' | 'yield'

/** What a wait returns that was interrupted: EINTR, ERESTARTSYS, ERESTARTNOINTR, ERESTARTNOHAND, ERESTART_RESTARTBLOCK */
export const interruptedResults: ReadonlySet<number> = new Set([-4, -512, -513, -514, -516])
/** ERESTARTNOHAND: entered again, unless a signal handler runs. */
export const restart = -514
const noSuchCall = -1

/** Treats a call at its filter stop; the registers are those of the thread, and are stored by the caller. */
export const enterCall = (thread: HeldThread, registers: Registers): Treatment => {
  const number = registers.get('origRax')
  const kind = waitKind(number)
  if (kind !== undefined) return beginWait(thread, registers, number, kind)
  if (number === syscallNumber.sched_yield) return 'yield'
  const answer = answerCall(thread, registers, number)
  if (answer !== undefined) answerWith(registers, answer)
  return 'go on'
}

/** The call is not made; this is its result. */
const answerWith = (registers: Registers, result: number) => {
  registers.set('origRax', noSuchCall)
  registers.set('rax', result)
}

const answerCall = (thread: HeldThread, registers: Registers, number: number): number | undefined => {
  switch (number) {
    case syscallNumber.clock_gettime:
      return clockGettime(thread, registers)
    case syscallNumber.gettimeofday:
      return gettimeofday(thread, registers)
    case syscallNumber.time:
      return time(thread, registers)
    case syscallNumber.getrandom:
      return getrandom(thread, registers)
  }
  const name = syscallName(number)
  return name && timerCalls[name]?.(thread, registers)
}

const pair = (first: number, rest: number): Buffer => {
  const bytes = Buffer.alloc(16)
  bytes.writeBigInt64LE(BigInt(first), 0)
  bytes.writeBigInt64LE(BigInt(rest), 8)
  return bytes
}

/** Clocks of CPU time show the node's time too: what a program computes costs none. */
const clockGettime = ({ process }: HeldThread, registers: Registers): number => {
  const shown = process.node.clock.show(clockNamed(registers.get('rdi') | 0) ?? 'monotonic')
  process.memory.write(registers.get('rsi'), pair(shown.seconds, shown.nanoseconds))
  return 0
}

const gettimeofday = ({ process }: HeldThread, registers: Registers): number => {
  const { seconds, nanoseconds } = process.node.clock.show('realtime')
  const address = registers.get('rdi')
  if (address !== 0) process.memory.write(address, pair(seconds, Math.floor(nanoseconds / 1000)))
  return 0
}

const time = ({ process }: HeldThread, registers: Registers): number => {
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

/** Go's monitor sleeps for so long at most where it watches the others, and longer where they all sleep. */
const longestNap = 11 * millisecond

const beginWait = (thread: HeldThread, registers: Registers, number: number, kind: WaitKind): Treatment => {
  const { process } = thread
  const deadline = takeUp(thread, registers) ?? deadlineOf(kind, registers, process.memory, process.node.clock)
  const left = deadline - process.node.clock.elapsed
  if (number === syscallNumber.nanosleep && process.isGo && left < longestNap) {
    answerWith(registers, 0)
    return 'nap'
  }
  if (left <= 0) return lookOnly(thread, registers, kind)
  const wait = limitedWait(thread, kind, number, registers.get(kind.timeout), deadline)
  thread.wait = wait
  process.node.timers.add(wait)
  if (kind.forever !== undefined) registers.set('origRax', kind.forever)
  else registers.set(kind.timeout, kind.unit === 'milliseconds' ? -1 : 0)
  return 'exit'
}

/** The deadline of a wait that was interrupted, when this is the same call entered again. */
const takeUp = (thread: HeldThread, registers: Registers): Nanoseconds | undefined => {
  const { resumed } = thread
  thread.resumed = undefined
  return resumed?.address === registers.get('rip') ? resumed.deadline : undefined
}

/** The time is over before the wait begins: the call looks once and returns. */
const lookOnly = (thread: HeldThread, registers: Registers, kind: WaitKind): Treatment => {
  if (kind.forever !== undefined) {
    answerWith(registers, kind.timedOut)
    return 'go on'
  }
  const timeout = registers.get(kind.timeout)
  thread.wait = limitedWait(thread, kind, registers.get('origRax'), timeout, thread.process.node.clock.elapsed)
  registers.set(kind.timeout, kind.unit === 'milliseconds' ? 0 : zeroTimespec)
  return 'exit'
}

const limitedWait = (
  thread: HeldThread,
  kind: WaitKind,
  call: number,
  timeout: number,
  deadline: Nanoseconds,
): LimitedWait => ({
  kind,
  call,
  timeout,
  deadline,
  over: false,
  fire() {
    this.over = true
    thread.interrupted = true
    interrupt(thread.tid)
  },
})

/** Treats the exit of a call that `enterCall` wanted to see. */
export const exitCall = (thread: HeldThread, registers: Registers): void => {
  const { wait } = thread
  if (wait === undefined) return
  const { memory, node } = thread.process
  thread.wait = undefined
  node.timers.delete(wait)
  registers.set(wait.kind.timeout, wait.timeout)
  if (!interruptedResults.has(registers.get('rax'))) return
  if (wait.over) {
    emptySets(wait.kind, registers, memory)
    answerWith(registers, wait.kind.timedOut)
    return
  }
  thread.resumed = { address: registers.get('rip'), deadline: wait.deadline }
  if (wait.kind.remaining !== undefined) writeRemaining(thread, registers.get(wait.kind.remaining), wait)
  // A signal of the program's own ends an epoll_wait in any case; the others only if it has a handler.
  if (thread.interrupted || registers.get('rax') !== -4) {
    registers.set('origRax', wait.call)
    registers.set('rax', restart)
  }
}

const writeRemaining = ({ process }: HeldThread, address: number, wait: LimitedWait) => {
  if (address === 0) return
  const left = wait.deadline - process.node.clock.elapsed
  process.memory.write(address, pair(Math.floor(left / second), left % second))
}
