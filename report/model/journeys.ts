import { inputsIn } from '../../checker/labels.ts'
import type { RecordedChoice, RecordedMessage, RecordedStep } from '../../checker/trace/trace.ts'

/**
 * How a message ended: `lost` with its connection or in a partition; `held` if it was still in flight when the
 * execution ended.
 */
export type Fate = 'delivered' | 'dropped' | 'lost' | 'held'

/** A message from its sending to its end. */
export interface Journey {
  readonly message: RecordedMessage
  /** Index of the step in which it was sent. */
  readonly sentAt: number
  /** Whether a `duplicate` step made this copy. `sentAt` is then that step. */
  readonly isCopy: boolean
  readonly fate: Fate
  /** Index of the step in which it ended; `undefined` for a held message. */
  readonly endedAt: number | undefined
}

/** The messages of an execution, in the order in which they were sent. */
export const journeysOf = (steps: readonly RecordedStep[]): Journey[] => {
  const ends = endsOf(steps)
  return steps.flatMap(({ index, choice, messages }) =>
    messages.map(message => ({
      ...{ message, sentAt: index, isCopy: choice?.kind === 'duplicate' },
      ...(ends.get(message.label) ?? { fate: 'held' as const, endedAt: undefined }),
    })),
  )
}

const endsOf = (steps: readonly RecordedStep[]) => {
  const ends = new Map<string, { readonly fate: Fate; readonly endedAt: number }>()
  for (const { index, choice, lost } of steps) {
    for (const label of lost) ends.set(label, { fate: 'lost', endedAt: index })
    if (choice) for (const label of takenBy(choice)) ends.set(label, { fate: fateBy(choice), endedAt: index })
  }
  return ends
}

const fateBy = ({ kind }: RecordedChoice): Fate => (kind === 'drop' ? 'dropped' : 'delivered')

/**
 * Labels of the inputs that a choice delivers, or of the message that it drops. Older traces do not record the parts of
 * an overlap, so they are read from its label.
 */
export const takenBy = ({ label, joins }: RecordedChoice): readonly string[] => joins ?? inputsIn(label)
