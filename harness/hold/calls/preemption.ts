import type { Preemption } from '../../../checker/happening/preemptions.ts'
import type { SyscallName } from '../../../linux/syscall-number.ts'
import type { WaitingFaults } from '../held/step-faults.ts'
import { systemCalls } from './system-calls.ts'

/** Calls that concern the caller alone, or nothing that changes: giving way before one of them changes nothing. */
const unnoticed: ReadonlySet<SyscallName> = new Set<SyscallName>([
  ...([
    'mprotect',
    'munmap',
    'brk',
    'mremap',
    'mincore',
    'madvise',
    'mlock',
    'munlock',
    'mbind',
    'membarrier',
  ] as const),
  ...(['rseq', 'arch_prctl', 'set_robust_list', 'get_robust_list', 'personality', 'uname', 'clock_getres'] as const),
  ...(['getpid', 'gettid', 'getppid', 'getpgrp', 'getpgid', 'getsid', 'getcwd', 'umask', 'rt_sigaction'] as const),
  ...(['rt_sigprocmask', 'rt_sigreturn', 'rt_sigpending', 'restart_syscall', 'execve', 'execveat'] as const),
  ...(['getuid', 'getgid', 'geteuid', 'getegid', 'getgroups', 'getresuid', 'getresgid', 'capget'] as const),
  ...([
    'getrlimit',
    'setrlimit',
    'prlimit64',
    'getpriority',
    'setpriority',
    'seccomp',
    'getsockname',
    'getpeername',
  ] as const),
  ...(['sched_get_priority_max', 'sched_get_priority_min', 'sched_rr_get_interval', 'sched_getattr'] as const),
])

/** Of the calls that are held only in some cases, those that others may notice in any case: locks, files that are made. */
const noticedAlways: ReadonlySet<SyscallName> = new Set([
  'futex',
  'open',
  'openat',
  'openat2',
  'fcntl',
  'fsync',
  'fdatasync',
])

/** Calls that are stopped where threads may be preempted, though nothing else asks for it. */
export const stoppedToPreempt: ReadonlySet<SyscallName> = new Set(
  (Object.keys(systemCalls) as SyscallName[]).filter(
    name => noticedAlways.has(name) || (systemCalls[name].kind === 'native' && !unnoticed.has(name)),
  ),
)

/** Counts a call or an instruction of a node. Returns whether its thread gives way before it. */
export const isReached = (faults: WaitingFaults, { from, every }: Preemption): boolean => {
  const after = faults.countCall('preempt') - from
  return after === 0 || (after > 0 && every !== undefined && after % every === 0)
}

/** Counts a call of a node. Returns whether its thread gives way before it. */
export const givesWay = (faults: WaitingFaults, name: SyscallName | undefined): boolean => {
  const preemption = faults.get('preempt')
  if (preemption === undefined || preemption.unit !== undefined) return false
  return isNoticed(name) && isReached(faults, preemption)
}

/** Whether others may notice the call. */
export const isNoticed = (name: SyscallName | undefined): boolean => name !== undefined && stoppedToPreempt.has(name)
