import type { Choice } from '../system.ts'
import type { RecordedStep } from './trace.ts'

type Changes = Pick<RecordedStep, 'offered' | 'withdrawn'>

/** What a step made of what was enabled before it. */
export const enabledChanges = (before: readonly Choice[], after: readonly Choice[]): Changes => {
  const kept = new Set(after.map(({ label }) => label))
  const known = new Set(before.map(({ label }) => label))
  return {
    withdrawn: before.flatMap(({ label }, index) => (kept.has(label) ? [] : [index])),
    offered: after.filter(({ label }) => !known.has(label)),
  }
}

/** What is enabled after a step; in the order in which it first came to be. */
export const enabledAfter = (before: readonly Choice[], { offered, withdrawn }: Changes): readonly Choice[] => {
  if (offered.length === 0 && withdrawn.length === 0) return before
  const gone = new Set(withdrawn)
  return [...before.filter((_, index) => !gone.has(index)), ...offered]
}
