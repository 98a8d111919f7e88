import koffi from 'koffi'
import { libc, requireSuccess } from './libc.ts'
import { syscallNumber } from './syscall-number.ts'

/** The parts of ptrace(2) and wait4(2) that holding a process needs. The thread that seized must make all calls. */

const ptraceNumber = libc.func('long ptrace(long request, int tid, intptr_t address, intptr_t data)')
const ptraceBuffer = libc.func('ptrace', 'long', ['long', 'int', 'intptr_t', 'void *'])
const wait4 = libc.func('int wait4(int pid, void *status, int options, void *usage)')

const request = {
  cont: 7,
  singleStep: 9,
  detach: 17,
  getRegisters: 12,
  setRegisters: 13,
  syscall: 24,
  getEventMessage: 0x4201,
  getSignalInfo: 0x4202,
  setSignalInfo: 0x4203,
  seize: 0x4206,
  interrupt: 0x4207,
  listen: 0x4208,
  getRegisterSet: 0x4204,
  setRegisterSet: 0x4205,
  getSignalMask: 0x420a,
  setSignalMask: 0x420b,
  peekSignals: 0x4209,
  getSyscallInfo: 0x420e,
  getRestartableSequences: 0x420f,
} as const

const option = {
  sysgood: 0x01,
  fork: 0x02,
  vfork: 0x04,
  clone: 0x08,
  exec: 0x10,
  seccomp: 0x80,
  exitKill: 0x100000,
} as const

/** Follow every child and thread, report exec and filtered system calls, and die with the tracer. */
const options =
  option.sysgood | option.fork | option.vfork | option.clone | option.exec | option.seccomp | option.exitKill

export const event = { fork: 1, vfork: 2, clone: 3, vforkDone: 5, exec: 4, seccomp: 7, stop: 128 } as const

export const seize = (tid: number) => requireSuccess('ptrace(SEIZE)', ptraceNumber(request.seize, tid, 0, options))

/**
 * Requests that resume or interrupt return false if the thread has died meanwhile (ESRCH). `wait` then reports its end.
 */
const resume = (what: number, tid: number, signal: number) => ptraceNumber(what, tid, 0, signal) !== -1

export const cont = (tid: number, signal = 0) => resume(request.cont, tid, signal)
/** Resumes until the next entry to or exit from a system call. */
export const contToSyscall = (tid: number, signal = 0) => resume(request.syscall, tid, signal)
/** Resumes for one instruction. */
export const singleStep = (tid: number, signal = 0) => resume(request.singleStep, tid, signal)
export const interrupt = (tid: number) => resume(request.interrupt, tid, 0)
/** Leaves a group-stopped thread stopped, but lets SIGCONT wake it. */
export const listen = (tid: number) => resume(request.listen, tid, 0)
export const detach = (tid: number, signal = 0) => resume(request.detach, tid, signal)

const eventMessage = Buffer.alloc(8)
/** What came with an event: the new thread's id for fork, vfork and clone; the former id for exec. */
export const getEventMessage = (tid: number) => {
  requireSuccess('ptrace(GETEVENTMSG)', ptraceBuffer(request.getEventMessage, tid, 0, eventMessage))
  return Number(eventMessage.readBigUInt64LE())
}

const signalInfo = Buffer.alloc(128)
/** `errno` and `code` from the siginfo of the signal that stopped a thread. */
export const getSignalInfo = (tid: number): { readonly errno: number; readonly code: number } => {
  if (ptraceBuffer(request.getSignalInfo, tid, 0, signalInfo) === -1) return { errno: 0, code: 0 }
  return { errno: signalInfo.readInt32LE(4), code: signalInfo.readInt32LE(8) }
}

/** Changes the siginfo of the signal that stopped a thread, if `change` says that it has. */
export const changeSignalInfo = (tid: number, change: (info: Buffer) => boolean): void => {
  if (ptraceBuffer(request.getSignalInfo, tid, 0, signalInfo) === -1) return
  if (change(signalInfo)) ptraceBuffer(request.setSignalInfo, tid, 0, signalInfo)
}

