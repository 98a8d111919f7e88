import type { constants } from 'node:os'
import type { SyscallName } from '../../../linux/syscall-number.ts'

/**
 * The table of all system calls of x86-64, with the treatment of each in a held process. The filter, the documentation
 * (docs/system-calls.md) and the notes of a verdict are made from it. A call that is not in it is refused with ENOSYS.
 */
export type Treatment =
  /** The tracer answers or changes the call if the rule says so; otherwise the kernel makes it. */
  | { readonly kind: 'held'; readonly why: string; readonly when: Rule }
  /** The kernel makes the call; it is repeatable for this reason. */
  | { readonly kind: 'native'; readonly why: string }
  /** The call succeeds and does nothing. */
  | { readonly kind: 'ignored'; readonly why: string }
  /** The call fails with this error, and the verdict says so. */
  | { readonly kind: 'refused'; readonly why: string; readonly error: keyof typeof constants.errno }

/** When a held call is reported to the tracer. Arguments count from 0. */
export type Rule =
  | { readonly when: 'always' }
  /** the argument, an int, is greater than zero: a finite time-out in milliseconds */
  | { readonly when: 'positive'; readonly argument: number }
  /** the argument, a pointer, is not null: a time-out is given */
  | { readonly when: 'given'; readonly argument: number }
  /** the argument, an int, is one of these */
  | { readonly when: 'among'; readonly argument: number; readonly values: readonly number[] }
  /** the argument has none of these bits, unless code of ours makes the call */
  | { readonly when: 'unflagged'; readonly argument: number; readonly bits: number }
  /** unless code of ours makes the call, which checks by itself */
  | { readonly when: 'elsewhere' }
  /** a file is mapped whose code may be executed */
  | { readonly when: 'code' }
  /** a futex operation that waits, with a time-out */
  | { readonly when: 'futexWait' }
  /** one of these options of a socket is set or read: level, name */
  | { readonly when: 'option'; readonly options: readonly (readonly [level: number, name: number])[] }

const always: Rule = { when: 'always' }
const given = (argument: number): Rule => ({ when: 'given', argument })
const positive = (argument: number): Rule => ({ when: 'positive', argument })

type Rows<Name extends SyscallName> = Record<Name, Treatment>

const rows = <Name extends SyscallName>(treatment: Treatment, names: readonly Name[]): Rows<Name> =>
  Object.fromEntries(names.map(name => [name, treatment])) as Rows<Name>

const native = <Name extends SyscallName>(why: string, ...names: readonly Name[]) =>
  rows({ kind: 'native', why }, names)
const held = <Name extends SyscallName>(why: string, when: Rule, ...names: readonly Name[]) =>
  rows({ kind: 'held', why, when }, names)
const ignored = <Name extends SyscallName>(why: string, ...names: readonly Name[]) =>
  rows({ kind: 'ignored', why }, names)
const refused = <Name extends SyscallName>(
  error: keyof typeof constants.errno,
  why: string,
  ...names: readonly Name[]
) => rows({ kind: 'refused', why, error }, names)

const SOL_SOCKET = 1
/** AF_INET, AF_INET6 */
const internet = [2, 10]
/** AF_BLUETOOTH, AF_NFC, AF_VSOCK, AF_QIPCRTR: no network namespace keeps them apart. */
export const familiesOfTheMachine: readonly number[] = [31, 39, 40, 42]
/** What is made with this flag, such as LeakSanitizer's own thread, would neither be held nor waited for. */
export const CLONE_UNTRACED = 0x80_0000
/** O_WRONLY | O_RDWR | O_PATH | O_DIRECTORY */
const NO_READING = 1 | 2 | 0o10000000 | 0o200000
/** SO_RCVTIMEO and SO_SNDTIMEO, by old and new numbers. */
export const timeoutOptions = [20, 21, 66, 67] as const
/** SO_TIMESTAMP, SO_TIMESTAMPNS and SO_TIMESTAMPING, by old and new numbers. */
export const timestampOptions = [29, 35, 37, 63, 64, 65] as const
/** SIOCGSTAMP and SIOCGSTAMPNS, by old and new numbers. */
const timestampRequests = [0x8906, 0x8907, 0x8010_8906, 0x8010_8907] as const
/** SO_REUSEPORT, and SO_ATTACH_REUSEPORT_CBPF. */
export const sharedPortOptions = { share: 15, attachProgram: 51 } as const
export const IPPROTO_TCP = 6
/** TCP_USER_TIMEOUT */
export const userTimeoutOption = [IPPROTO_TCP, 18] as const
/** Options that join or leave a multicast group, of IPv4 and of IPv6. */
export const lastingOptions: readonly (readonly [level: number, name: number])[] = [
  ...[35, 36, 39, 40, 42, 45, 46, 47].map(name => [0, name] as const),
  ...[20, 21, 42, 45, 46, 47].map(name => [41, name] as const),
]
/** PR_SET_: PDEATHSIG, DUMPABLE, KEEPCAPS, TSC, SECUREBITS, TIMERSLACK, MM, CHILD_SUBREAPER, THP_DISABLE, IO_FLUSHER; PR_CAP_AMBIENT. */
const lastingOptionsOfProcesses = [1, 4, 8, 26, 28, 29, 35, 36, 41, 47, 57]
/** F_SETOWN, F_SETSIG, F_SETOWN_EX, F_NOTIFY, F_SETPIPE_SZ, F_ADD_SEALS. */
const lastingOptionsOfDescriptors = [8, 10, 15, 1026, 1031, 1033]
const lasting =
  'the kernel does it, and the life is noted as one that cannot be rewound, because this would not be undone'
