import { batchAddress, batchEntrySize, batchTable, batchTableLength } from '../hold/clock-page.ts'
import type { HeldThread } from '../hold/held-node.ts'
import { runToTrap } from '../hold/inject.ts'
import { allSignals, Registers, setSignalMask } from '../hold/ptrace.ts'
import { syscallNumber } from '../hold/syscall-number.ts'
import { CannotRewind } from './error.ts'

/** A system call: its number, then its arguments; bytes are put where the call finds them. */
export type Call = readonly (number | Buffer)[]

/**
 * Lets a stopped thread make system calls, one after the other, and gives their results; negative errno where one failed.
 * It costs one stop for some dozens of calls. The thread's registers and signal mask are lost.
 *
 * @throws ThreadEnded
 */
export const makeCalls = (thread: HeldThread, calls: readonly Call[]): number[] => {
  const results: number[] = []
  for (let begin = 0; begin < calls.length; begin += callsMax)
    results.push(...makeSome(thread, calls.slice(begin, begin + callsMax)))
  return results
}

/** Makes system calls all of which have to succeed. @throws CannotRewind */
export const succeed = (thread: HeldThread, calls: readonly Call[]): void => {
  for (const [index, result] of makeCalls(thread, calls).entries())
    if (result < 0) throw new CannotRewind(`system call ${calls[index]} failed with ${result}`)
}

/** Lets a frozen thread end, when it goes on. */
export const endWhenThawed = (thread: HeldThread): void => {
  thread.process.memory.write(batchTable, tableOf([[syscallNumber.exit, 0]]))
  prepareToCall(thread.tid)
  thread.stopped = { toSyscall: false, signal: 0 }
}

const callsMax = 32
const numberSize = 8
const resultOffset = 7 * numberSize
const endMark = -1n

const makeSome = (thread: HeldThread, calls: readonly Call[]): number[] => {
  const { memory } = thread.process
  memory.write(batchTable, tableOf(calls))
  prepareToCall(thread.tid)
  runToTrap(thread.tid)
  const after = memory.read(batchTable, calls.length * batchEntrySize)
  return calls.map((_, row) => Number(after.readBigInt64LE(row * batchEntrySize + resultOffset)))
}

const tableOf = (calls: readonly Call[]): Buffer => {
  const table = Buffer.alloc(batchTableLength)
  let free = calls.length * batchEntrySize
  free = table.writeBigInt64LE(endMark, free)
  const put = (bytes: Buffer): number => {
    const address = batchTable + free
    if (bytes.copy(table, free) < bytes.length) throw new Error('no room for the arguments of system calls')
    free += Math.ceil(bytes.length / numberSize) * numberSize
    return address
  }
  for (const [row, call] of calls.entries())
    for (const [column, value] of call.entries()) {
      const argument = typeof value === 'number' ? value : put(value)
      table.writeBigInt64LE(BigInt(argument), row * batchEntrySize + column * numberSize)
    }
  return table
}

const prepareToCall = (tid: number) => {
  const registers = new Registers()
  setSignalMask(tid, allSignals)
  registers.load(tid)
  registers.set('origRax', -1)
  registers.set('rip', batchAddress)
  registers.set('rbx', batchTable)
  registers.store(tid)
}
