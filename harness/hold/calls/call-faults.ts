import { readFileSync, statSync } from 'node:fs'
import { constants } from 'node:os'
import type { CallFault } from '../../../checker/happening/call-faults.ts'
import { withDuplicate } from '../../../linux/descriptor.ts'
import type { Registers } from '../../../linux/ptrace.ts'
import { catchesAny } from '../../../linux/signals.ts'
import { getNumber, socketType } from '../../../linux/socket-option.ts'
import type { SyscallName } from '../../../linux/syscall-number.ts'
import { futexFlags } from '../clock/waits.ts'
import type { HeldThread } from '../held/held-node.ts'
import { isFileOfDisk } from './written-files.ts'

/**
 * What a system call may always do, and seldom does. Only what a kernel may do to a correct program: a program that
 * does not wait may take a short read for the last one and wait for more, so only blocking reads and writes are short.
 * A call is only interrupted by a signal where the kernel would not restart it.
 */

const ofKind: Readonly<Record<CallFault['what'], readonly SyscallName[]>> = {
  // The third argument of each is a number of bytes.
  read: ['read', 'pread64', 'recvfrom'],
  write: ['write', 'pwrite64', 'sendto'],
  interrupted: [
    'epoll_wait',
    'epoll_pwait',
    'epoll_pwait2',
    'semop',
    'semtimedop',
    'poll',
    'ppoll',
    'select',
    'pselect6',
  ],
  woken: ['futex'],
  descriptor: [
    ...([
      'open',
      'openat',
      'openat2',
      'creat',
      'socket',
      'socketpair',
      'accept',
      'accept4',
      'dup',
      'pipe',
      'pipe2',
    ] as const),
    ...(['eventfd2', 'epoll_create1', 'timerfd_create', 'signalfd4', 'inotify_init1', 'memfd_create'] as const),
  ],
}

/** Calls that are stopped where one of these may happen. */
export const stoppedForFaults: ReadonlySet<SyscallName> = new Set(Object.values(ofKind).flat())

/** These end with EINTR when their process was stopped and goes on; others need a signal that the program catches. */
const endByStop: ReadonlySet<SyscallName> = new Set([
  'epoll_wait',
  'epoll_pwait',
  'epoll_pwait2',
  'semop',
  'semtimedop',
])

/**
 * The result with which a call ends at once; `one` if the call takes one byte; undefined if the call is carried out as
 * it is.
 */
export const callFaultOf = (
  thread: HeldThread,
  registers: Registers,
  name: SyscallName,
): number | 'one' | undefined => {
  const { node } = thread.process
  const fault = node.waitingFaults.get('calls')
  if (fault === undefined || !ofKind[fault.what].includes(name) || !mayDo[fault.what](thread, registers, name))
    return undefined
  if (node.waitingFaults.countCall('calls') !== fault.at) return undefined
  return results[fault.what]
}

const results = {
  read: 'one',
  write: 'one',
  interrupted: -constants.errno.EINTR,
  woken: 0,
  descriptor: -constants.errno.EMFILE,
} as const satisfies Record<CallFault['what'], number | 'one'>

type May = (thread: HeldThread, registers: Registers, name: SyscallName) => boolean

/** MSG_DONTWAIT, MSG_WAITALL, MSG_PEEK */
const otherReads = 0x40 | 0x100 | 2

const isShortable: May = ({ process: { pid } }, registers, name) => {
  const flags = name === 'recvfrom' || name === 'sendto' ? registers.get('r10') : 0
  return registers.get('rdx') > 1 && (flags & otherReads) === 0 && isStream(pid, registers.get('rdi') | 0)
}

const mayDo: Readonly<Record<CallFault['what'], May>> = {
  read: isShortable,
  // A write that waits takes all, unless a signal interrupts it; one to a file may find no more room.
  write: (thread, registers, name) =>
    isShortable(thread, registers, name) &&
    (isFileOfDisk(thread.process.pid, registers.get('rdi') | 0) || catchesAny(thread.process.pid)),
  interrupted: ({ process }, registers, name) =>
    waits(registers, name) && (endByStop.has(name) || catchesAny(process.pid)),
  woken: (_, registers) => [futexWait, futexWaitBitset].includes(registers.get('rsi') & ~futexFlags),
  descriptor: () => true,
}

/** FUTEX_WAIT, FUTEX_WAIT_BITSET */
const [futexWait, futexWaitBitset]: readonly number[] = [0, 9]

/** Whether a call may wait, as far as its time-out is a number. */
const waits = (registers: Registers, name: SyscallName): boolean => {
  if (name === 'poll') return (registers.get('rdx') | 0) !== 0
  return name === 'epoll_wait' || name === 'epoll_pwait' ? (registers.get('r10') | 0) !== 0 : true
}

const O_NONBLOCK = 0o4000
const SOCK_STREAM = 1

/** Whether a descriptor is of a file of the disk, or of a stream that is waited for. */
const isStream = (pid: number, fd: number): boolean => {
  if (isFileOfDisk(pid, fd)) return true
  const own = `/proc/${pid}/fd/${fd}`
  try {
    const [, flags] = /^flags:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/fdinfo/${fd}`, 'latin1'))!
    if ((Number.parseInt(flags!, 8) & O_NONBLOCK) !== 0) return false
    const kind = statSync(own)
    return (
      kind.isFIFO() ||
      (kind.isSocket() && withDuplicate(pid, fd, socket => getNumber(socket, socketType)) === SOCK_STREAM)
    )
  } catch {
    return false
  }
}