/** struct ptrace_peeksiginfo_args: from the first signal on, of this thread alone, at most this many. */
const peeked = 32
const peekArguments = Buffer.alloc(16)
peekArguments.writeInt32LE(peeked, 12)
const peekedSignals = Buffer.alloc(peeked * 128)
const peekSignals = libc.func('ptrace', 'long', ['long', 'int', 'void *', 'void *'])

/** Numbers of the signals pending for a stopped thread alone, in order. */
export const pendingSignalsOf = (tid: number): number[] => {
  const count = Number(peekSignals(request.peekSignals, tid, peekArguments, peekedSignals))
  return Array.from({ length: Math.max(0, count) }, (_, index) => peekedSignals.readInt32LE(index * 128))
}

const maskLength = 8

/** The signals that a stopped thread blocks. */
export const getSignalMask = (tid: number): Buffer => {
  const mask = Buffer.alloc(maskLength)
  requireSuccess('ptrace(GETSIGMASK)', ptraceBuffer(request.getSignalMask, tid, maskLength, mask))
  return mask
}

export const setSignalMask = (tid: number, mask: Buffer): void => {
  requireSuccess('ptrace(SETSIGMASK)', ptraceBuffer(request.setSignalMask, tid, maskLength, mask))
}

export const allSignals = Buffer.alloc(maskLength, 0xff)

const sequencesLength = 24

/** Where the kernel notifies a stopped thread of interruptions: address, length and signature of its `struct rseq`. */
export const getRestartableSequences = (tid: number): readonly [number, number, number] | undefined => {
  const found = Buffer.alloc(sequencesLength)
  if (ptraceBuffer(request.getRestartableSequences, tid, found.length, found) === -1) return undefined
  const address = Number(found.readBigUInt64LE())
  return address === 0 ? undefined : [address, found.readUInt32LE(8), found.readUInt32LE(12)]
}

const [head, headLength] = [Buffer.alloc(8), Buffer.alloc(8)]
const askForRobustList = libc.func('long syscall(long number, int tid, void *head, void *length)')

/** Address of the list of locks that a thread holds and others get when it ends; 0 for none, undefined if refused. */
export const getRobustList = (tid: number): number | undefined =>
  askForRobustList(syscallNumber.get_robust_list, tid, head, headLength) === -1
    ? undefined
    : Number(head.readBigUInt64LE())

/** struct ptrace_syscall_info: PTRACE_SYSCALL_INFO_ENTRY and _EXIT. */
const [infoEntry, infoExit] = [1, 2]
const syscallInfo = Buffer.alloc(88)

/** The border of a system call at which a thread is stopped. */
export type CallBorder =
  | { readonly at: 'entry'; readonly stackPointer: number; readonly number: number; readonly args: readonly number[] }
  | { readonly at: 'exit'; readonly stackPointer: number; readonly result: number }

/** Undefined if the thread is at no border or has died meanwhile. Arguments and result are signed. */
export const getCallBorder = (tid: number): CallBorder | undefined => {
  if (ptraceBuffer(request.getSyscallInfo, tid, syscallInfo.length, syscallInfo) === -1) return undefined
  const at = syscallInfo.readUInt8(0)
  const stackPointer = Number(syscallInfo.readBigInt64LE(16))
  const value = (index: number) => Number(syscallInfo.readBigInt64LE(24 + index * 8))
  if (at === infoEntry) return { at: 'entry', stackPointer, number: value(0), args: [1, 2, 3, 4, 5, 6].map(value) }
  return at === infoExit ? { at: 'exit', stackPointer, result: value(0) } : undefined
}

/** struct iovec; a Buffer serves as its base. */
const vector = koffi.struct('iovec', { base: 'void *', length: 'size_t' })
const ptraceVector = libc.func('ptrace', 'long', ['long', 'int', 'long', koffi.inout(koffi.pointer(vector))])
const extendedState = 0x202
const roomForState = Buffer.alloc(1 << 14)

