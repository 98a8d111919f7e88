import type { z } from 'zod'
import { type StrikeKind, strikeIn, strikesExpected } from '../checker/happening/strikes.ts'

/** What strikes a node, by its kind, as one may say it in a plan or ask a run for it. */
export const strikeShape = (text: z.ZodString): Record<StrikeKind, z.ZodString> => {
  const strike = (kind: StrikeKind) =>
    text.refine(said => strikeIn[kind](said) !== undefined, { error: `expected ${strikesExpected[kind]}` })
  return { disk: strike('disk'), preempt: strike('preempt'), calls: strike('calls'), split: strike('split') }
}
