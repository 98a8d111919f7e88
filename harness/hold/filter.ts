import { constants } from 'node:os'
import type { Registers } from '../../linux/ptrace.ts'
import { type SyscallName, syscallNumber } from '../../linux/syscall-number.ts'
import { stoppedForFaults } from './calls/call-faults.ts'
import { MAP_ANONYMOUS, MAP_SHARED, PROT_WRITE } from './calls/mapped-files.ts'
import { sends } from './calls/power-failure.ts'
import { stoppedToPreempt } from './calls/preemption.ts'
import { type Rule, systemCalls, type Treatment } from './calls/system-calls.ts'
import { writingCalls } from './calls/written-files.ts'
import { futexFlags, futexWaits } from './clock/waits.ts'
import { passingEnd, sitesAddress } from './held/call-sites.ts'

/**
 * The seccomp filter of every held process, made from the table of system calls. It stops the process when the tracer
 * has something to do, and lets everything else run at full speed. For numbers that are always allowed, the kernel
 * keeps a list and skips the filter; the others are found by a binary search.
 */

const loadWord = 0x20
const jump = 0x05
const jumpIfEqual = 0x15
const jumpIfAtLeast = 0x35
const jumpIfSet = 0x45
const and = 0x54
const answer = 0x06

const allow = 0x7fff0000
const trace = 0x7ff00000
const fail = (errno: number) => 0x00050000 | errno
/** SIGSYS, whose si_errno has these 16 bits. */
const trap = (data: number) => 0x00030000 | data

/** Tells our own traps from those of a program's own filters: of system calls of i386 and x32. */
export const foreignCall = 0x4c4e

const x86_64 = 0xc000003e
const numberOffset = 0
const archOffset = 4
const low = (argument: number) => 16 + argument * 8
const high = (argument: number) => low(argument) + 4
/** Numbers from here on are those of x32. */
const x32From = 0x40000000
/** -1: a number that no call has */
const noCall = 0xffff_ffff

/** An instruction of classic BPF. `jt` and `jf` are numbers of instructions to skip. */
type Instruction = readonly [code: number, jt: number, jf: number, k: number]

const conclude = (action: number): Instruction => [answer, 0, 0, action]

const body = (treatment: Treatment): readonly Instruction[] => {
  switch (treatment.kind) {
    case 'native':
      return [conclude(allow)]
    case 'ignored':
      return [conclude(fail(0))]
    // The tracer refuses the call, and not the filter, so that the refusal is noted. Calls that the tool itself makes
    // in a process are not refused.
    case 'refused':
      return [conclude(trace)]
    case 'held':
      return ruleBody(treatment.when)
  }
}

const ruleBody = (rule: Rule): readonly Instruction[] => {
  switch (rule.when) {
    case 'always':
      return [conclude(trace)]
    case 'positive':
      return [
        [loadWord, 0, 0, low(rule.argument)],
        [jumpIfSet, 2, 0, 0x80000000],
        [jumpIfEqual, 1, 0, 0],
        conclude(trace),
        conclude(allow),
      ]
    case 'unflagged':
      return [[loadWord, 0, 0, low(rule.argument)], [jumpIfSet, 0, 1, rule.bits], conclude(allow), ...elsewhereBody]
    case 'given':
      return [
        [loadWord, 0, 0, low(rule.argument)],
        [jumpIfEqual, 0, 2, 0],
        [loadWord, 0, 0, high(rule.argument)],
        [jumpIfEqual, 1, 0, 0],
        conclude(trace),
        conclude(allow),
      ]
    case 'among':
      return [
        [loadWord, 0, 0, low(rule.argument)],
        ...rule.values.map<Instruction>((value, index) => [jumpIfEqual, rule.values.length - index, 0, value]),
        conclude(allow),
        conclude(trace),
      ]
    case 'elsewhere':
      return elsewhereBody
    case 'code':
      return codeBody
    case 'futexWait':
      return futexBody()
    case 'option':
      return optionBody(rule.options)
  }
}

const instructionLow = 8
const instructionHigh = 12

