import { constants } from 'node:os'
import { type SyscallName, syscallNumber } from './syscall-number.ts'

/**
 * The seccomp filter that every held process carries: it stops the process only where time or randomness comes in
 * (linux.md, section 2). Everything else runs at full speed.
 */

/** When a call is reported to the tracer. Arguments count from 0. */
type Rule =
  | { readonly when: 'always' }
  /** the argument, an int, is greater than zero: a finite time-out in milliseconds */
  | { readonly when: 'positive'; readonly argument: number }
  /** the argument, a pointer, is not null: a time-out is given */
  | { readonly when: 'given'; readonly argument: number }
  /** a futex operation that waits, with a time-out */
  | { readonly when: 'futexWait' }
  /** the call fails with this errno; with 0 it succeeds, and nothing is done */
  | { readonly when: 'refused'; readonly errno: number }

const always: Rule = { when: 'always' }
const given = (argument: number): Rule => ({ when: 'given', argument })
const positive = (argument: number): Rule => ({ when: 'positive', argument })
const refused = (errno: number): Rule => ({ when: 'refused', errno })
const ignored = refused(0)

const rules: Partial<Record<SyscallName, Rule>> = {
  futex: { when: 'futexWait' },
  epoll_wait: positive(3),
  epoll_pwait: positive(3),
  epoll_pwait2: given(3),
  poll: positive(2),
  ppoll: given(2),
  select: given(4),
  pselect6: given(4),
  nanosleep: always,
  clock_nanosleep: always,
  rt_sigtimedwait: given(2),
  semtimedop: given(3),
  mq_timedsend: given(4),
  mq_timedreceive: given(4),
  io_getevents: given(4),
  recvmmsg: given(4),
  futex_waitv: given(3),
  clock_gettime: always,
  gettimeofday: always,
  time: always,
  getrandom: always,
  timerfd_settime: always,
  timerfd_gettime: always,
  timer_settime: always,
  timer_gettime: always,
  setitimer: always,
  getitimer: always,
  alarm: always,
  // It waits for another thread without saying for which: one of lower rank, it may be.
  sched_yield: always,
  // What ends may be brought back, where it has not ended yet.
  exit: always,
  exit_group: always,
  // Its kernel threads work on where no tracer sees them: libraries fall back to epoll.
  io_uring_setup: refused(constants.errno.ENOSYS),
  // All processes of a cell share one CPU in equal turns.
  sched_setaffinity: ignored,
  sched_setattr: ignored,
  sched_setparam: ignored,
  sched_setscheduler: ignored,
  // A crash ends processes, and no machine loses its power: what was written is kept whether or not a disk has it.
  fsync: ignored,
  fdatasync: ignored,
  msync: ignored,
  sync: ignored,
  sync_file_range: ignored,
  syncfs: ignored,
  // A service must not move the machine's own clock.
  clock_settime: refused(constants.errno.EPERM),
  settimeofday: refused(constants.errno.EPERM),
  adjtimex: refused(constants.errno.EPERM),
  clock_adjtime: refused(constants.errno.EPERM),
}

const loadWord = 0x20
const jumpIfEqual = 0x15
const jumpIfGreater = 0x25
const jumpIfSet = 0x45
const and = 0x54
const answer = 0x06

const allow = 0x7fff0000
const trace = 0x7ff00000
const fail = (errno: number) => 0x00050000 | errno

const x86_64 = 0xc000003e
const numberOffset = 0
const archOffset = 4
const low = (argument: number) => 16 + argument * 8
const high = (argument: number) => low(argument) + 4

/** One instruction of classic BPF: `jt` and `jf` count the instructions to skip. */
type Instruction = readonly [code: number, jt: number, jf: number, k: number]

const body = (rule: Rule): Instruction[] => {
  switch (rule.when) {
    case 'always':
      return [[answer, 0, 0, trace]]
    case 'refused':
      return [[answer, 0, 0, fail(rule.errno)]]
    case 'positive':
      return [
        [loadWord, 0, 0, low(rule.argument)],
        [jumpIfSet, 2, 0, 0x80000000],
        [jumpIfEqual, 1, 0, 0],
        [answer, 0, 0, trace],
        [answer, 0, 0, allow],
      ]
    case 'given':
      return [
        [loadWord, 0, 0, low(rule.argument)],
        [jumpIfEqual, 0, 2, 0],
        [loadWord, 0, 0, high(rule.argument)],
        [jumpIfEqual, 1, 0, 0],
        [answer, 0, 0, trace],
        [answer, 0, 0, allow],
      ]
    case 'futexWait':
      return futexBody()
  }
}

/** FUTEX_WAIT, LOCK_PI, WAIT_BITSET, WAIT_REQUEUE_PI, LOCK_PI2 */
export const futexWaits = [0, 6, 9, 11, 13]
/** FUTEX_PRIVATE_FLAG and FUTEX_CLOCK_REALTIME */
export const futexFlags = 128 | 256

const futexBody = (): Instruction[] => {
  const waits = futexWaits.map<Instruction>((operation, index) => [
    jumpIfEqual,
    futexWaits.length - index,
    0,
    operation,
  ])
  return [[loadWord, 0, 0, low(1)], [and, 0, 0, ~futexFlags >>> 0], ...waits, [answer, 0, 0, allow], ...body(given(3))]
}

/** Calls numbered above any that we know come with a later kernel: they are allowed like every other. */
const instructions = (): Instruction[] => {
  const cases = Object.entries(rules).flatMap(([name, rule]): Instruction[] => {
    const action = body(rule)
    return [[jumpIfEqual, 0, action.length, syscallNumber[name as SyscallName]], ...action]
  })
  return [
    [loadWord, 0, 0, archOffset],
    [jumpIfEqual, 1, 0, x86_64],
    [answer, 0, 0, allow],
    [loadWord, 0, 0, numberOffset],
    [jumpIfGreater, 0, 1, 0x3fffffff],
    [answer, 0, 0, allow],
    ...cases,
    [answer, 0, 0, allow],
  ]
}

const encode = (list: readonly Instruction[]): Buffer => {
  const bytes = Buffer.alloc(list.length * 8)
  list.forEach(([code, jt, jf, k], index) => {
    bytes.writeUInt16LE(code, index * 8)
    bytes.writeUInt8(jt, index * 8 + 2)
    bytes.writeUInt8(jf, index * 8 + 3)
    bytes.writeUInt32LE(k >>> 0, index * 8 + 4)
  })
  return bytes
}

/** The filter as an array of `struct sock_filter`. */
export const filterProgram: Buffer = encode(instructions())
