import { allSignals, type Registers, setSignalMask } from '../../../linux/ptrace.ts'
import { pendingSignals } from '../../../linux/signals.ts'
import { machineCode, staticProgram } from '../../../linux/static-program.ts'
import { syscallNumber } from '../../../linux/syscall-number.ts'
import type { HeldThread } from '../held/held-node.ts'
import { injecting } from './inject.ts'

/**
 * A node whose first process ends lives on with its other processes: a program that makes itself a daemon does so.
 * The kernel would end them all, because the first process is the first of a pid namespace. So it executes this program
 * in place of its end: like a machine's init, it waits for the end of processes without a parent, and ends after the
 * last of them. It is a process like any other to the tool, held and rewound.
 */
const program = staticProgram(
  machineCode(`
    48 8d 35 31 00 00 00              # lea rsi, [rip + name]
    bf 0f 00 00 00  b8 9d 00 00 00    # mov edi, PR_SET_NAME; mov eax, prctl
    0f 05                             # syscall
    bf ff ff ff ff  31 f6             # again: mov edi, -1; xor esi, esi
    ba 00 00 00 40  45 31 d2          # mov edx, __WALL; xor r10d, r10d
    b8 3d 00 00 00  0f 05             # mov eax, wait4; syscall
    48 83 f8 f6  75 e4                # cmp rax, -ECHILD; jne again
    31 ff  b8 e7 00 00 00  0f 05      # xor edi, edi; mov eax, exit_group; syscall
    69 6e 69 74 00                    # name: "init"
  `),
)

const killSignal = 9
const childSignal = 17
const closeOnExec = 1
const emptyPath = 0x1000
const highest = 0xffff_ffff
/** The program may use this many bytes below its stack pointer. */
const redZone = 128
const wordLength = 8

/** Whether other processes of its node live that nobody has killed. */
export const hasOthers = ({ process }: HeldThread): boolean =>
  [...process.node.processes.values()].some(
    other => other !== process && other.threads.size > 0 && !pendingSignals(other.pid, other.pid).has(killSignal),
  )

/**
 * Makes a thread that is stopped at the call by which its process would end execute that program instead. Everything
 * that an end frees is free after it: descriptors, locks, memory, and its other threads.
 *
 * @param registers of the thread; the caller stores them
 *
 * @returns false if the machine does not allow it
 */
export const becomeInit = ({ tid, process }: HeldThread, registers: Registers): boolean => {
  const { memory } = process
  const file = injecting(tid, memory, ({ call, put }) => {
    const fd = call(syscallNumber.memfd_create, put(Buffer.from('init\0')), closeOnExec)
    if (fd < 0 || call(syscallNumber.write, fd, put(program), program.length) !== program.length) return undefined
    if (fd > 0) call(syscallNumber.close_range, 0, fd - 1, 0)
    call(syscallNumber.close_range, fd + 1, highest, 0)
    return fd
  })
  registers.callAgain()
  if (file === undefined) return false
  const mask = Buffer.from(allSignals)
  mask.writeBigUInt64LE(mask.readBigUInt64LE() & ~(1n << BigInt(childSignal - 1)))
  setSignalMask(tid, mask)
  // The empty path, no arguments but a name, and no environment.
  const words = Math.floor((registers.get('rsp') - redZone - 4 * wordLength) / 16) * 16
  const list = Buffer.alloc(4 * wordLength)
  list.writeBigInt64LE(BigInt(words + 3 * wordLength), 0)
  list.write('init\0', 3 * wordLength, 'latin1')
  memory.write(words, list)
  registers.set('rax', syscallNumber.execveat)
  registers.set('rdi', file)
  registers.set('rsi', words + 2 * wordLength)
  registers.set('rdx', words)
  registers.set('r10', words + wordLength)
  registers.set('r8', emptyPath)
  process.isInit = true
  return true
}