const elsewhereBody: readonly Instruction[] = [
  [loadWord, 0, 0, instructionHigh],
  [jumpIfEqual, 0, 4, Math.floor(sitesAddress / 2 ** 32)],
  [loadWord, 0, 0, instructionLow],
  [jumpIfAtLeast, 0, 2, sitesAddress % 2 ** 32],
  [jumpIfAtLeast, 1, 0, passingEnd % 2 ** 32],
  conclude(allow),
  conclude(trace),
]

/** PROT_EXEC */
const mayExecute = 4
/** MAP_SHARED and MAP_ANONYMOUS: writes to the first change the file, and the second has no file. */
const isNotOwnCopy = 1 | 32

const codeBody: readonly Instruction[] = [
  [loadWord, 0, 0, low(2)],
  [jumpIfSet, 0, 3, mayExecute],
  [loadWord, 0, 0, low(3)],
  [jumpIfSet, 1, 0, isNotOwnCopy],
  conclude(trace),
  conclude(allow),
]

/** A file that memory writes to is stopped for; all others go on to what follows. */
const mappedToWrite: readonly Instruction[] = [
  [loadWord, 0, 0, low(2)],
  [jumpIfSet, 0, 4, PROT_WRITE],
  [loadWord, 0, 0, low(3)],
  [jumpIfSet, 0, 2, MAP_SHARED],
  [jumpIfSet, 1, 0, MAP_ANONYMOUS],
  conclude(trace),
]

const futexBody = (): Instruction[] => {
  const waits = futexWaits.map<Instruction>((operation, index) => [
    jumpIfEqual,
    futexWaits.length - index,
    0,
    operation,
  ])
  return [
    [loadWord, 0, 0, low(1)],
    [and, 0, 0, ~futexFlags >>> 0],
    ...waits,
    conclude(allow),
    ...ruleBody({ when: 'given', argument: 3 }),
  ]
}

/** `setsockopt(fd, level, name, …)`, and `getsockopt`. */
const optionBody = (options: readonly (readonly [level: number, name: number])[]): Instruction[] =>
  [...new Set(options.map(([level]) => level))]
    .flatMap((level): Instruction[] => {
      const names = options.filter(([other]) => other === level).map(([, name]) => name)
      return [
        [loadWord, 0, 0, low(1)],
        [jumpIfEqual, 0, names.length + 3, level],
        [loadWord, 0, 0, low(2)],
        ...names.map<Instruction>((name, index) => [jumpIfEqual, names.length - index, 0, name]),
        conclude(allow),
        conclude(trace),
      ]
    })
    .concat([conclude(allow)])

/** What is done with the numbers from one on, up to the next. */
interface Range {
  readonly from: number
  readonly body: readonly Instruction[]
}

const unknown = [conclude(trace)]

/** Opening a file that may be made or emptied. O_CREAT | O_TRUNC */
const mayWrite = 0o100 | 0o1000
const flagsArgument: Partial<Record<SyscallName, number>> = { open: 1, openat: 2 }

/** The filter's instructions for a call, where writes to the disk are seen. */
const bodyOfWrite = (name: SyscallName, treatment: Treatment): readonly Instruction[] => {
  if (!seenForPower.has(name)) return body(treatment)
  if (name === 'mmap') return [...mappedToWrite, ...codeBody]
  const flags = flagsArgument[name]
  if (flags === undefined) return [conclude(trace)]
  return [[loadWord, 0, 0, low(flags)], [jumpIfSet, 0, 1, mayWrite], conclude(trace), ...body(treatment)]
}

const seenForPower: ReadonlySet<SyscallName> = new Set([...writingCalls, ...sends, 'sync', 'msync'])

/**
 * Calls that stop besides held ones: those that change the disk, those that other threads may notice, and those that
 * may do less than was asked.
 */
export interface Seen {
  readonly writes: boolean
  readonly calls: boolean
  readonly faults: boolean
}

const bodyOf = (name: SyscallName, treatment: Treatment, { writes, calls, faults }: Seen): readonly Instruction[] => {
  if ((calls && stoppedToPreempt.has(name)) || (faults && stoppedForFaults.has(name)))
    return flagsArgument[name] === undefined ? [conclude(trace)] : elsewhereBody
  return writes ? bodyOfWrite(name, treatment) : body(treatment)
}

