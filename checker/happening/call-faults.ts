import { type Numbered, numbered } from './numbered.ts'

/** A rare result that POSIX allows, of the n-th system call of its kind in a node's next step. */
export type CallFault = Numbered<keyof typeof words>

/** The words for each in a label. */
const words = {
  /** A read that would wait or reads a file returns one byte. */
  read: 'short read',
  /** A write takes one byte. */
  write: 'short write',
  /** A wait ends with EINTR. */
  interrupted: 'interrupted wait',
  /** A wait for a futex ends, though nobody woke it. */
  woken: 'vain wake-up',
  /** A call that makes a descriptor fails with EMFILE. */
  descriptor: 'no descriptor',
} as const

export const { all: callFaults, said: callFaultSaid, read: callFaultIn } = numbered(words)
