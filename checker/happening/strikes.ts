import { callFaultIn } from './call-faults.ts'
import { diskFailureIn } from './disk-failures.ts'
import { preemptionSaidIn } from './preemptions.ts'

/**
 * What strikes a node at a system call of its next step, in the words of a label after its name. Each reads its own words, and is
 * undefined for any others.
 */
export const strikeIn = { disk: diskFailureIn, preempt: preemptionSaidIn, calls: callFaultIn } as const

export type StrikeKind = keyof typeof strikeIn

export const strikeKinds = Object.keys(strikeIn) as readonly StrikeKind[]

export const isStrike = (does: string): does is StrikeKind => Object.hasOwn(strikeIn, does)

/** What is expected where those words are others. */
export const strikesExpected: Readonly<Record<StrikeKind, string>> = {
  disk: 'what happens to the disk, such as "fails at sync 1", "is full from write 2" or "loses write 1"',
  preempt: 'when threads give way, such as "before call 6" or "before every 4th call, from 2"',
  calls: 'what a call does, such as "short read 1", "interrupted wait 1" or "no descriptor 2"',
}
