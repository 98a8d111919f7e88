import { labelsOf } from '../system/labels.ts'
import type { Choice } from '../system/system.ts'
import type { RecordedChoice, RecordedStep } from './trace.ts'

type Changes = Pick<RecordedStep, 'offered' | 'withdrawn'>

/** How a step changed the list of enabled choices. */
export const enabledChanges = <Enabled extends Pick<RecordedChoice, 'label'>>(
  before: readonly Pick<RecordedChoice, 'label'>[],
  after: readonly Enabled[],
): { readonly withdrawn: readonly number[]; readonly offered: readonly Enabled[] } => {
  const kept = new Set(after.map(({ label }) => label))
  const known = new Set(before.map(({ label }) => label))
  return {
    withdrawn: before.flatMap(({ label }, index) => (kept.has(label) ? [] : [index])),
    offered: after.filter(({ label }) => !known.has(label)),
  }
}

/** The choices enabled after a step, in the order in which each became enabled. */
export const enabledAfter = (
  before: readonly RecordedChoice[],
  { offered, withdrawn }: Changes,
): readonly RecordedChoice[] => {
  if (offered.length === 0 && withdrawn.length === 0) return before
  const gone = new Set(withdrawn)
  return [...before.filter((_, index) => !gone.has(index)), ...offered]
}

/** The form of a choice in a file. */
export const recordedChoice = ({ kind, node, label, joins }: Choice): RecordedChoice =>
  joins === undefined ? { kind, node, label } : { kind, node, label, joins: labelsOf(joins) }
