import { createHash } from 'node:crypto'

/** Characters that could lead out of a directory, hide the file, look like an option, or are not printable. */
const unsafe = /[/%\p{Cc}]|^[.-]/gu

/** Limit on the name's length. File systems allow 255 bytes, and an extension follows. */
const bytesMax = 180
/** How many characters of a long name are kept, of up to three bytes each. */
const unitsKept = 40

/** A file name for something named by others: readable, never a path, and different for different names. */
export const fileNameOf = (name: string): string => {
  const safe = name.replace(unsafe, character => `%${Buffer.from(character).toString('hex').toUpperCase()}`)
  if (Buffer.byteLength(safe) <= bytesMax) return safe
  return `${safe.slice(0, unitsKept)}-${createHash('sha256').update(name).digest('hex')}`
}
