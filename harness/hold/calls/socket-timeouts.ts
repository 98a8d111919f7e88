import { constants } from 'node:os'
import koffi from 'koffi'
import { withDuplicate } from '../../../linux/descriptor.ts'
import { getsockopt as getOption, setsockopt as setOption } from '../../../linux/libc.ts'
import { interrupt, Registers } from '../../../linux/ptrace.ts'
import { type SyscallName, syscallName } from '../../../linux/syscall-number.ts'
import { type Nanoseconds, never } from '../clock/virtual-clock.ts'
import { readTime } from '../clock/waits.ts'
import type { HeldNode, HeldProcess, HeldThread, SocketWait } from '../held/held-node.ts'
import { interruptedResults } from '../held/interrupted.ts'
import { countLasting } from './lasting-calls.ts'
import {
  IPPROTO_TCP,
  lastingOptions,
  sharedPortOptions,
  timeoutOptions,
  timestampOptions,
  userTimeoutOption,
} from './system-calls.ts'

/**
 * Timeouts that a program sets for a socket. TCP_USER_TIMEOUT, the time that a connection may stay unanswered, is
 * stored in the kernel with a large number added, so that it never expires in real time (unanswered.ts). SO_RCVTIMEO
 * and SO_SNDTIMEO limit how long a call may wait for a socket. The kernel is given a timeout that never expires and
 * encodes the program's own, so that accepted sockets inherit it: a large number of seconds, plus as many seconds as
 * the program's timeout has microseconds. When the node rests, threads that wait with such a timeout are looked up.
 */

/** In seconds, 70,000 years. Multiplied by the kernel's 1,000 ticks per second it still fits into 63 bits. */
const beyond = 2 ** 41
/** Timeouts from this number of microseconds on never expire: the virtual clock does not reach them. */
const microsecondsMax = never / 1000 + 1
const timevalLength = 16
const SOL_SOCKET = 1
/** In milliseconds, twelve days: half of the kernel's maximum. */
const userBeyond = 2 ** 30
const [receiveTimeout, sendTimeout] = timeoutOptions

type Handler = (thread: HeldThread, registers: Registers) => number | undefined

const timeval = (seconds: number, microseconds: number): Buffer =>
  Buffer.from(BigInt64Array.of(BigInt(seconds), BigInt(microseconds)).buffer)

const setUserTimeout: Handler = ({ process }, registers) => {
  if (registers.get('r8') < 4) return undefined
  const milliseconds = process.memory.read(registers.get('r10'), 4).readInt32LE()
  // The kernel rejects invalid times; 0 removes the timeout.
  if (milliseconds <= 0) return undefined
  const value = Buffer.from(Int32Array.of(userBeyond + Math.min(milliseconds, userBeyond - 1)).buffer)
  return setValue(process, registers, value)
}

const setValue = ({ pid }: HeldProcess, registers: Registers, value: Buffer): number =>
  withDuplicate(pid, registers.get('rdi') | 0, own =>
    setOption(own, registers.get('rsi') | 0, registers.get('rdx') | 0, value, value.length) === 0 ? 0 : -koffi.errno(),
  ) ?? -constants.errno.EBADF

const setsockopt: Handler = (thread, registers) => {
  const { process } = thread
  const [level, name] = [registers.get('rsi') | 0, registers.get('rdx') | 0]
  if (level === IPPROTO_TCP) return setUserTimeout(thread, registers)
  if (lastingOptions.some(option => option[0] === level && option[1] === name))
    return countLasting(thread, 'setsockopt')
  if (timestampOptions.some(option => option === name)) {
    process.node.note(
      'setsockopt(SO_TIMESTAMP) is refused with ENOPROTOOPT: the kernel stamps what arrives by its own clock',
    )
    return -constants.errno.ENOPROTOOPT
  }
  if (name === sharedPortOptions.share || name === sharedPortOptions.attachProgram) {
    process.node.sharesPorts = name === sharedPortOptions.share
    return undefined
  }
  if (registers.get('r8') < timevalLength) return undefined
  const { seconds, nanoseconds } = readTime(process.memory, registers.get('r10'), 'timeval')
  const microseconds = Math.min(seconds * 1e6 + nanoseconds / 1000, microsecondsMax)
  // The kernel handles the removal of a timeout, and rejects invalid times.
  if (microseconds === 0 || seconds < 0 || nanoseconds < 0 || nanoseconds >= 1e9) return undefined
  process.node.hasSocketTimeouts = true
  return setValue(process, registers, timeval(beyond + Math.ceil(microseconds), 0))
}

const ioctl: Handler = ({ process }) => {
  process.node.note('ioctl(SIOCGSTAMP) is refused with ENOTTY: the kernel stamps what arrives by its own clock')
  return -constants.errno.ENOTTY
}

const getsockopt: Handler = ({ process }, registers) => {
  const fd = registers.get('rdi') | 0
  const value =
    (registers.get('rsi') | 0) === IPPROTO_TCP
      ? withDuplicate(process.pid, fd, userTimeoutBytes)
      : timeoutBytes(process, fd, registers.get('rdx') | 0)
  if (value === undefined) return undefined
  const place = registers.get('r8')
  const length = Math.min(process.memory.read(place, 4).readUInt32LE(), value.length)
  process.memory.write(registers.get('r10'), value.subarray(0, length))
  process.memory.write(place, Buffer.from(Uint32Array.of(length).buffer))
  return 0
}

