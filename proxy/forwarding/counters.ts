/** A router's counters, in memory shared with its thread. */
export const kinds = ['forwarded', 'bytes', 'lost', 'overflowed', 'cut', 'unroutable'] as const
export type Kind = (typeof kinds)[number]

/** Sums over all hosts since the start. */
export type Counts = Readonly<Record<Kind, number>>

export const newCounters = (): Float64Array =>
  new Float64Array(new SharedArrayBuffer(kinds.length * Float64Array.BYTES_PER_ELEMENT))

export const indexOfKind = Object.fromEntries(kinds.map((kind, index) => [kind, index])) as Record<Kind, number>

export const countsOf = (counters: Float64Array): Counts =>
  Object.fromEntries(kinds.map((kind, index) => [kind, counters[index]!])) as Record<Kind, number>
