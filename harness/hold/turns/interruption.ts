import { readdirSync, readFileSync } from 'node:fs'
import { constants } from 'node:os'
import koffi from 'koffi'
import { BudgetSpent } from '../../../checker/system/budget.ts'
import { libc, PR_SET_PDEATHSIG, prctl, requireSuccess } from '../../../linux/libc.ts'
import { endingPriority, goAhead } from './turns.ts'

/**
 * Signals that ask this process to end, noticed while it holds nodes. A step blocks the event loop, for up to half a
 * minute during a node's start, and nodes' threads that never wait keep this thread from its CPU for seconds. So
 * another thread receives the signals: its handler counts them, gives this thread the CPU before all nodes, and
 * continues with Node.js's handler.
 */

/** Ctrl-C, a polite kill, and a closed terminal. */
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Time that is left after the first signal to write down what was found, in milliseconds. */
const graceMs = 700
/**
 * None of our code runs for this long without checking. Code of a configuration may, and the kernel then ends the
 * process. To start another process takes seconds where nodes use up every CPU.
 */
const deafSecondsMax = 8

const mmap = libc.func('void *mmap(void *address, size_t length, int protection, int flags, int fd, long offset)')
const sigaction = libc.func('int sigaction(int signal, const void *action, void *former)')
const alarm = libc.func('unsigned int alarm(unsigned int seconds)')
const setMask = libc.func('int pthread_sigmask(int how, const void *set, void *former)')
const how = { block: 0, unblock: 1, replace: 2 } as const
/** A sigset_t of these signals. */
const mask = Buffer.alloc(128)
mask.writeBigUInt64LE(signals.reduce((bits, signal) => bits | (1n << BigInt(constants.signals[signal] - 1)), 0n))

const pageSize = 4096
const readWriteExecute = 7
const privateAnonymous = 0x22
const failed = 2n ** 64n - 1n // MAP_FAILED
/** struct sigaction of the C library: the handler, a mask, flags, and what is the library's own. */
const actionSize = 152

