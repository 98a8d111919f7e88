/** System calls of x86-64 that holding a process has to know. */
export const syscallNumber = {
  poll: 7,
  mmap: 9,
  select: 23,
  pause: 34,
  nanosleep: 35,
  getitimer: 36,
  alarm: 37,
  setitimer: 38,
  gettimeofday: 96,
  rt_sigtimedwait: 128,
  sched_setparam: 142,
  sched_setscheduler: 144,
  prctl: 157,
  adjtimex: 159,
  settimeofday: 164,
  mount: 165,
  time: 201,
  futex: 202,
  sched_setaffinity: 203,
  io_getevents: 208,
  semtimedop: 220,
  timer_settime: 223,
  timer_gettime: 224,
  clock_settime: 227,
  clock_gettime: 228,
  clock_nanosleep: 230,
  epoll_wait: 232,
  mq_timedsend: 242,
  mq_timedreceive: 243,
  pselect6: 270,
  ppoll: 271,
  epoll_pwait: 281,
  timerfd_settime: 286,
  timerfd_gettime: 287,
  recvmmsg: 299,
  clock_adjtime: 305,
  sched_setattr: 314,
  seccomp: 317,
  getrandom: 318,
  io_uring_setup: 425,
  epoll_pwait2: 441,
  futex_waitv: 449,
} as const

export type SyscallName = keyof typeof syscallNumber

const names = new Map<number, SyscallName>(
  Object.entries(syscallNumber).map(([name, number]) => [number, name as SyscallName]),
)

export const syscallName = (number: number): SyscallName | undefined => names.get(number)
