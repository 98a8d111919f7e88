import { allSignals, Registers, setSignalMask } from '../../../linux/ptrace.ts'
import { syscallNumber } from '../../../linux/syscall-number.ts'
import { batchAddress, batchEntrySize, batchTable, batchTableLength } from '../../hold/clock/clock-page.ts'
import type { HeldThread } from '../../hold/held/held-node.ts'
import { runToTrap } from '../../hold/start/inject.ts'
import { CannotRewind } from './error.ts'

/** A system call: its number and arguments. Bytes are passed by address, and contain what the call wrote there. */
export type RawCall = readonly (number | Buffer)[]

/**
 * Makes system calls in a stopped thread, one after another, and returns their results; negative errno for a failed
 * one. It costs one stop for some dozens of calls. The thread's registers and signal mask are lost.
 *
 * @param onThread is called with a thread that a call makes; its first stop must be awaited
 *
 * @throws ThreadEnded
 */
export const makeCalls = (
  thread: HeldThread,
  calls: readonly RawCall[],
  onThread?: (made: number) => void,
): number[] => {
  const results: number[] = []
  for (let begin = 0; begin < calls.length; ) {
    const end = begin + roomFor(calls, begin)
    results.push(...makeSome(thread, calls.slice(begin, end), onThread))
    begin = end
  }
  return results
}

/** How many of the calls from one on fit into the table, at least one. */
const roomFor = (calls: readonly RawCall[], begin: number): number => {
  let count = 0
  let used = numberSize
  for (; begin + count < calls.length; count++) {
    used += batchEntrySize + calls[begin + count]!.reduce<number>((sum, value) => sum + lengthOf(value), 0)
    if (used > batchTableLength) break
  }
  return Math.max(count, 1)
}

/** Bytes that an argument takes beside the call's own entry. */
const lengthOf = (value: number | Buffer): number =>
  typeof value === 'number' ? 0 : Math.ceil(value.length / numberSize) * numberSize

/** Makes system calls that must all succeed. @throws CannotRewind */
export const succeed = (thread: HeldThread, calls: readonly RawCall[]): void => {
  for (const [index, result] of makeCalls(thread, calls).entries())
    if (result < 0) throw new CannotRewind(`system call ${calls[index]} failed with ${result}`)
}

/** Makes a frozen thread end once it continues. */
export const endWhenThawed = (thread: HeldThread): void => {
  thread.process.memory.write(batchTable, tableOf([[syscallNumber.exit, 0]]).table)
  prepareToCall(thread.tid)
  thread.resumption = { toSyscall: false, signal: 0 }
}

const numberSize = 8
const resultOffset = 7 * numberSize
const endMark = -1n

const makeSome = (thread: HeldThread, calls: readonly RawCall[], onThread?: (made: number) => void): number[] => {
  const { memory } = thread.process
  const { table, used, places } = tableOf(calls)
  memory.write(batchTable, table.subarray(0, used))
  prepareToCall(thread.tid)
  runToTrap(thread.tid, onThread)
  const after = memory.read(batchTable, used)
  for (const { bytes, at } of places) after.copy(bytes, 0, at)
  return calls.map((_, row) => Number(after.readBigInt64LE(row * batchEntrySize + resultOffset)))
}

const tableOf = (calls: readonly RawCall[]) => {
  const table = Buffer.alloc(batchTableLength)
  const places: { readonly bytes: Buffer; readonly at: number }[] = []
  let used = calls.length * batchEntrySize
  used = table.writeBigInt64LE(endMark, used)
  const put = (bytes: Buffer): number => {
    const at = used
    if (bytes.copy(table, at) < bytes.length) throw new CannotRewind('no room for the arguments of system calls')
    places.push({ bytes, at })
    used += lengthOf(bytes)
    return batchTable + at
  }
  for (const [row, call] of calls.entries())
    for (const [column, value] of call.entries()) {
      const argument = typeof value === 'number' ? value : put(value)
      const at = row * batchEntrySize + column * numberSize
      table.writeInt32LE(argument | 0, at)
      table.writeInt32LE(Math.floor(argument / 2 ** 32), at + 4)
    }
  return { table, used, places }
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
