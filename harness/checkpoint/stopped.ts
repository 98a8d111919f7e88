import { constants } from 'node:os'
import { detach, getSignalMask, interrupt, Registers, seize, setSignalMask, wait } from '../../linux/ptrace.ts'
import { syscallNumber } from '../../linux/syscall-number.ts'
import type { HeldNode, HeldProcess, HeldThread } from '../hold/held/held-node.ts'
import { sendSignal } from '../hold/start/launch.ts'
import { nap } from '../hold/turns/turns.ts'
import { makeCalls, type RawCall } from '../rewind/calls/batch.ts'
import type { HeldMark } from './held-mark.ts'

/** CRIU traces the processes itself. Meanwhile they are stopped by a signal that is hidden from them. */

const { SIGSTOP, SIGCONT, SIGCHLD, SIGKILL } = constants.signals
const setParentDeathSignal = 1

/** Detaches from a frozen node whose threads are about to make calls. It stays stopped, and ends with this thread. */
export const letGo = (node: HeldNode): void => {
  endWithUs(node, SIGKILL)
  // A parent stops before its children: otherwise it would run when the kernel tells it that they stopped.
  for (const process of node.processes.values()) {
    sendSignal(process.pid, SIGSTOP)
    for (const { tid } of process.threads) detach(tid)
    while (!isStopped(process)) nap()
  }
}

/**
 * Attaches again to a node that is stopped by SIGSTOP, and freezes it.
 *
 * @param mark of the node before it was stopped
 *
 * @throws SystemError, ThreadEnded if it is gone
 */
export const takeAgain = (node: HeldNode, mark: HeldMark): void => {
  for (const thread of node.threads) seizeStopped(thread)
  const processes = [...node.processes.values()]
  for (const { pid } of processes) sendSignal(pid, SIGCONT)
  // A child before its parent, because the parent is also told when a child continues.
  for (const [index, process] of [...processes.entries()].reverse()) {
    const [first] = process.threads
    borrowing(first!, () => makeCalls(first!, swallow(mark.processes[index]!.hasChildSignal)))
  }
  endWithUs(node, 0)
}

/** Traces a thread that is stopped by SIGSTOP. It goes on when its node is thawed after SIGCONT. */
const seizeStopped = (thread: HeldThread): void => {
  seize(thread.tid)
  // One that was woken by somebody else stops all the same.
  interrupt(thread.tid)
  wait(thread.tid)
  thread.interrupted = false
  thread.resumption = { toSyscall: false, signal: 0 }
}

/** Does something with a stopped thread that changes its registers and signal mask, then restores both. */
export const borrowing = <Result>({ tid }: HeldThread, work: () => Result): Result => {
  const registers = new Registers()
  registers.load(tid)
  const mask = getSignalMask(tid)
  const result = work()
  registers.store(tid)
  setSignalMask(tid, mask)
  return result
}

export const firstThreadOf = (node: HeldNode): HeldThread => {
  const [first] = node.processes.get(node.pid)!.threads
  return first!
}

/** When the first process of a pid namespace ends, the kernel ends all others. */
const endWithUs = (node: HeldNode, signal: number) => {
  const first = firstThreadOf(node)
  borrowing(first, () => makeCalls(first, [[syscallNumber.prctl, setParentDeathSignal, signal]]))
}

const isStopped = ({ threads }: HeldProcess): boolean =>
  [...threads].every(thread => /\) [TXZ]|^$/.test(thread.look('stat')))

/** Removes the pending signals caused by the stop: SIGCONT, and SIGCHLD for a parent. */
const swallow = (hasChildSignal: boolean): RawCall[] => {
  const set = signalSet(hasChildSignal ? [SIGCONT] : [SIGCONT, SIGCHLD])
  const take: RawCall = [syscallNumber.rt_sigtimedwait, set, 0, Buffer.alloc(16), set.length]
  return [take, take]
}

const signalSet = (signals: readonly number[]): Buffer => {
  const set = Buffer.alloc(8)
  set.writeBigUInt64LE(signals.reduce((mask, signal) => mask | (1n << BigInt(signal - 1)), 0n))
  return set
}
