import { closeSync, writeSync } from 'node:fs'
import { libc, requireSuccess } from './libc.ts'
import { spawn } from './spawn.ts'
import { machineCode, staticProgram } from './static-program.ts'
import { type SyscallName, syscallNumber } from './syscall-number.ts'

/**
 * A system call of a process that is being started. Strings and bytes are passed by address, and a list of strings as a
 * list of addresses.
 */
export interface StartCall {
  readonly name: SyscallName
  readonly arguments: readonly (number | string | Uint8Array | readonly string[])[]
  /** The starter gives up if the result is less; 0 by default, so that every error counts. */
  readonly least?: number
}

/** As `least`: accepts any result. */
export const whatever = -4096

const highest = 0xffff_ffff
const closeRangeOnExec = 4

/** Leaves the program only its input and its outputs. */
export const closeOthers: StartCall = { name: 'close_range', arguments: [3, highest, closeRangeOnExec] }

/** Descriptors that the starter expects: one for its report and one with its calls. */
export const starterDescriptor = { report: 8, calls: 9 } as const

/** Length of its report: the failed call as in the table, with the result in the last column. */
export const reportLength = 64

const tableAddress = 0x1000_0000
const tableLength = 0x20_0000
const rowLength = 64
const leastOffset = 56
const columnSize = 8

/**
 * A static program that makes the system calls listed in a file, one after another; the last one executes another
 * program. It runs wherever a program may run, because it needs no library, shell or stack. So a process can set up its
 * mounts, user and privileges after entering its namespaces, where nothing else of ours is available.
 */
const code = machineCode(`
  bf 00 00 00 10  be 00 00 20 00    # mov edi, tableAddress; mov esi, tableLength
  ba 03 00 00 00  41 ba 12 00 00 00 # mov edx, PROT_READ | PROT_WRITE; mov r10d, MAP_PRIVATE | MAP_FIXED
  41 b8 09 00 00 00  45 31 c9       # mov r8d, starterDescriptor.calls; xor r9d, r9d
  b8 09 00 00 00  0f 05             # mmap
  48 89 c3                          # mov rbx, rax
  48 8b 03                          # next: mov rax, [rbx]
  48 8b 7b 08  48 8b 73 10          # mov rdi, [rbx + 8]; mov rsi, [rbx + 16]
  48 8b 53 18  4c 8b 53 20          # mov rdx, [rbx + 24]; mov r10, [rbx + 32]
  4c 8b 43 28  4c 8b 4b 30          # mov r8, [rbx + 40]; mov r9, [rbx + 48]
  0f 05                             # syscall
  48 3b 43 38  7c 06                # cmp rax, [rbx + leastOffset]; jl fail
  48 83 c3 40  eb d7                # add rbx, rowLength; jmp next
  48 89 43 38                       # fail: mov [rbx + leastOffset], rax
  48 89 de  bf 08 00 00 00          # mov rsi, rbx; mov edi, starterDescriptor.report
  ba 40 00 00 00                    # mov edx, reportLength
  b8 01 00 00 00  0f 05             # write
  bf 7f 00 00 00                    # mov edi, 127
  b8 e7 00 00 00  0f 05             # exit_group
`)

const memfdCreate = libc.func('int memfd_create(const char *name, unsigned int flags)')
const closeOnExec = 1

/** Descriptor of a file in memory that has no path. */
const fileOf = (name: string, content: Buffer): number => {
  const fd = requireSuccess('memfd_create', memfdCreate(name, closeOnExec))
  writeSync(fd, content)
  return fd
}

let starterFile: number | undefined

/** Descriptor of the program, open as long as this process lives. */
export const starter = (): number => {
  starterFile ??= fileOf('lastnail-starter', staticProgram(code))
  return starterFile
}

/** Does something with a descriptor of a file that contains these calls for the starter. */
export const withCalls = <Result>(calls: readonly StartCall[], use: (fd: number) => Result): Result => {
  const fd = fileOf('lastnail-calls', tableOf(calls))
  try {
    return use(fd)
  } finally {
    closeSync(fd)
  }
}

/**
 * Starts a process of ours that makes these calls, in the namespaces set for this thread's children. Returns its id.
 */
export const startCalls = (
  calls: readonly StartCall[],
  descriptors: readonly (readonly [own: number, its: number])[],
): number =>
  withCalls(calls, fd =>
    spawn({
      path: `/proc/self/fd/${starter()}`,
      arguments: ['lastnail-starter'],
      environment: {},
      directory: '/',
      descriptors: [...descriptors, [fd, starterDescriptor.calls]],
    }),
  )

const tableOf = (calls: readonly StartCall[]): Buffer => {
  const rows = Buffer.alloc(calls.length * rowLength)
  const parts: Buffer[] = [rows]
  let used = rows.length
  const put = (bytes: Uint8Array): number => {
    const at = used
    const padded = Buffer.alloc(Math.ceil(bytes.length / columnSize) * columnSize)
    padded.set(bytes)
    parts.push(padded)
    used += padded.length
    return tableAddress + at
  }
  const putText = (text: string) => put(Buffer.from(`${text}\0`))
  const columnOf = (argument: StartCall['arguments'][number]): number => {
    if (typeof argument === 'number') return argument
    if (typeof argument === 'string') return putText(argument)
    if (argument instanceof Uint8Array) return put(argument)
    return put(Buffer.from(BigInt64Array.from([...argument.map(putText), 0], BigInt).buffer))
  }
  for (const [index, call] of calls.entries()) {
    const row = index * rowLength
    rows.writeBigInt64LE(BigInt(syscallNumber[call.name]), row)
    for (const [column, argument] of call.arguments.entries())
      rows.writeBigInt64LE(BigInt(columnOf(argument)), row + (column + 1) * columnSize)
    rows.writeBigInt64LE(BigInt(call.least ?? 0), row + leastOffset)
  }
  if (used > tableLength) throw new Error(`a command and environment of ${used} bytes: expected ${tableLength} at most`)
  return Buffer.concat(parts)
}

/** Reads a report: the number of the failed call, and its error. */
export const failureIn = (report: Buffer): { readonly call: number; readonly errno: number } => ({
  call: Number(report.readBigInt64LE(0)),
  errno: -Number(report.readBigInt64LE(leastOffset)),
})
