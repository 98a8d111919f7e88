/** Places at which a write is taken apart: after its first byte, in its middle, before its last byte. */
export const places = ['first', 'half', 'last'] as const
export type SplitPlace = (typeof places)[number]

/** The number of bytes before a place in a write of `length` bytes, at least two. */
export const byteAt = (place: SplitPlace, length: number): number =>
  place === 'first' ? 1 : place === 'last' ? length - 1 : length >> 1

/**
 * After how many bytes a message may be split: the three places, and the ends of its first line and of a header of lines.
 * Readers that take one read for one message, or a line, or a length of some bytes, are wrong at one of these.
 */
export const bordersIn = (bytes: Buffer): readonly number[] => {
  const { length } = bytes
  if (length < 2) return []
  const line = bytes.indexOf('\n') + 1
  const header = bytes.indexOf('\r\n\r\n') + 4
  const all = [...places.map(place => byteAt(place, length)), line, header === 3 ? 0 : header]
  return [...new Set(all)].filter(at => at > 0 && at < length).sort((one, other) => one - other)
}
