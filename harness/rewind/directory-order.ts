import { opendirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { CannotRewind } from './calls/error.ts'

/** The names in a directory in its own order, while Node's `readdir` sorts them. */
export const listingOf = (path: string): string[] => {
  const directory = opendirSync(path)
  const names: string[] = []
  for (let entry = directory.readSync(); entry; entry = directory.readSync()) names.push(entry.name)
  directory.closeSync()
  return names
}

/**
 * Makes a directory list the same names in another order. In memory (tmpfs) the latest file comes first; other file
 * systems have a fixed order. Renaming a file away and back has the effect of making it last.
 *
 * @param list returns the names in their present order
 *
 * @param view path of the directory, as the node sees it
 *
 * @throws CannotRewind if that is not possible
 */
export const putInOrder = (list: () => string[], view: string, wanted: readonly string[]): void => {
  const now = list()
  if (isSame(now, wanted)) return
  const oldestFirst = [...wanted].reverse()
  const kept = countKept([...now].reverse(), oldestFirst)
  const other = join(view, freeName(now))
  for (const name of oldestFirst.slice(kept)) {
    renameSync(join(view, name), other)
    renameSync(other, join(view, name))
  }
  if (!isSame(list(), wanted)) throw new CannotRewind(`${view} lists its files in another order`)
}

const isSame = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((name, index) => name === other[index])

/** How many of the oldest names may stay if all others are renamed. */
const countKept = (now: readonly string[], wanted: readonly string[]): number => {
  let kept = 0
  // Kept names must be in the same relative order as now.
  for (let at = -1; kept < wanted.length; kept++) {
    const place = now.indexOf(wanted[kept]!)
    if (place < at) break
    at = place
  }
  return kept
}

const freeName = (names: readonly string[]): string => {
  for (let number = 0; ; number++) if (!names.includes(`.${number}`)) return `.${number}`
}
