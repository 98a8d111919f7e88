import { chmodSync, writeFileSync } from 'node:fs'
import { lastTurnUsMax, turnUsMax } from '../harness/hold/turns/turns.ts'
import { machineCode, staticProgram } from '../linux/static-program.ts'

/** Limit on a path, including its terminator. */
const pathMax = 4096

/** The message to its FIFO that lets the program start. */
export const openingMessage = (program: string): Buffer => {
  const message = Buffer.from(`${program}\0`)
  if (message.length > pathMax) throw new Error(`a path of ${message.length} bytes: ${program}`)
  return message
}

/**
 * A static program that runs in any image, because it needs nothing of it. With the arguments
 *
 *     stdout stderr fifo directory program argument…
 *
 * it appends its output to two files, waits for a path from a FIFO (and ends if that is closed instead), and executes
 * the file at that path as the program, in the directory and without address randomisation. It sets the limit on its
 * real-time turns itself, because only root with CAP_SYS_RESOURCE may do so for another user's process.
 */
export const writeGate = (path: string): void => {
  writeFileSync(path, executable)
  chmodSync(path, 0o755)
}

const call = (name: keyof typeof numbers) => `b8 ${numbers[name]} 00 00 00  0f 05`
const numbers = {
  read: '00',
  open: '02',
  dup2: '21',
  execve: '3b',
  chdir: '50',
  personality: '87',
  setrlimit: 'a0',
  exitGroup: 'e7',
}
const number = (value: number) => Buffer.from(Uint32Array.of(value).buffer).toString('hex')
/** `mov rdi, [rbx + offset]`: the stack holds the count of arguments followed by pointers to them. */
const argument = (index: number) => `48 8b 7b ${(8 + 8 * index).toString(16).padStart(2, '0')}`
const redirect = (index: number, descriptor: number) => `
  ${argument(index)}  be 01 04 08 00  ${call('open')}   # O_WRONLY | O_APPEND | O_CLOEXEC
  89 c7  be 0${descriptor} 00 00 00  ${call('dup2')}
`

const wait = `
  48 89 e3                                              # mov rbx, rsp
  bf 00 00 04 00  ${call('personality')}                # ADDR_NO_RANDOMIZE
  68 ${number(lastTurnUsMax)}  68 ${number(turnUsMax)}  # a struct rlimit, from its end
  48 89 e6  bf 0f 00 00 00  ${call('setrlimit')}        # RLIMIT_RTTIME
  ${redirect(1, 1)}
  ${redirect(2, 2)}
  ${argument(3)}  be 00 00 08 00  ${call('open')}       # O_RDONLY | O_CLOEXEC
  89 c7  48 8d b4 24 00 e0 ff ff                        # lea rsi, [rsp - 8192]
  49 89 f4  ba 00 10 00 00  ${call('read')}             # mov r12, rsi
  83 f8 00                                              # cmp eax, 0
`

const enter = `
  ${argument(4)}  ${call('chdir')}
  4c 89 e7  48 8d 73 30                                 # mov rdi, r12; lea rsi, [rbx + 48]
  48 8b 03  48 8d 54 c3 10                              # the environment: lea rdx, [rbx + 8 * argc + 16]
  ${call('execve')}
`

const end = `bf 7f 00 00 00  ${call('exitGroup')}`

const jumpUnlessMore = (over: Buffer) => Buffer.from([0x7e, over.length])

const code = Buffer.concat([
  machineCode(wait),
  jumpUnlessMore(machineCode(enter)),
  machineCode(enter),
  machineCode(end),
])

const executable = staticProgram(code)
