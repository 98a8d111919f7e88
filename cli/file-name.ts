import { createHash } from 'node:crypto'

/** What would lead out of a directory, hide a file, be taken for an option, or is nothing to be shown. */
const unsafe = /[/%\p{Cc}]|^[.-]/gu

/** File systems take 255 bytes; an ending comes after it. */
const bytesMax = 180
/** Of at most three bytes each. */
const unitsKept = 40

/** The name of a file for something that somebody else named: readable, never a path, another for each name. */
export const fileNameOf = (name: string): string => {
  const safe = name.replace(unsafe, character => `%${Buffer.from(character).toString('hex').toUpperCase()}`)
  if (Buffer.byteLength(safe) <= bytesMax) return safe
  return `${safe.slice(0, unitsKept)}-${createHash('sha256').update(name).digest('hex')}`
}