const optionsOfSockets = (names: readonly number[]) => names.map(name => [SOL_SOCKET, name] as const)

// biome-ignore format: a table
export const systemCalls: Readonly<Record<SyscallName, Treatment>> = {
  ...held('waits until a message arrives or a choice lets it time out', positive(3), 'epoll_wait', 'epoll_pwait'),
  ...held('waits until a message arrives or a choice lets it time out', positive(2), 'poll'),
  ...held('waits until a message arrives or a choice lets it time out', given(2), 'ppoll'),
  ...held('waits until a signal arrives or a choice lets it time out; the signal of a timer says how often that expired meanwhile', always, 'rt_sigtimedwait'),
  ...held('waits until a message arrives or a choice lets it time out', given(3), 'epoll_pwait2', 'semtimedop', 'futex_waitv'),
  ...held('waits until a message arrives or a choice lets it time out', given(4), 'select', 'pselect6', 'mq_timedsend', 'mq_timedreceive', 'recvmmsg', 'futex_wait'),
  ...held('waits until a message arrives or a choice lets it time out', { when: 'futexWait' }, 'futex'),
  ...held('waits until a choice lets it time out', always, 'nanosleep', 'clock_nanosleep'),
  ...held('shows the node’s clock', always, 'clock_gettime', 'gettimeofday', 'time'),
  ...held('a timer of the node, which expires when a choice lets it', always, 'timerfd_settime', 'timerfd_gettime', 'timer_settime', 'timer_gettime', 'timer_getoverrun', 'timer_delete', 'setitimer', 'getitimer', 'alarm'),
  ...held('file times are shown by the node’s clock', { when: 'elsewhere' }, 'stat', 'fstat', 'lstat', 'newfstatat', 'statx'),
  ...held('kernel files that show time, load or random data get content that follows from the node’s clock and the seed (docs/boundary.md)', { when: 'unflagged', argument: 1, bits: NO_READING }, 'open'),
  ...held('kernel files that show time, load or random data get content that follows from the node’s clock and the seed (docs/boundary.md)', { when: 'unflagged', argument: 2, bits: NO_READING }, 'openat'),
  ...held('kernel files that show time, load or random data get content that follows from the node’s clock and the seed (docs/boundary.md)', always, 'openat2'),
  ...held('reports half of every file system as free, whatever other programs write', always, 'statfs', 'fstatfs'),
  ...held('returns bytes that follow from the seed', always, 'getrandom'),
  ...held('code that is mapped gets the processor’s random numbers (RDRAND, RDSEED) from the seed', { when: 'code' }, 'mmap'),
  ...held('computing takes no time, so CPU time, memory and load follow from the node’s clock', always, 'getrusage', 'times', 'sysinfo'),
  ...held('all processes of a node share one CPU, the first, in equal turns', always, 'getcpu', 'sched_getaffinity', 'sched_getscheduler', 'sched_getparam'),
  ...held('what it makes is held as well, and takes turns in a repeatable order; ids count from 1; a node has no more processes and threads than `limits.processes`', always, 'clone', 'clone3', 'fork', 'vfork'),
  ...held('all other threads run first, whatever their rank', always, 'sched_yield'),
  ...held('the kernel does it, and the thread is noted, because a rewind restores what it told the kernel', always, 'sigaltstack', 'set_tid_address'),
  ...held('a thread is kept before its end, if possible, so that it can be rewound', always, 'exit', 'exit_group'),
  ...held('time-outs of a socket (SO_RCVTIMEO, SO_SNDTIMEO, TCP_USER_TIMEOUT) are timers of the node; among sockets that share a port (SO_REUSEPORT), the peer’s address and port decide which one gets a connection; arrival times (SO_TIMESTAMP) are refused with ENOPROTOOPT; a life that has joined a group is not rewound', { when: 'option', options: [...optionsOfSockets([...timeoutOptions, ...Object.values(sharedPortOptions), ...timestampOptions]), userTimeoutOption, ...lastingOptions] }, 'setsockopt'),
  ...held('time-outs of a socket (SO_RCVTIMEO, SO_SNDTIMEO, TCP_USER_TIMEOUT) are timers of the node', { when: 'option', options: [...optionsOfSockets(timeoutOptions), userTimeoutOption] }, 'getsockopt'),
  ...held('nothing is flushed to disk, because this machine loses no power; what a power failure of the node may lose is remembered (docs/power.md); a bad descriptor is reported', always, 'fsync', 'fdatasync', 'sync_file_range', 'syncfs'),

  ...held(`options that last for the process: ${lasting}`, { when: 'among', argument: 0, values: lastingOptionsOfProcesses }, 'prctl'),
  ...held(`owners, signals, sizes and seals of a descriptor: ${lasting}`, { when: 'among', argument: 1, values: lastingOptionsOfDescriptors }, 'fcntl'),
  ...held(`${lasting}`, always, 'ioprio_set', 'timer_create', 'setxattr', 'lsetxattr', 'fsetxattr', 'setxattrat', 'removexattr', 'lremovexattr', 'fremovexattr', 'removexattrat', 'file_setattr', 'mq_open', 'mq_unlink'),

  ...ignored('all processes of a node share one CPU, the first, in equal turns', 'sched_setaffinity', 'sched_setattr', 'sched_setparam', 'sched_setscheduler'),
  ...ignored('nothing is flushed to disk, because this machine loses no power; what a power failure of the node may lose is remembered (docs/power.md)', 'msync', 'sync'),

  ...native('files of the node’s own disk, which is the same at each start', 'read', 'write', 'close', 'lseek', 'pread64', 'pwrite64', 'readv', 'writev', 'access', 'sendfile', 'flock', 'truncate', 'ftruncate', 'getdents', 'getdents64', 'getcwd', 'chdir', 'fchdir', 'rename', 'mkdir', 'rmdir', 'creat', 'link', 'unlink', 'symlink', 'readlink', 'chmod', 'fchmod', 'chown', 'fchown', 'lchown', 'umask', 'utime', 'utimes', 'futimesat', 'utimensat', 'mknod', 'readahead', 'getxattr', 'lgetxattr', 'fgetxattr', 'listxattr', 'llistxattr', 'flistxattr', 'fadvise64', 'mkdirat', 'mknodat', 'fchownat', 'unlinkat', 'renameat', 'renameat2', 'linkat', 'symlinkat', 'readlinkat', 'fchmodat', 'fchmodat2', 'faccessat', 'faccessat2', 'fallocate', 'preadv', 'pwritev', 'preadv2', 'pwritev2', 'copy_file_range', 'name_to_handle_at', 'open_by_handle_at', 'cachestat', 'getxattrat', 'listxattrat', 'file_getattr', 'inotify_init', 'inotify_init1', 'inotify_add_watch', 'inotify_rm_watch', 'fanotify_init', 'fanotify_mark'),
  ...native('a new descriptor gets the lowest free number', 'dup', 'dup2', 'dup3', 'pipe', 'pipe2', 'close_range', 'splice', 'tee', 'vmsplice', 'eventfd', 'eventfd2', 'epoll_create', 'epoll_create1', 'epoll_ctl', 'signalfd', 'signalfd4', 'timerfd_create', 'memfd_create', 'kcmp'),
  ...held('arrival times of packets (SIOCGSTAMP) are refused with ENOTTY; the kernel does all other requests', { when: 'among', argument: 1, values: timestampRequests }, 'ioctl'),
  ...native('memory: addresses are not randomised', 'mprotect', 'munmap', 'brk', 'mremap', 'mincore', 'madvise', 'process_madvise', 'mlock', 'mlock2', 'munlock', 'mlockall', 'munlockall', 'remap_file_pages', 'mbind', 'set_mempolicy', 'get_mempolicy', 'set_mempolicy_home_node', 'migrate_pages', 'move_pages', 'pkey_mprotect', 'pkey_alloc', 'pkey_free', 'map_shadow_stack', 'mseal', 'userfaultfd', 'membarrier', 'process_vm_readv', 'process_vm_writev', 'process_mrelease'),
  ...held('the kernel chooses its port by a counter, if the program names none; families that are not of a network, but of the machine and its host (AF_VSOCK, AF_BLUETOOTH, AF_NFC, AF_QIPCRTR), are refused with EAFNOSUPPORT', { when: 'among', argument: 0, values: [...internet, ...familiesOfTheMachine] }, 'socket'),
  ...native('the node’s network: everything sent on it is held as messages', 'connect', 'accept', 'accept4', 'sendto', 'recvfrom', 'sendmsg', 'recvmsg', 'sendmmsg', 'shutdown', 'bind', 'listen', 'getsockname', 'getpeername', 'socketpair'),
  ...native('processes and threads take turns in a repeatable order, and their ids count from 1', 'execve', 'execveat', 'wait4', 'waitid', 'getpid', 'gettid', 'getppid', 'getpgrp', 'getpgid', 'setpgid', 'getsid', 'setsid', 'set_robust_list', 'get_robust_list', 'futex_wake', 'futex_requeue', 'rseq', 'pidfd_open', 'pidfd_getfd', 'unshare', 'setns', 'restart_syscall', 'arch_prctl', 'set_thread_area', 'get_thread_area', 'modify_ldt', 'personality'),
  ...native('signals of the node’s own processes', 'rt_sigaction', 'rt_sigprocmask', 'rt_sigreturn', 'rt_sigpending', 'rt_sigqueueinfo', 'rt_tgsigqueueinfo', 'rt_sigsuspend', 'pause', 'kill', 'tkill', 'tgkill', 'pidfd_send_signal'),
  ...native('settings that concern only the process', 'getuid', 'getgid', 'geteuid', 'getegid', 'setuid', 'setgid', 'setreuid', 'setregid', 'getgroups', 'setgroups', 'setresuid', 'getresuid', 'setresgid', 'getresgid', 'setfsuid', 'setfsgid', 'capget', 'capset', 'getrlimit', 'setrlimit', 'prlimit64', 'getpriority', 'setpriority', 'ioprio_get', 'seccomp', 'landlock_create_ruleset', 'landlock_add_rule', 'landlock_restrict_self', 'lsm_get_self_attr', 'lsm_set_self_attr', 'lsm_list_modules'),
  ...native('the node’s own queues, semaphores and shared memory', 'shmget', 'shmat', 'shmctl', 'shmdt', 'semget', 'semop', 'semctl', 'msgget', 'msgsnd', 'msgrcv', 'msgctl', 'mq_notify', 'mq_getsetattr'),
  ...native('the node’s own mounts and names; changing them is allowed only in a user namespace that the program creates (else EPERM)', 'mount', 'umount2', 'pivot_root', 'chroot', 'open_tree', 'open_tree_attr', 'move_mount', 'fsopen', 'fsconfig', 'fsmount', 'fspick', 'mount_setattr', 'statmount', 'listmount', 'sethostname', 'setdomainname', 'uname'),
  ...native('constant on one machine', 'clock_getres', 'sched_get_priority_max', 'sched_get_priority_min', 'sched_rr_get_interval', 'sched_getattr', 'sysfs'),

  ...refused('ENOSYS', 'its work continues in the kernel while all threads rest; libraries fall back to blocking calls', 'io_uring_setup', 'io_uring_enter', 'io_uring_register', 'io_setup', 'io_destroy', 'io_getevents', 'io_pgetevents', 'io_submit', 'io_cancel'),
  ...refused('ENOSYS', 'it shows the free space of a disk that other programs write to, and libraries no longer call it', 'ustat'),
  ...refused('ENOSYS', 'its memory cannot be read from outside', 'memfd_secret'),
  ...refused('ENOSYS', 'the kernel no longer has it', '_sysctl', 'uselib', 'create_module', 'get_kernel_syms', 'query_module', 'nfsservctl', 'getpmsg', 'putpmsg', 'afs_syscall', 'tuxcall', 'security', 'vserver', 'epoll_ctl_old', 'epoll_wait_old', 'lookup_dcookie'),
  ...refused('EPERM', 'a service must not move the machine’s own clock', 'clock_settime', 'settimeofday', 'adjtimex', 'clock_adjtime'),
  ...refused('EPERM', 'a process can have only one tracer, which is this tool, so debuggers, strace and LeakSanitizer fail in a node', 'ptrace'),
  ...refused('EPERM', 'it would change this machine, or show other activity on it', 'acct', 'swapon', 'swapoff', 'reboot', 'iopl', 'ioperm', 'init_module', 'finit_module', 'delete_module', 'kexec_load', 'kexec_file_load', 'quotactl', 'quotactl_fd', 'vhangup', 'syslog', 'bpf', 'perf_event_open', 'add_key', 'request_key', 'keyctl'),
}
