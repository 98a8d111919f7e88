/**
 * Sentences about what could not be held or rewound, each with how often it happened; `uncounted` if a number would say
 * nothing.
 */
export type CountedNotes = ReadonlyMap<string, number>

export const uncounted = 0

/** Why a life of a node was not lived again. */
export const notRewound = (node: string, reason: string): string =>
  `${node}: a life of it could not be rewound, and was started anew: ${reason}`

/** Why no life of these nodes is lived again, and no state is gone back to. */
export const notRewoundSharing = (nodes: readonly string[]): string =>
  `${nodes.join(', ')} share a directory, which is not brought back in place: every execution begins with new processes, no state is gone back to, and nothing is predicted`

/** Why a start in which nodes waited for each other was done anew. */
export const notKept = (reason: string): string =>
  `a start in which nodes waited for each other could not be kept, and was done anew: ${reason}`

/** Why a search executed a state's schedule instead of restoring the state in place. */
export const notMarked = (reason: string): string => `a state could not be marked, or gone back to, in place: ${reason}`

/** Counts a reason. New reasons are added only while there are fewer than `reasonsMax`. */
export const countUpTo = (reasonsMax: number, counts: Map<string, number>, reason: string): void => {
  const count = counts.get(reason)
  if (count !== undefined || counts.size < reasonsMax) counts.set(reason, (count ?? 0) + 1)
}

/** Merges notes: each sentence once, with the sum of its counts. */
export const addNotes = (all: Iterable<CountedNotes>): CountedNotes => {
  const sums = new Map<string, number>()
  for (const notes of all) for (const [note, count] of notes) sums.set(note, (sums.get(note) ?? 0) + count)
  return sums
}

/** The notes as text, with the count if something happened more than once. */
export const sayNotes = (notes: CountedNotes): string[] =>
  [...notes].map(([note, count]) => (count > 1 ? `${note} (${count} times)` : note))
