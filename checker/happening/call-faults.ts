import { type Numbered, numbered } from './numbered.ts'

/** What a system call of a node does in its next step that it may always do, and seldom does: the so many-th one. */
export type CallFault = Numbered<keyof typeof words>

/** How each is said. */
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
