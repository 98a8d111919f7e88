import { shownList } from './brief.ts'

/** A hint for an unknown name: the most similar known one, or some known ones. */
export const nearest = (name: string, known: readonly string[]): string => {
  const distances = known.map(other => distance(name.toLowerCase(), other.toLowerCase()))
  const least = Math.min(...distances)
  const meant = known[distances.indexOf(least)]
  // With more than half of the letters wrong, it is not a typing error.
  if (meant !== undefined && least <= meant.length / 2) return `did you mean "${meant}"?`
  if (known.length === 0) return 'there is none'
  return known.length === 1 ? `the only one is ${known[0]}` : `known are ${shownList(known, 8)}`
}

/** Levenshtein: the least number of letters to add, remove or replace. */
const distance = (from: string, to: string): number => {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let i = 1; i <= from.length; i++) {
    const next = [i]
    for (let j = 1; j <= to.length; j++) {
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (from[i - 1] === to[j - 1] ? 0 : 1)))
    }
    row = next
  }
  return row[to.length]!
}
