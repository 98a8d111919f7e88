import { constants } from 'node:os'
import type { ProcessMemory } from '../../linux/memory.ts'
import type { Registers } from '../../linux/ptrace.ts'
import { type SyscallName, syscallName } from '../../linux/syscall-number.ts'
import { callFaultOf } from './calls/call-faults.ts'
import { clockCalls } from './calls/clock-calls.ts'
import { diskFailureOf } from './calls/disk-failure.ts'
import { flushCalls } from './calls/flushes.ts'
import { spaceCalls } from './calls/free-space.ts'
import { lastingCalls } from './calls/lasting-calls.ts'
import { endWait, waitCalls } from './calls/limited-waits.ts'
import { mapsToWrite } from './calls/mapped-files.ts'
import { fixPort } from './calls/ports.ts'
import { resourceCalls } from './calls/resources.ts'
import { socketCalls } from './calls/socket-timeouts.ts'
import { CLONE_UNTRACED, familiesOfTheMachine, systemCalls } from './calls/system-calls.ts'
import { answerWith, type Continuation, type Treat, type Treatments } from './calls/treatment.ts'
import { watchWrite } from './calls/written-files.ts'
import { fileTimeCalls } from './files/file-times.ts'
import { openingCalls } from './files/shown-files.ts'
import { isCallHeld, refusal } from './filter.ts'
import type { HeldNode, HeldThread } from './held/held-node.ts'
import { trapMapped } from './instructions/hardware-random.ts'
import { timerCalls } from './kernel-timers.ts'

/**
 * Treats a call at its filter stop. The caller stores the thread's registers.
 *
 * @param isRecorded whether every call is seen, as the program makes it
 */
export const enterCall = (thread: HeldThread, registers: Registers, isRecorded: boolean): Continuation => {
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

const treat = (thread: HeldThread, registers: Registers, isRecorded: boolean): Continuation => {
  const number = registers.get('origRax')
  const name = syscallName(number)
  const failure = name && (diskFailureOf(thread, registers, name) ?? callFaultOf(thread, registers, name))
  if (typeof failure === 'number') {
    answerWith(registers, failure)
    return 'go on'
  }
  const treated = name !== undefined && isCallHeld(name, registers) ? treatments[name] : undefined
  const written = name && watchWrite(thread, registers, name)
  const answer = treated ? treated(thread, registers, name!, isRecorded) : refuse(thread, name, number)
  if (failure !== undefined) {
    const length = registers.get('rdx')
    if (typeof failure === 'string') registers.set('rdx', failure === 'half' ? length >> 1 : 1)
    thread.atExit = after => {
      if (typeof failure === 'function') failure(after)
      written?.(after)
      after.set('rdx', length)
    }
    return 'exit'
  }
  if (written && answer === undefined) {
    thread.atExit = written
    return 'exit'
  }
  if (typeof answer !== 'number') return answer ?? 'go on'
  answerWith(registers, answer)
  return 'go on'
}

/** The error of a call that is refused, which the verdict then says. */
const refuse = ({ process }: HeldThread, name: SyscallName | undefined, number: number): number | undefined => {
  const error = refusal(name)
  if (error === undefined) return undefined
  process.node.note(refusalNote(name, number, error))
  return -error
}

const refusalNote = (name: SyscallName | undefined, number: number, error: number): string => {
  const code = Object.entries(constants.errno).find(([, value]) => value === error)![0]
  const why = name ? systemCalls[name].why : 'it is not in the table of system calls'
  return `${name ?? `system call ${number}`} is refused with ${code}: ${why}`
}

const openSocket: Treat = (thread, registers) => {
  if (familiesOfTheMachine.includes(registers.get('rdi') | 0)) return refuseFamily(thread.process.node)
  thread.atExit = after => {
    if (after.get('rax') >= 0) fixPort(thread.process, after.get('rax'))
  }
  return 'exit'
}

const refuseFamily = (node: HeldNode): number => {
  node.note(
    'socket() of a family other than those of a network (AF_VSOCK, AF_BLUETOOTH, …) is refused with EAFNOSUPPORT: it would reach this machine or its host',
  )
  return -constants.errno.EAFNOSUPPORT
}

/** Whether a node has as many processes and threads as it may have. */
const isFull = (node: HeldNode): boolean => {
  const { processesMax } = node.limits
  if (node.threadCount < processesMax) return false
  node.note(
    `it has ${processesMax} processes and threads, as many as it may have (limits.processes): more are refused with EAGAIN`,
  )
  return true
}

/** What it makes is traced, whatever the program asks for. */
const makeProcess: Treat = ({ process }, registers, name) => {
  if (isFull(process.node)) return -constants.errno.EAGAIN
  if (name === 'clone' && registers.get('rdi') & CLONE_UNTRACED)
    registers.set('rdi', registers.get('rdi') - CLONE_UNTRACED)
  if (name === 'clone3') traceNew(process.memory, registers.get('rdi'))
  return undefined
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
const lookAtCode: Treat = (thread, registers) => {
  // It is stopped for a power failure, and holds no code.
  if (mapsToWrite(registers)) return undefined
  const [length, fd, offset] = [registers.get('rsi'), registers.get('r8') | 0, registers.get('r9')]
  thread.atExit = after => {
    const address = after.get('rax')
    if (address > 0) trapMapped(thread.process, fd, { address, offset, length })
  }
  return 'exit'
}

/** A rewind restores what the thread told the kernel. */
const tellAnew: Treat = thread => {
  thread.hasToldAnew = true
  return undefined
}

/** Bytes that getrandom(2) returns at most. */
const longestRandom = 1 << 25

const getrandom: Treat = ({ process, randomness }, registers) => {
  const length = Math.min(registers.get('rsi'), longestRandom)
  process.memory.write(registers.get('rdi'), randomness.bytes(length))
  return length
}

/** By the name of the call: the one place where a held call gets its treatment. */
export const treatments: Treatments = {
  ...waitCalls,
  ...clockCalls,
  ...timerCalls,
  ...resourceCalls,
  ...flushCalls,
  ...spaceCalls,
  ...socketCalls,
  ...lastingCalls,
  ...fileTimeCalls,
  ...openingCalls,
  socket: openSocket,
  fork: makeProcess,
  vfork: makeProcess,
  clone: makeProcess,
  clone3: makeProcess,
  mmap: lookAtCode,
  getrandom,
  sched_yield: () => 'yield',
  sigaltstack: tellAnew,
  set_tid_address: tellAnew,
}

/** Treats the exit of a call for which `enterCall` requested it. */
export const exitCall = (thread: HeldThread, registers: Registers): void => {
  const { atExit } = thread
  thread.atExit = undefined
  atExit?.(registers)
  endWait(thread, registers)
}