/** A stopped thread's floating-point and vector registers, in the kernel's layout. */
export const getExtendedState = (tid: number): Buffer => {
  const place = { base: roomForState, length: roomForState.length }
  requireSuccess('ptrace(GETREGSET)', ptraceVector(request.getRegisterSet, tid, extendedState, place))
  return Buffer.from(roomForState.subarray(0, place.length))
}

export const setExtendedState = (tid: number, state: Buffer): void => {
  const place = { base: state, length: state.length }
  requireSuccess('ptrace(SETREGSET)', ptraceVector(request.setRegisterSet, tid, extendedState, place))
}

/** Positions in `struct user_regs_struct` of x86-64. */
const order = [
  'r15', 'r14', 'r13', 'r12', 'rbp', 'rbx', 'r11', 'r10', 'r9', 'r8', 'rax', 'rcx', 'rdx', 'rsi', 'rdi', 'origRax', 'rip',
  'cs', 'eflags', 'rsp', 'ss', 'fsBase', 'gsBase', 'ds', 'es', 'fs', 'gs',
] as const // biome-ignore format: one row of the manual

export type RegisterName = (typeof order)[number]
const position = Object.fromEntries(order.map((name, index) => [name, index])) as Record<RegisterName, number>

/** Length of the instruction `syscall`. */
const callLength = 2

/** The registers of one stopped thread. Values are signed; addresses and arguments fit a double. */
export class Registers {
  readonly #bytes = new ArrayBuffer(order.length * 8)
  readonly #low = new Uint32Array(this.#bytes)
  readonly #high = new Int32Array(this.#bytes)
  readonly #buffer = Buffer.from(this.#bytes)
  #isChanged = false

