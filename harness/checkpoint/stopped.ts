import { readFileSync } from 'node:fs'
import { constants } from 'node:os'
import type { HeldNode, HeldProcess, HeldThread } from '../hold/held-node.ts'
import { sendSignal } from '../hold/launch.ts'
import { getSignalMask, Registers, setSignalMask } from '../hold/ptrace.ts'
import { syscallNumber } from '../hold/syscall-number.ts'
import type { Tracer } from '../hold/tracer.ts'
import { type Call, makeCalls } from '../rewind/batch.ts'

/**
 * CRIU traces the processes itself: meanwhile they are stopped by a signal, of which they learn nothing.
 */

const { SIGSTOP, SIGCONT, SIGCHLD, SIGKILL } = constants.signals
const setParentDeathSignal = 1

/** Lets go of a frozen node whose threads are about to make calls. It is stopped, and ends where this thread ends. */
export const letGo = (tracer: Tracer, node: HeldNode): void => {
  endWithUs(node, SIGKILL)
  for (const { pid } of node.processes.values()) sendSignal(pid, SIGSTOP)
  tracer.letGo(node)
}

/** Takes hold again of a node that is stopped by SIGSTOP. It is frozen then. @throws SystemError where it is gone */
export const takeAgain = (tracer: Tracer, node: HeldNode): void => {
  tracer.takeAgain(node)
  const processes = [...node.processes.values()].map(process => ({ process, swallowing: swallow(process) }))
  for (const { process } of processes) sendSignal(process.pid, SIGCONT)
  for (const { process, swallowing } of processes) {
    const [first] = process.threads
    borrowing(first!, () => makeCalls(first!, swallowing))
  }
  endWithUs(node, 0)
}

/** Does something with a stopped thread that changes its registers and its signal mask, and puts them back. */
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

/** With its first process all others end. */
const endWithUs = (node: HeldNode, signal: number) => {
  const first = firstThreadOf(node)
  borrowing(first, () => makeCalls(first, [[syscallNumber.prctl, setParentDeathSignal, signal]]))
}

/** Takes what came of being stopped from among the pending signals: SIGCONT, and SIGCHLD for a parent. */
const swallow = ({ pid }: HeldProcess): Call[] => {
  const hadChild = (pendingOf(pid) & maskOf(SIGCHLD)) !== 0n
  const set = Buffer.alloc(8)
  set.writeBigUInt64LE(maskOf(SIGCONT) | (hadChild ? 0n : maskOf(SIGCHLD)))
  const take: Call = [syscallNumber.rt_sigtimedwait, set, 0, Buffer.alloc(16), set.length]
  return [take, take]
}

const maskOf = (signal: number): bigint => 1n << BigInt(signal - 1)

const pendingOf = (pid: number): bigint =>
  BigInt(`0x${/^ShdPnd:\s*([0-9a-f]+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))![1]}`)
