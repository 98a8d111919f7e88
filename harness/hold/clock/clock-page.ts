import type { ProcessMemory } from '../../../linux/memory.ts'
import type { VirtualClock } from './virtual-clock.ts'

/**
 * A page at a fixed address in every held process: the node's clocks, and code that reads them in place of the vDSO's.
 * So reading a clock takes a few nanoseconds and no stop, and moving the clock takes one write for each process.
 * ThreadSanitizer and MemorySanitizer allow only parts of the addresses to be mapped by others; this is in one of them.
 */
export const pageAddress = 0x5510_0000_0000
export const pageSize = 4096

export const isInPage = (address: number): boolean => address >= pageAddress && address < pageAddress + pageSize

/** 0: realtime, 16: monotonic, as timespecs; 32: a timespec of zero; 48: how often the clocks were read. */
const clocksLength = 48
/** A timespec of zero, for waits that must check without waiting. */
export const zeroTimespec = pageAddress + 32
const codeOffset = 64

const hex = (text: string) => Buffer.from(text.replaceAll(/\s/g, ''), 'hex')

/**
 * Counts a read of the clock. One in 4,096 makes the system call, so that the tracer notices a program that keeps
 * reading. `call` is the distance to that call.
 */
const countRead = (call: string) => `
  48 b8 00 00 00 00 10 55 00 00   ${'' /* movabs rax, page */}
  ff 40 30                        ${'' /* inc dword [rax + 48] */}
  f7 40 30 ff 0f 00 00            ${'' /* test dword [rax + 48], 4095 */}
  74 ${call}                      ${'' /* jz call */}`

/** Machine code for x86-64, position-independent except for the page's address. */
const replacements: Record<string, Buffer> = {
  // Clock ids 0, 5, 8 and 11 read the realtime clock, 1, 4, 6, 7 and 9 the monotonic one. Others make the system call.
  clock_gettime: hex(`
    83 ff 0b  77 3f                   ${'' /* cmp edi, 11; ja call */}
    ${countRead('29')}
    ba 21 09 00 00  0f a3 fa  72 0e   ${'' /* mov edx, 0x921; bt edx, edi; jc show */}
    ba d2 02 00 00  0f a3 fa  73 15   ${'' /* mov edx, 0x2d2; bt edx, edi; jnc call */}
    48 83 c0 10                       ${'' /* add rax, 16 */}
    48 8b 10  48 89 16                ${'' /* show: mov rdx, [rax]; mov [rsi], rdx */}
    48 8b 50 08  48 89 56 08          ${'' /* mov rdx, [rax + 8]; mov [rsi + 8], rdx */}
    31 c0  c3                         ${'' /* xor eax, eax; ret */}
    b8 e4 00 00 00  0f 05  c3         ${'' /* call: mov eax, 228; syscall; ret */}`),
  gettimeofday: hex(`
    ${countRead('2c')}
    48 85 ff  74 18                   ${'' /* test rdi, rdi; jz zone */}
    48 8b 10  48 89 17                ${'' /* mov rdx, [rax]; mov [rdi], rdx */}
    48 8b 40 08  31 d2                ${'' /* mov rax, [rax + 8]; xor edx, edx */}
    b9 e8 03 00 00  48 f7 f1          ${'' /* mov ecx, 1000; div rcx */}
    48 89 47 08                       ${'' /* mov [rdi + 8], rax */}
    48 85 f6  74 07                   ${'' /* zone: test rsi, rsi; jz end */}
    48 c7 06 00 00 00 00              ${'' /* mov qword [rsi], 0 */}
    31 c0  c3                         ${'' /* end: xor eax, eax; ret */}
    b8 60 00 00 00  0f 05  c3         ${'' /* call: mov eax, 96; syscall; ret */}`),
  time: hex(`
    ${countRead('0c')}
    48 8b 00                          ${'' /* mov rax, [rax] */}
    48 85 ff  74 03                   ${'' /* test rdi, rdi; jz end */}
    48 89 07                          ${'' /* mov [rdi], rax */}
    c3                                ${'' /* end: ret */}
    b8 c9 00 00 00  0f 05  c3         ${'' /* call: mov eax, 201; syscall; ret */}`),
  // Always CPU 0 of memory node 0.
  getcpu: hex(`
    31 c0
    48 85 ff  74 02  89 07
    48 85 f6  74 02  89 06
    c3`),
  // Returns ENOSYS when asked for the size of its state (length -1). Libraries then make the system call.
  getrandom: hex(`
    49 83 f8 ff  74 08
    b8 3e 01 00 00  0f 05  c3
    48 c7 c0 da ff ff ff  c3`),
}

/** The replacements one after another, each aligned to 16 bytes. */
const place = () => {
  let free = pageAddress + codeOffset
  return Object.entries(replacements).map(([name, code]) => {
    const address = free
    free += Math.ceil(code.length / 16) * 16
    return { name, code, address }
  })
}

const placed = place()

/**
 * Makes the system calls of a table, to which rbx points, one after another. Each entry has the call's number, six
 * arguments and room for the result. A number of -1 ends the table and traps.
 */
const batchCode = hex(`
  48 8b 03  48 83 f8 ff  74 24
  48 8b 7b 08  48 8b 73 10  48 8b 53 18  4c 8b 53 20  4c 8b 43 28  4c 8b 4b 30
  0f 05
  48 89 43 38  48 83 c3 40  eb d3
  cc`)
/** Addresses of that code and of the room for the table. */
export const batchAddress = pageAddress + 960
export const batchTable = pageAddress + 1024
export const batchEntrySize = 64
export const batchTableLength = pageAddress + pageSize - batchTable

/** Address of a replaced vDSO function, by its name without `__vdso_`; undefined for functions that are kept. */
export const replacementAddress = (name: string): number | undefined =>
  placed.find(replacement => replacement.name === name)?.address

/** Fills the newly mapped page. */
export const writePage = (memory: ProcessMemory, clock: VirtualClock): void => {
  const page = Buffer.alloc(pageSize)
  for (const { code, address } of placed) code.copy(page, address - pageAddress)
  batchCode.copy(page, batchAddress - pageAddress)
  memory.write(pageAddress, page)
  writeClocks(memory, clock)
}

/** Number of reads after which the page makes the system call. */
export const readsOfPage = 4096

/** Lets a process make that call after a number of further reads, and then after each `readsOfPage` again. */
export const writeReadsLeft = (memory: ProcessMemory, reads: number): void => {
  const count = Buffer.alloc(4)
  count.writeUInt32LE(readsOfPage - reads)
  memory.write(pageAddress + clocksLength, count)
}

const clocks = Buffer.alloc(clocksLength)

/** Writes a node's clocks to a process. */
export const writeClocks = (memory: ProcessMemory, clock: VirtualClock): void => {
  const realtime = clock.show('realtime')
  const monotonic = clock.show('monotonic')
  clocks.writeUIntLE(realtime.seconds, 0, 6)
  clocks.writeUIntLE(realtime.nanoseconds, 8, 6)
  clocks.writeUIntLE(monotonic.seconds, 16, 6)
  clocks.writeUIntLE(monotonic.nanoseconds, 24, 6)
  memory.write(pageAddress, clocks)
}