const timeoutBytes = (process: HeldProcess, fd: number, name: number): Buffer | undefined => {
  const timeout = timeoutOf(process, fd, name)
  if (timeout === undefined) return undefined
  const microseconds = timeout / 1000
  return timeval(Math.floor(microseconds / 1e6), microseconds % 1e6)
}

const userTimeoutBytes = (own: number): Buffer | undefined => {
  const milliseconds = userTimeoutMs(own)
  return milliseconds === undefined ? undefined : Buffer.from(Int32Array.of(milliseconds).buffer)
}

/** The TCP_USER_TIMEOUT that a program set on a socket, given our own descriptor of it; undefined if it set none. */
export const userTimeoutMs = (own: number): number | undefined => {
  const value = Buffer.alloc(4)
  const [level, name] = userTimeoutOption
  if (getOption(own, level, name, value, Buffer.from(Uint32Array.of(value.length).buffer)) !== 0) return undefined
  const milliseconds = value.readInt32LE() - userBeyond
  return milliseconds > 0 ? milliseconds : undefined
}

export const socketCalls: Partial<Record<SyscallName, Handler>> = { setsockopt, getsockopt, ioctl }

/** How long the program lets calls wait for a socket; undefined if without limit, or if there is no such socket. */
const timeoutOf = ({ pid }: HeldProcess, fd: number, name: number): Nanoseconds | undefined =>
  withDuplicate(pid, fd, own => {
    const value = Buffer.alloc(timevalLength)
    if (getOption(own, SOL_SOCKET, name, value, Buffer.from(Uint32Array.of(value.length).buffer)) !== 0)
      return undefined
    const seconds = Number(value.readBigInt64LE())
    return seconds > beyond ? (seconds - beyond) * 1000 : undefined
  })

/** Calls that wait for a socket given as their first argument, with the option that limits each. */
const limitedBy: Partial<Record<SyscallName, number>> = {
  read: receiveTimeout,
  readv: receiveTimeout,
  recvfrom: receiveTimeout,
  recvmsg: receiveTimeout,
  recvmmsg: receiveTimeout,
  accept: receiveTimeout,
  accept4: receiveTimeout,
  write: sendTimeout,
  writev: sendTimeout,
  sendto: sendTimeout,
  sendmsg: sendTimeout,
  sendmmsg: sendTimeout,
  sendfile: sendTimeout,
  connect: sendTimeout,
}

/** A thread that waits for a socket with a time limit. */
class LimitedSocketWait implements SocketWait {
  readonly deadline: Nanoseconds
  readonly key: string
  readonly address: number
  readonly #thread: HeldThread
  readonly #timedOut: number

  constructor(
    thread: HeldThread,
    call: SyscallName,
    { key, address, deadline }: Pick<SocketWait, 'key' | 'address' | 'deadline'>,
  ) {
    this.#thread = thread
    this.key = key
    this.address = address
    this.deadline = deadline
    this.#timedOut = call === 'connect' ? -constants.errno.EINPROGRESS : -constants.errno.EAGAIN
  }

  /** Ends the call without a result, unless it already has one. */
  fire(): void {
    this.#thread.process.node.timers.delete(this)
    this.#thread.interrupted = true
    this.#thread.errand = tid => {
      const registers = new Registers()
      if (!registers.load(tid) || registers.get('origRax') < 0 || !interruptedResults.has(registers.get('rax'))) return
      registers.set('origRax', -1)
      registers.set('rax', this.#timedOut)
      registers.store(tid)
    }
    interrupt(this.#thread.tid)
  }
}

/** Keeps a timer for each thread that waits for a socket with a time limit. Call it when the node rests. */
export const watchSocketWaits = (node: HeldNode): void => {
  if (!node.hasSocketTimeouts) return
  for (const thread of node.threads) watch(thread)
}

const watch = (thread: HeldThread): void => {
  const found = thread.wait || thread.waitsInPoll ? undefined : waitOf(thread)
  if (found !== undefined && thread.socketWait?.key === found.key) return
  thread.forgetSocketWait()
  if (found === undefined) return
  const { node } = thread.process
  const { resumed } = thread
  thread.resumed = undefined
  const deadline = resumed?.address === found.address ? resumed.deadline : node.clock.elapsed + found.timeout
  thread.socketWait = new LimitedSocketWait(thread, found.call, { ...found, deadline })
  node.timers.add(thread.socketWait)
}

/** Parses `number first … sixth stack-pointer instruction-pointer`; all but the number are hexadecimal. */
const waitOf = (thread: HeldThread) => {
  const fields = thread.look('syscall').trim().split(' ')
  const call = syscallName(Number(fields[0]))
  const option = call && limitedBy[call]
  if (option === undefined) return undefined
  const timeout = timeoutOf(thread.process, Number(fields[1]) | 0, option)
  if (timeout === undefined) return undefined
  // How often the thread has had the CPU. A change means that it did not wait all the time.
  const turns = thread.look('schedstat').split(' ')[2]
  return { call: call!, timeout, address: Number(fields.at(-1)), key: [...fields, turns].join(' ') }
}
