import { callFaultIn } from './call-faults.ts'
import { diskFailureIn } from './disk-failures.ts'
import { placeSaidIn } from './places.ts'
import { preemptionSaidIn } from './preemptions.ts'

/**
 * Readers of the faults that strike a node in its next step, at a system call that it makes or, `split`, by a message
 * that arrives: each takes the words after the node's name in a label, and returns undefined for the words of another fault.
 */
export const strikeIn = {
  disk: diskFailureIn,
  preempt: preemptionSaidIn,
  calls: callFaultIn,
  split: placeSaidIn,
} as const

export type StrikeKind = keyof typeof strikeIn

export const strikeKinds = Object.keys(strikeIn) as readonly StrikeKind[]

export const isStrike = (does: string): does is StrikeKind => Object.hasOwn(strikeIn, does)

/** What an error says was expected, if no reader knows the words. */
export const strikesExpected: Readonly<Record<StrikeKind, string>> = {
  disk: 'what happens to the disk, such as "fails at sync 1", "is full from write 2" or "loses write 1"',
  preempt:
    'when threads give way, such as "before call 6", "before every 4th call, from 2" or "before instruction 600"',
  calls: 'what a call does, such as "short read 1", "interrupted wait 1" or "no descriptor 2"',
  split: 'where the next message is split: "at first", "at half" or "at last"',
}
