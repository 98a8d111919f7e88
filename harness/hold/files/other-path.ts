import type { ProcessMemory } from '../../../linux/memory.ts'
import type { Registers } from '../../../linux/ptrace.ts'
import { syscallNumber } from '../../../linux/syscall-number.ts'
import { ownCodeAddress } from '../held/call-sites.ts'
import type { HeldProcess } from '../held/held-node.ts'

/**
 * Makes a thread call openat with another path than its program wrote. Code of ours makes the call, restores the
 * register of the path and returns to the program. So the thread is not stopped a second time, at the call's exit.
 */

/** Distance below the stack pointer at which the program stores nothing. */
export const belowStack = 256

/** At the stack pointer is a frame: the register rsi, the address to return to, and the path. */
const [returnOffset, pathOffset] = [8, 16]

const code = Buffer.from(
  [
    '0f05', // syscall
    '488b3424', // mov rsi, [rsp]
    '488b4c2408', // mov rcx, [rsp + 8]
    '488da42400010000', // lea rsp, [rsp + 256]
    'ffe1', // jmp rcx
  ].join(''),
  'hex',
)

/** Puts the code into a process that was just exec'd. */
export const putOpening = (memory: ProcessMemory): void => memory.write(ownCodeAddress, code)

/** Longer paths are refused. The frame must end above what a signal handler may use, and below what the program does. */
const pathMax = 100
const frameBytes = Buffer.alloc(pathOffset + pathMax + 1)

/**
 * Changes a thread that is stopped at the filter stop of openat.
 *
 * @param path ASCII
 *
 * @returns false if the process lacks this code, or a stack
 */
export const openAtOtherPath = ({ memory, hasOpening }: HeldProcess, registers: Registers, path: string): boolean => {
  if (!hasOpening || path.length > pathMax) return false
  const frame = registers.get('rsp') - belowStack
  registers.copyWord('rsi', frameBytes, 0)
  registers.copyWord('rip', frameBytes, returnOffset)
  const end = pathOffset + frameBytes.write(path, pathOffset, 'latin1')
  frameBytes[end] = 0
  try {
    memory.write(frame, frameBytes.subarray(0, end + 1))
  } catch {
    return false
  }
  registers.set('rsp', frame)
  registers.set('rsi', frame + pathOffset)
  registers.set('origRax', -1)
  registers.set('rax', syscallNumber.openat)
  registers.set('rip', ownCodeAddress)
  return true
}
