import { interrupt, type Registers } from '../../../linux/ptrace.ts'
import { syscallNumber } from '../../../linux/syscall-number.ts'
import { zeroTimespec } from '../clock/clock-page.ts'
import { millisecond, type Nanoseconds, never, second } from '../clock/virtual-clock.ts'
import { emptySets, endless, type WaitKind, waitEnd, waitKinds, writeTime } from '../clock/waits.ts'
import type { HeldProcess, HeldThread, LimitedWait } from '../held/held-node.ts'
import { interruptedResults } from '../held/interrupted.ts'
import { countPoll, isPoll, pollAgain, pollsInVain } from './polls.ts'
import { receiveWaitedFor } from './posix-timer.ts'
import { answerWith, type Continuation, restart, type Treatments, timespec } from './treatment.ts'

/** Calls that wait for a limited time. The process waits without limit, and a choice lets its time-out come. */

/** Go's monitor sleeps at most this long while it watches the others, and longer while all of them sleep. */
const longestNap = 11 * millisecond

const beginWait = (thread: HeldThread, registers: Registers, kind: WaitKind): Continuation | number | undefined => {
  const { process } = thread
  const number = registers.get('origRax')
  const resumed = takeUp(thread, registers)
  const deadline = resumed ?? waitEnd(kind, registers, process.memory, process.node.clock)
  if (deadline === undefined) return undefined
  const left = deadline - process.node.clock.elapsed
  if (number === syscallNumber.nanosleep && process.isGo && left < longestNap) {
    answerWith(registers, 0)
    return 'nap'
  }
  // A wait that goes on may be overdue: it ends when a choice lets it.
  if (left <= 0 && resumed === undefined) return lookOnly(thread, registers, kind)
  const isAside = isPoll(number) && pollsInVain(thread)
  const isByWallClock = kind.until?.(registers) === 'realtime'
  const wait = { ...limitedWait(thread, kind, number, registers.get(kind.timeout), deadline, isAside), isByWallClock }
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
export const takeUp = (thread: HeldThread, registers: Registers): Nanoseconds | undefined => {
  const { resumed } = thread
  thread.resumed = undefined
  return resumed?.address === registers.get('rip') ? resumed.deadline : undefined
}

/** The time ends before the wait begins, so the call checks once and returns. */
const lookOnly = (thread: HeldThread, registers: Registers, kind: WaitKind): Continuation | number => {
  if (kind.forever !== undefined) {
    thread.process.node.countLook(thread)
    return kind.timedOut
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

/** Lets a thread wait at a call until then, and make it afterwards. */
export const waitBefore = (thread: HeldThread, registers: Registers, deadline: Nanoseconds): Continuation => {
  const [call, timeout] = [registers.get('origRax'), registers.get(noTimeout.timeout)]
  thread.wait = limitedWait(thread, noTimeout, call, timeout, deadline, true)
  thread.process.node.timers.add(thread.wait)
  registers.set('origRax', syscallNumber.pause)
  return 'exit'
}

/** For a call without a timeout of its own: `timeout` names a register that the call leaves unchanged. */
const noTimeout: WaitKind = { timeout: 'rdx', unit: 'milliseconds', timedOut: 0 }

/** Treats the exit of a limited wait, if the call was one. */
export const endWait = (thread: HeldThread, registers: Registers): void => {
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
  const isMade = wait.over && wait.kind === noTimeout
  thread.resumed = isMade ? undefined : { address: registers.get('rip'), deadline: wait.deadline }
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
  process.memory.write(address, timespec(Math.floor(left / second), left % second))
}

/** A wait for a signal without a time-out is one for a timer, too, if a timer sends that signal. */
const waitForSignal = (thread: HeldThread, registers: Registers): Continuation | number | undefined => {
  if (registers.get('rdx') !== 0) return beginWait(thread, registers, waitKinds.rt_sigtimedwait!)
  thread.atExit = after => {
    if (after.get('rax') > 0) receiveWaitedFor(thread, after.get('rsi'))
  }
  return 'exit'
}

export const waitCalls: Treatments = {
  ...Object.fromEntries(
    Object.entries(waitKinds).map(([name, kind]) => [
      name,
      (thread: HeldThread, registers: Registers) => beginWait(thread, registers, kind),
    ]),
  ),
  rt_sigtimedwait: waitForSignal,
}