  /** False if the thread has died meanwhile. */
  load(tid: number): boolean {
    this.#isChanged = false
    return ptraceBuffer(request.getRegisters, tid, 0, this.#buffer) !== -1
  }

  store(tid: number): boolean {
    return ptraceBuffer(request.setRegisters, tid, 0, this.#buffer) !== -1
  }

  /** Stores the registers if any was set. Only for the thread they were loaded from, which has not run since. */
  storeChanges(tid: number): void {
    if (this.#isChanged) this.store(tid)
  }

  get(name: RegisterName): number {
    const index = position[name] * 2
    return (this.#high[index + 1] as number) * 0x1_0000_0000 + (this.#low[index] as number)
  }

  set(name: RegisterName, value: number): void {
    const index = position[name] * 2
    this.#low[index] = value % 0x1_0000_0000 < 0 ? (value % 0x1_0000_0000) + 0x1_0000_0000 : value % 0x1_0000_0000
    this.#high[index + 1] = Math.floor(value / 0x1_0000_0000)
    this.#isChanged = true
  }

  /** All 64 bits, unsigned. */
  getWord(name: RegisterName): bigint {
    return this.#buffer.readBigUInt64LE(position[name] * 8)
  }

  /** Copies all 64 bits. */
  copyWord(name: RegisterName, into: Buffer, at: number): void {
    this.#buffer.copy(into, at, position[name] * 8, position[name] * 8 + 8)
  }

  setWord(name: RegisterName, value: bigint): void {
    this.#buffer.writeBigUInt64LE(value, position[name] * 8)
    this.#isChanged = true
  }

  /** Makes a thread that has stopped in a call, or at its end, repeat the call when it continues. */
  callAgain(): void {
    this.set('rip', this.get('rip') - callLength)
    this.set('rax', this.get('origRax'))
    this.set('origRax', -1)
  }

  equals(other: Registers): boolean {
    return this.#buffer.equals(other.#buffer)
  }

  copyFrom(other: Registers): void {
    other.#buffer.copy(this.#buffer)
    this.#isChanged = true
  }
}

const anyChild = -1
const noHang = 1
const all = 0x40000000
const ownThreadOnly = 0x20000000

const waitid = libc.func('int waitid(int type, int id, void *info, int options)')
const [oneThread, stopped, leaveWaiting] = [1, 2, 0x0100_0000]
const waitInfo = Buffer.alloc(128)

/** The signal that stopped a thread, which `wait` still reports; undefined if none has. */
export const stopSignalOf = (tid: number): number | undefined => {
  waitInfo.fill(0)
  const options = stopped | leaveWaiting | noHang | all | ownThreadOnly
  if (waitid(oneThread, tid, waitInfo, options) === -1) return undefined
  // si_pid, and si_status, whose upper part is the event.
  return waitInfo.readInt32LE(16) === 0 ? undefined : waitInfo.readInt32LE(24)
}

/** What `wait` reports about a thread. */
export type ThreadChange =
  | { readonly tid: number; readonly kind: 'exited'; readonly code: number }
  | { readonly tid: number; readonly kind: 'killed'; readonly signal: number }
  | { readonly tid: number; readonly kind: 'syscall' }
  | { readonly tid: number; readonly kind: 'event'; readonly event: number; readonly signal: number }
  | { readonly tid: number; readonly kind: 'signal'; readonly signal: number }

/** SIGTRAP */
const stepSignal = 5

/** Whether a thread has executed the instruction for which it was resumed. */
export const isStep = (change: ThreadChange): boolean => change.kind === 'signal' && change.signal === stepSignal

const status = Buffer.alloc(4)

/** Changes of other threads that came while `wait` waited for one, in order. */
const passed: ThreadChange[] = []

/** Children of this thread that others wait for: while there are any, only single threads may be asked about. */
export const foreignChildren = { count: 0 }

/** The next change of a traced thread (or of this one), or undefined if there is none now. */
export const poll = (tid = anyChild): ThreadChange | undefined => {
  const change = takePassed(tid)
  if (change) return change
  const found = wait4(tid, status, noHang | all | ownThreadOnly, null)
  return found > 0 ? decode(found, status.readUInt32LE()) : undefined
}

const takePassed = (tid: number): ThreadChange | undefined => {
  const index = tid === anyChild ? 0 : passed.findIndex(change => change.tid === tid)
  return index in passed ? passed.splice(index, 1)[0] : undefined
}

/** Thrown if a thread died instead of stopping. Whoever asks next is told of its end. */
export class ThreadEnded extends Error {
  override readonly name = 'ThreadEnded'

  constructor(tid: number) {
    super(`thread ${tid} ended while it was being held`)
  }
}

const isEnd = ({ kind }: ThreadChange) => kind === 'exited' || kind === 'killed'

/**
 * Blocks until this thread stops.
 *
 * @throws ThreadEnded, SystemError if it is not traced (any more)
 */
export const wait = (tid: number): ThreadChange => {
  const change = awaitChange(tid)
  if (!isEnd(change)) return change
  passed.push(change)
  throw new ThreadEnded(tid)
}

/**
 * Blocks until a child of this thread has ended.
 *
 * @throws SystemError if it is not traced (any more)
 */
export const waitForEnd = (tid: number): ThreadChange => {
  for (;;) {
    const change = awaitChange(tid)
    if (isEnd(change)) return change
  }
}

/**
 * Waits for any thread. If somebody kills the process, its first thread ends only when the ends of all others were taken.
 */
const awaitChange = (tid: number): ThreadChange => {
  const known = takePassed(tid)
  if (known) return known
  const mayTakeOthers = foreignChildren.count === 0
  for (;;) {
    const found = requireSuccess('wait4', wait4(tid, status, (mayTakeOthers ? noHang : 0) | all | ownThreadOnly, null))
    if (found > 0) return decode(found, status.readUInt32LE())
    const any = requireSuccess('wait4', wait4(anyChild, status, all | ownThreadOnly, null))
    const change = decode(any, status.readUInt32LE())
    if (change.tid === tid) return change
    passed.push(change)
  }
}

const decode = (tid: number, word: number): ThreadChange => {
  if ((word & 0x7f) === 0) return { tid, kind: 'exited', code: (word >> 8) & 0xff }
  if ((word & 0xff) !== 0x7f) return { tid, kind: 'killed', signal: word & 0x7f }
  const signal = (word >> 8) & 0xff
  const what = word >>> 16
  if (what !== 0) return { tid, kind: 'event', event: what, signal }
  if (signal === (5 | 0x80)) return { tid, kind: 'syscall' }
  return { tid, kind: 'signal', signal }
}
