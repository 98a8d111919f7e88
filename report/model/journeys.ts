import { type Described, inputsIn, readLabel } from '../../checker/system/labels.ts'
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
  /** Whether a step of the network made it: a copy, or the rest of a divided message. `sentAt` is then that step. */
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
      ...{ message, sentAt: index, isCopy: isMadeBy(choice) },
      ...(ends.get(message.label) ?? { fate: 'held' as const, endedAt: undefined }),
    })),
  )
}

/** Whether a step's messages come from the network, and no node has sent them. */
export const isMadeBy = (choice: RecordedChoice | undefined): boolean =>
  choice?.kind === 'duplicate' || choice?.kind === 'divide' || choice?.kind === 'split'

const endsOf = (steps: readonly RecordedStep[]) => {
  const ends = new Map<string, { readonly fate: Fate; readonly endedAt: number }>()
  const byPlace = new Map<string, string>()
  for (const { index, choice, lost, messages } of steps) {
    const divided =
      choice?.kind === 'divide' || choice?.kind === 'split' ? byPlace.get(placeOf(readLabel(choice.label))) : undefined
    if (divided !== undefined) ends.set(divided, { fate: 'delivered', endedAt: index })
    for (const message of messages) byPlace.set(placeOf(message), message.label)
    for (const label of lost) ends.set(label, { fate: 'lost', endedAt: index })
    if (choice) for (const label of takenBy(choice)) ends.set(label, { fate: fateBy(choice), endedAt: index })
  }
  return ends
}

/** Which message it is, or begins, of those between two nodes. */
const placeOf = ({ from, to, ordinal }: Pick<Described, 'from' | 'to' | 'ordinal'>): string =>
  `${from}→${to} ${ordinal}`

const fateBy = ({ kind }: RecordedChoice): Fate => (kind === 'drop' ? 'dropped' : 'delivered')

/**
 * Labels of the inputs that a choice delivers, or of the message that it drops. Older traces do not record the parts of
 * an overlap, so they are read from its label.
 */
export const takenBy = ({ label, joins }: RecordedChoice): readonly string[] => joins ?? inputsIn(label)