/** Offsets in the page: the number of signals, this thread's id, Node.js's handler, a priority, and our handler. */
const offset = { count: 0, thread: 4, next: 8, priority: 16, code: 24 } as const
const code = Buffer.from(
  `
  f0 ff 05 e1 ff ff ff     # lock inc dword [rip - 31]: one signal more
  57 56 52                 # push rdi, rsi, rdx
  8b 3d dc ff ff ff        # mov edi, [rip - 36]: the thread
  be 01 00 00 40           # mov esi, SCHED_FIFO | SCHED_RESET_ON_FORK
  48 8d 15 dc ff ff ff     # lea rdx, [rip - 36]: the priority
  b8 90 00 00 00  0f 05    # sched_setscheduler
  bf 0${deafSecondsMax} 00 00 00           # mov edi, seconds
  b8 25 00 00 00  0f 05    # alarm
  5a 5e 5f                 # pop rdx, rsi, rdi
  ff 25 b8 ff ff ff        # jmp [rip - 72]: the handler of Node.js
  `.replaceAll(/#.*$|\s/gm, ''),
  'hex',
)

/**
 * Has this process asked to end when the one that started it ends in any way. Disconnecting from it would be noticed
 * only after a step.
 */
export const endWithParent = (): void => {
  requireSuccess('prctl', prctl(PR_SET_PDEATHSIG, constants.signals.SIGTERM))
}

/** Number of signals received. */
let count = new Int32Array(1)
/** Number of signals noticed. */
let noticed = 0
/** When all work must have ended. */
let deadline = Number.POSITIVE_INFINITY
/** Whether what was found is being written down until then. */
let isTimeLeft = false
let handler: bigint | undefined
let page: Buffer | undefined
const listeners = new Set<() => void>()

/**
 * Counts signals while some work is done.
 *
 * @param onSignal is called for each by the event loop
 */
export const countingSignals = async <Result>(onSignal: () => void, work: () => Promise<Result>): Promise<Result> => {
  const stop = () => {
    notice()
    onSignal()
    for (const listener of listeners) listener()
  }
  for (const signal of signals) process.on(signal, stop)
  for (const signal of signals) putHandlerFirst(constants.signals[signal])
  const isLeft = leaveToOthers()
  try {
    return await work()
  } finally {
    // The last one removes the handlers.
    for (const signal of signals) process.off(signal, stop)
    if (isLeft) setMask(how.unblock, mask, null)
    alarm(0)
    deadline = Number.POSITIVE_INFINITY
    isTimeLeft = false
  }
}

/**
 * Must be called repeatedly by long work during which no event is handled.
 *
 * @throws BudgetSpent once for each signal, and always after the time that is left after the first one
 */
export const heedSignals = (): void => {
  if (count[0] !== noticed) {
    notice()
    throw new BudgetSpent('aborted')
  }
  if (deadline !== Number.POSITIVE_INFINITY && performance.now() > deadline) throw new BudgetSpent('aborted')
}

/** After a signal: leaves time, from now on, to write down what was found. Another signal ends that too. */
export const leaveTime = (milliseconds: number): void => {
  if (!isInterrupted()) return
  notice()
  deadline = performance.now() + milliseconds
  isTimeLeft = true
}

/** Whether a signal has come. */
export const isInterrupted = (): boolean => count[0] !== noticed || deadline !== Number.POSITIVE_INFINITY

/** Waits for a promise, but not after a signal comes. Its later result is ignored. @throws BudgetSpent */
export const unlessInterrupted = async <Result>(work: Promise<Result>): Promise<Result> => {
  let listener = () => {}
  let late: NodeJS.Timeout | undefined
  const interrupted = new Promise<never>((_, reject) => {
    listener = () => reject(new BudgetSpent('aborted'))
    listeners.add(listener)
    if (isTimeLeft && count[0] === noticed) late = setTimeout(listener, deadline - performance.now())
    else if (isInterrupted()) listener()
  })
  work.catch(() => {})
  return Promise.race([work, interrupted]).finally(() => {
    listeners.delete(listener)
    clearTimeout(late)
  })
}

/**
 * Does some work during which this thread waits for other processes and holds no node. This thread then receives
 * signals before all nodes. If nodes use up every CPU, other threads of this process get only a twentieth of one.
 */
export const waitingForOthers = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  const blocked = Buffer.alloc(mask.length)
  setMask(how.unblock, mask, blocked)
  const goBack = goAhead()
  try {
    return await work()
  } finally {
    setMask(how.replace, blocked, null)
    goBack()
  }
}

const notice = () => {
  noticed = count[0]!
  alarm(0)
  if (deadline === Number.POSITIVE_INFINITY) deadline = performance.now() + graceMs
}

const putHandlerFirst = (signal: number): void => {
  handler ??= makeHandler()
  // If the kernel allows no code in memory, the event loop handles signals.
  if (handler === undefined) return
  const action = Buffer.alloc(actionSize)
  requireSuccess('sigaction', sigaction(signal, null, action))
  const former = action.readBigUInt64LE()
  if (former === handler) return
  // All of them have the same one.
  page!.writeBigUInt64LE(former, offset.next)
  action.writeBigUInt64LE(handler)
  requireSuccess('sigaction', sigaction(signal, action, null))
}

/** Lets another thread of this process receive the signals, if one does; returns whether there is one. */
const leaveToOthers = (): boolean => {
  const takesAll = (tid: string) => {
    const [, blocked] = /^SigBlk:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/self/task/${tid}/status`, 'latin1')) ?? []
    return (BigInt(`0x${blocked}`) & mask.readBigUInt64LE()) === 0n
  }
  const others = readdirSync('/proc/self/task').filter(tid => Number(tid) !== process.pid)
  if (handler === undefined || !others.some(takesAll)) return false
  return setMask(how.block, mask, null) === 0
}

const makeHandler = (): bigint | undefined => {
  const address = mmap(null, pageSize, readWriteExecute, privateAnonymous, -1, 0)
  if (koffi.address(address) === failed) return undefined
  const memory = koffi.view(address, pageSize)
  page = Buffer.from(memory)
  code.copy(page, offset.code)
  page.writeInt32LE(process.pid, offset.thread)
  page.writeInt32LE(endingPriority, offset.priority)
  count = new Int32Array(memory, offset.count, 1)
  noticed = 0
  return koffi.address(address) + BigInt(offset.code)
}
