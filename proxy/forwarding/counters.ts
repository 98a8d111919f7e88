/** A router's counters, in memory shared with its thread. */
export const packetKinds = ['forwarded', 'bytes', 'lost', 'overflowed', 'cut', 'unroutable'] as const
export type Kind = (typeof packetKinds)[number]

/** Sums over all hosts since the start. */
export type ForwardedCounts = Readonly<Record<Kind, number>>

export const newCounters = (): Float64Array =>
  new Float64Array(new SharedArrayBuffer(packetKinds.length * Float64Array.BYTES_PER_ELEMENT))

/** By pipe, the bytes that it carried, in memory shared with the router's thread. */
export const newCarried = (pipes: number): Float64Array =>
  new Float64Array(new SharedArrayBuffer(pipes * Float64Array.BYTES_PER_ELEMENT))

export const indexOfKind = Object.fromEntries(packetKinds.map((kind, index) => [kind, index])) as Record<Kind, number>

export const countsOf = (counters: Float64Array): ForwardedCounts =>
  Object.fromEntries(packetKinds.map((kind, index) => [kind, counters[index]!])) as Record<Kind, number>
