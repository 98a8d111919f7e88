import type { ProcessMemory } from '../../../linux/memory.ts'
import {
  allSignals,
  cont,
  event,
  getEventMessage,
  getSignalMask,
  Registers,
  setSignalMask,
  wait,
} from '../../../linux/ptrace.ts'
import { sendSignal } from './launch.ts'

/** syscall; int3 */
const callAndTrap = Buffer.from([0x0f, 0x05, 0xcc])

/** Makes system calls inside a stopped thread, as if the program made them. */
export interface Injector {
  /** The call's result; negative errno if it failed. */
  call(number: number, ...args: number[]): number
  /** Puts bytes on the process's stack for the next call; returns their address, aligned to 16 bytes. */
  put(bytes: Uint8Array): number
}

/**
 * Borrows a thread that is stopped outside of a system call. Afterwards everything is as before. Signals wait
 * meanwhile.
 *
 * @throws ThreadEnded
 */
export const injecting = <Result>(tid: number, memory: ProcessMemory, use: (injector: Injector) => Result): Result => {
  const before = new Registers()
  before.load(tid)
  const address = before.get('rip')
  const code = memory.read(address, callAndTrap.length)
  const mask = getSignalMask(tid)
  setSignalMask(tid, allSignals)
  memory.write(address, callAndTrap)
  const result = use(injectorOf(tid, memory, before))
  memory.write(address, code)
  setSignalMask(tid, mask)
  before.store(tid)
  return result
}

const argumentNames = ['rdi', 'rsi', 'rdx', 'r10', 'r8', 'r9'] as const
/** The program may use this many bytes below its stack pointer. */
const redZone = 128

const injectorOf = (tid: number, memory: ProcessMemory, before: Registers): Injector => {
  const registers = new Registers()
  let free = before.get('rsp') - redZone
  return {
    put(bytes) {
      free = Math.floor((free - bytes.length) / 16) * 16
      memory.write(free, bytes)
      return free
    },
    call(number, ...values) {
      registers.copyFrom(before)
      registers.set('origRax', -1)
      registers.set('rax', number)
      for (const [index, name] of argumentNames.entries()) registers.set(name, values[index] ?? 0)
      registers.store(tid)
      runToTrap(tid)
      registers.load(tid)
      return registers.get('rax')
    },
  }
}

/**
 * Our own calls pass the filter's stops untouched. SIGSTOP, which no mask blocks, comes again after them.
 *
 * @param onThread is called with a thread that a call makes; its first stop must be awaited
 */
export const runToTrap = (tid: number, onThread?: (made: number) => void) => {
  for (let isToStop = false; ; ) {
    cont(tid)
    const change = wait(tid)
    if (change.kind === 'signal' && change.signal === trapSignal) {
      if (isToStop) sendSignal(tid, stopSignal)
      return
    }
    if (change.kind === 'signal' && change.signal === stopSignal) {
      isToStop = true
      continue
    }
    if (change.kind === 'event' && (change.event === event.seccomp || change.event === event.stop)) continue
    if (change.kind === 'event' && change.event === event.clone && onThread) {
      onThread(getEventMessage(tid))
      continue
    }
    throw new Error(`a call injected into thread ${tid} came to ${JSON.stringify(change)}`)
  }
}

const trapSignal = 5
const stopSignal = 19