const ranges = (seen: Seen): Range[] => {
  const bodies = Object.entries(systemCalls).map(([key, treatment]) => {
    const name = key as SyscallName
    return [syscallNumber[name], bodyOf(name, treatment, seen)] as const
  })
  const byNumber = new Map<number, readonly Instruction[]>(bodies)
  const last = Math.max(...byNumber.keys())
  const all = Array.from({ length: last + 2 }, (_, number) => ({ from: number, body: byNumber.get(number) ?? unknown }))
  return all.filter(({ body }, index) => index === 0 || !isSame(body, all[index - 1]!.body))
}

const isSame = (one: readonly Instruction[], other: readonly Instruction[]) =>
  JSON.stringify(one) === JSON.stringify(other)

/** The number is in the accumulator. An unconditional jump may be long, a conditional one may not. */
const search = (among: readonly Range[]): readonly Instruction[] => {
  if (among.length === 1) return among[0]!.body
  const middle = among.length >> 1
  const lower = search(among.slice(0, middle))
  return [
    [jumpIfAtLeast, 0, 1, among[middle]!.from],
    [jump, 0, 0, lower.length],
    ...lower,
    ...search(among.slice(middle)),
  ]
}

const instructions = (seen: Seen): Instruction[] => [
  [loadWord, 0, 0, archOffset],
  [jumpIfEqual, 1, 0, x86_64],
  conclude(trap(foreignCall)),
  [loadWord, 0, 0, numberOffset],
  // The kernel answers it with ENOSYS. The tool replaces a call by it where a thread is stopped before the filter.
  [jumpIfEqual, 0, 1, noCall],
  conclude(allow),
  [jumpIfAtLeast, 0, 1, x32From],
  conclude(trap(foreignCall)),
  ...search(ranges(seen)),
]

const encode = (list: readonly Instruction[]): Buffer => {
  const bytes = Buffer.alloc(list.length * 8)
  list.forEach(([code, jt, jf, k], index) => {
    bytes.writeUInt16LE(code, index * 8)
    bytes.writeUInt8(jt, index * 8 + 2)
    bytes.writeUInt8(jf, index * 8 + 3)
    bytes.writeUInt32LE(k >>> 0, index * 8 + 4)
  })
  return bytes
}

const made = new Map<string, Buffer>()

/**
 * The filter as an array of `struct sock_filter`.
 *
 * @param seen the calls that stop besides: of nodes whose disk or power may fail, or whose threads may give way
 */
export const filterOf = (seen: Seen): Buffer => {
  const key = JSON.stringify(seen)
  const filter = made.get(key) ?? encode(instructions(seen))
  made.set(key, filter)
  return filter
}

/** Whether a call is held, and not only stopped because its thread may give way or it may change the disk. */
export const isCallHeld = (name: SyscallName, registers: Registers): boolean => {
  const treatment = systemCalls[name]
  return treatment.kind !== 'held' || meets(treatment.when, registers)
}

const meets = (rule: Rule, registers: Registers): boolean => {
  switch (rule.when) {
    case 'always':
      return true
    case 'positive':
      return (argument(registers, rule.argument) | 0) > 0
    case 'given':
      return argument(registers, rule.argument) !== 0
    case 'among':
      return rule.values.includes(argument(registers, rule.argument) | 0)
    case 'unflagged':
      return (argument(registers, rule.argument) & rule.bits) === 0
    case 'futexWait':
      return futexWaits.includes(registers.get('rsi') & ~futexFlags) && registers.get('r10') !== 0
    // Nothing else asks for these.
    case 'elsewhere':
    case 'code':
    case 'option':
      return true
  }
}

const argumentRegisters = ['rdi', 'rsi', 'rdx', 'r10', 'r8', 'r9'] as const

const argument = (registers: Registers, index: number): number => registers.get(argumentRegisters[index]!)

/** The errno of a refused call; undefined if it is not refused. A call that the table does not know is refused. */
export const refusal = (name: SyscallName | undefined): number | undefined => {
  const treatment = name && systemCalls[name]
  if (treatment === undefined) return constants.errno.ENOSYS
  return treatment.kind === 'refused' ? constants.errno[treatment.error] : undefined
}
