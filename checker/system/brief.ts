/** A text in one line of limited length. */
export const shortened = (text: string, lengthMax: number): string => {
  const line = text.replaceAll(/\s*\n\s*/g, ' ')
  return line.length <= lengthMax ? line : `${line.slice(0, lengthMax - 1)}…`
}

/** Two texts of any length, each cut to its beginning and the surroundings of the first character that differs. */
export const shownApart = (one: string, other: string): readonly [string, string] => {
  let same = 0
  while (same < one.length && one[same] === other[same]) same++
  return [around(one, same), around(other, same)]
}

const beginningShown = 80
/** Characters before and after the first one that differs, so that a reader finds the place. */
const [beforeShown, afterShown] = [40, 100]

const around = (text: string, place: number): string => {
  const [from, end] = [place - beforeShown, place + afterShown]
  const rest = end < text.length ? '…' : ''
  if (from <= beginningShown) return `${text.slice(0, end)}${rest}`
  return `${text.slice(0, beginningShown)} … ${text.slice(from, end)}${rest}`
}

/** A list in one line: its first items, and how many more there are. */
export const shownList = (items: readonly string[], countMax = 5): string => {
  const more = items.length - countMax
  return more > 0 ? `${items.slice(0, countMax).join(', ')} and ${more} more` : items.join(', ')
}

/** `1 step`, `2 steps`. */
export const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`
