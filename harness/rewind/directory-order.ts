import { opendirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { CannotRewind } from './error.ts'

/** The names in a directory in the order in which it lists them; Node's own `readdir` sorts them. */
export const listingOf = (path: string): string[] => {
  const directory = opendirSync(path)
  const names: string[] = []
  for (let entry = directory.readSync(); entry; entry = directory.readSync()) names.push(entry.name)
  directory.closeSync()
  return names
}

/**
 * Lets a directory list the same names in another order. In memory (tmpfs) what was made last comes first, and other file
 * systems have an order of their own that does not change: a file that is given another name, and its own again, is as if it
 * had been made last.
 *
 * @param list gives its names as they are listed
 * @param view path of it, as the node sees it
 * @throws CannotRewind where that is not possible
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

/** How many of the oldest may stay as they are, when all others are made anew. */
const countKept = (now: readonly string[], wanted: readonly string[]): number => {
  let kept = 0
  // Each that is kept comes after those that are kept before it.
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
