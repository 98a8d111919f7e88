import { existsSync } from 'node:fs'
import koffi from 'koffi'
import { readKernelFile } from '../../../linux/kernel-file.ts'
import { errno, libc, requireSuccess } from '../../../linux/libc.ts'
import { pendingSignals } from '../../../linux/signals.ts'
import { syscallNumber } from '../../../linux/syscall-number.ts'
import type { Expiries, HeldProcess, HeldThread } from '../held/held-node.ts'

/**
 * What a timer of timer_create does when it expires. The kernel keeps the timer but never arms it, so the tool sends its
 * signal, as the kernel would: to a process or a thread, with the program's value, the timer's id, and one signal at a
 * time. An expiry while that signal is pending is an overrun.
 */
interface PosixTimer {
  readonly clock: number
  readonly signal: number
  readonly value: bigint
  readonly target: { readonly kind: 'none' | 'process' | 'thread'; readonly id: number }
}

/** Undefined if the process has no timer of this id. */
export const posixTimer = ({ pid, node }: HeldProcess, id: number): PosixTimer | undefined => {
  const found = new RegExp(`^ID: ${id}\n${timerLines}$`, 'm').exec(timersOf(pid))
  if (found === null) {
    if (!showsTimers) node.note('this kernel does not show what timers of timer_create do: none of them goes off')
    return undefined
  }
  const [, signal, value, how, whom, target, clock] = found
  const kind = how === 'none' ? 'none' : whom === 'tid' ? 'thread' : 'process'
  return {
    clock: Number(clock),
    signal: Number(signal),
    value: BigInt(`0x${value}`),
    target: { kind, id: Number(target) },
  }
}

const timerLines =
  'signal: (\\d+)/(?:0x)?([0-9a-f]+)\nnotify: (signal|none|thread)/(pid|tid)\\.(\\d+)\nClockID: (-?\\d+)'

/** Kernels without CONFIG_CHECKPOINT_RESTORE do not list timers. */
const showsTimers = existsSync('/proc/self/timers')

const timersOf = (pid: number): string => {
  try {
    return readKernelFile(`/proc/${pid}/timers`)
  } catch {
    // The process has ended, or the kernel does not list timers.
    return ''
  }
}

/** The kernel counts no further. */
const overrunMax = 2 ** 31 - 1

const expiriesOf = ({ expiries }: HeldProcess, id: number): Expiries => {
  const known = expiries.get(id) ?? { isSent: false, missed: 0, overrun: 0 }
  expiries.set(id, known)
  return known
}

/** Sends the signal of a timer that expires. Returns false if the timer does not exist any more. */
export const expirePosixTimer = (process: HeldProcess, id: number): boolean => {
  const timer = posixTimer(process, id)
  if (timer === undefined) return false
  const { target } = timer
  if (target.kind === 'none') return true
  const expiries = expiriesOf(process, id)
  receiveUnseen(process, timer, expiries)
  if (expiries.isSent) expiries.missed = Math.min(expiries.missed + 1, overrunMax)
  else expiries.isSent = send(process.pid, id, timer)
  return true
}

/** A signal may have been read from a signalfd, which nobody shows. */
const receiveUnseen = ({ pid }: HeldProcess, { signal, target }: PosixTimer, expiries: Expiries): void => {
  if (expiries.isSent && !pendingSignals(pid, target.id).has(signal)) receive(expiries)
}

const receive = (expiries: Expiries): void => {
  expiries.overrun = expiries.missed
  expiries.missed = 0
  expiries.isSent = false
}

const sentByTimer = -2
/** Fields of siginfo_t for a timer. */
const field = { signal: 0, code: 8, id: 16, overrun: 20, value: 24 }
const infoLength = 128
/** By number, because C libraries offer only calls that choose the content themselves. */
const queueSignal = libc.func('syscall', 'long', ['long', 'int', 'int', 'void *'])
const queueThreadSignal = libc.func('syscall', 'long', ['long', 'int', 'int', 'int', 'void *'])

/** Whether somebody received it, or will. */
const send = (pid: number, id: number, { signal, value, target }: PosixTimer): boolean => {
  const info = Buffer.alloc(infoLength)
  info.writeInt32LE(signal, field.signal)
  info.writeInt32LE(sentByTimer, field.code)
  info.writeInt32LE(id, field.id)
  info.writeBigUInt64LE(value, field.value)
  const isSent =
    target.kind === 'thread'
      ? queueThreadSignal(syscallNumber.rt_tgsigqueueinfo, pid, target.id, signal, info)
      : queueSignal(syscallNumber.rt_sigqueueinfo, pid, signal, info)
  if (isSent === 0) return true
  // Its thread has ended, or the kernel queues no more signals of this user.
  if ([errno.ESRCH, errno.EAGAIN].includes(koffi.errno())) return false
  return requireSuccess('rt_sigqueueinfo', isSent) === 0
}

/** Whether the signal that this describes came from a timer. If so, its number of overruns is set. */
export const receiveFromTimer = (process: HeldProcess, info: Buffer): boolean => {
  if (info.readInt32LE(field.code) !== sentByTimer) return false
  const expiries = expiriesOf(process, info.readInt32LE(field.id))
  receive(expiries)
  info.writeInt32LE(expiries.overrun, field.overrun)
  return true
}

/** Call it when rt_sigtimedwait has returned a signal, with the address where it described that; 0 for none. */
export const receiveWaitedFor = ({ process }: HeldThread, address: number): void => {
  if (address === 0) return
  const info = Buffer.from(process.memory.read(address, infoLength))
  if (receiveFromTimer(process, info)) process.memory.write(address, info.subarray(0, field.value))
}

/** Overruns of the signal that was last received; undefined if there is no such timer. */
export const overrunOf = (process: HeldProcess, id: number): number | undefined => {
  const timer = posixTimer(process, id)
  if (timer === undefined) return undefined
  const expiries = expiriesOf(process, id)
  receiveUnseen(process, timer, expiries)
  return expiries.overrun
}

/** A timer that is set counts from 0. */
export const forgetOverruns = (process: HeldProcess, id: number): void => {
  const expiries = expiriesOf(process, id)
  expiries.missed = 0
  expiries.overrun = 0
}
