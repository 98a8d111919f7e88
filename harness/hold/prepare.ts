import { closeSync, openSync, readSync } from 'node:fs'
import { SystemError } from '../../linux/libc.ts'
import { ProcessMemory } from '../../linux/memory.ts'
import { contToSyscall, wait } from '../../linux/ptrace.ts'
import { syscallNumber } from '../../linux/syscall-number.ts'
import { noteSetuid } from './calls/setuid.ts'
import { pageAddress, pageSize, writePage } from './clock/clock-page.ts'
import { patchVdso, seedStart } from './clock/vdso.ts'
import { putOpening } from './files/other-path.ts'
import { keepProgram } from './files/resident-files.ts'
import { filterOf } from './filter.ts'
import { sitesAddress, sitesLength } from './held/call-sites.ts'
import type { HeldThread } from './held/held-node.ts'
import { trapProgram } from './instructions/hardware-random.ts'
import { type Injector, injecting } from './start/inject.ts'

const setNoNewPrivileges = 38
const setTimestampCounter = 26
const faultOnRead = 2
const filterMode = 1
const readWriteExecute = 7
const privateAnonymousFixed = 0x02 | 0x20 | 0x100000

/**
 * Prepares a program that was just exec'd, before its first instruction: installs the filter, the clock page, the
 * patched vDSO, and the bytes from which libraries seed themselves.
 */
export const prepare = (thread: HeldThread, isFirst: boolean): void => {
  const { tid, process, randomness } = thread
  reachExit(tid)
  process.memory.close()
  process.memory = new ProcessMemory(process.pid)
  process.isGo = isGoProgram(process.pid)
  injecting(tid, process.memory, injector => {
    const { mayStrike } = process.node
    const writes = mayStrike.has('power') || mayStrike.has('disk')
    const seen = { writes, calls: mayStrike.has('preempt'), faults: mayStrike.has('calls') }
    if (isFirst) installFilter(injector, filterOf(seen))
    mapPage(injector)
    process.mayChange = mapSites(injector)
    trapCounter(injector)
  })
  noteSetuid(process)
  trapProgram(process)
  writePage(process.memory, process.node.clock)
  process.clockReads.beginPage()
  process.hasOpening = process.mayChange
  if (process.hasOpening) putOpening(process.memory)
  patchVdso(process.pid, process.memory)
  seedStart(process.pid, process.memory, randomness.bytes(16))
  keepProgram(process)
}

/** Waits for the exit of the exec call: its result would overwrite registers that we borrow. */
const reachExit = (tid: number) => {
  contToSyscall(tid)
  const change = wait(tid)
  if (change.kind !== 'syscall') throw new Error(`after its exec, thread ${tid} changed to ${JSON.stringify(change)}`)
}

const succeed = (call: string, result: number): number => {
  if (result < 0) throw new SystemError(`${call} inside the process`, -result)
  return result
}

const installFilter = ({ call, put }: Injector, filter: Buffer) => {
  const program = put(filter)
  const header = Buffer.alloc(16)
  header.writeUInt16LE(filter.length / 8, 0)
  header.writeBigUInt64LE(BigInt(program), 8)
  succeed('prctl(NO_NEW_PRIVS)', call(syscallNumber.prctl, setNoNewPrivileges, 1, 0, 0, 0))
  succeed('seccomp', call(syscallNumber.seccomp, filterMode, 0, put(header)))
}

const mapPage = ({ call }: Injector) => {
  const mapped = call(syscallNumber.mmap, pageAddress, pageSize, readWriteExecute, privateAnonymousFixed, -1, 0)
  succeed('mmap of the clock page', mapped)
}

/** False if a program with a large stack occupies the place. Its call sites are left unpatched then. */
const mapSites = ({ call }: Injector): boolean =>
  call(syscallNumber.mmap, sitesAddress, sitesLength, readWriteExecute, privateAnonymousFixed, -1, 0) === sitesAddress

const trapCounter = ({ call }: Injector) =>
  succeed('prctl(PR_SET_TSC)', call(syscallNumber.prctl, setTimestampCounter, faultOnRead))

/** A Go program carries an ELF note of owner `Go` and type 4, its build id, near its beginning. */
const isGoProgram = (pid: number): boolean => {
  const head = Buffer.alloc(8192)
  const executable = openSync(`/proc/${pid}/exe`, 'r')
  readSync(executable, head, 0, head.length, 0)
  closeSync(executable)
  return head.includes(Buffer.from('04000000476f0000', 'hex'))
}
