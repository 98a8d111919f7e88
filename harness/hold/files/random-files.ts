import { appendFileSync, fstatSync, statSync, writeFileSync } from 'node:fs'
import { Randomness } from '../held/randomness.ts'

/** Names of the devices of random bytes. */
export const randomNames = ['random', 'urandom']

/**
 * Distance between the beginnings of two openings of a file of random bytes. It is sixteen times an odd number, so
 * 65,536 openings begin at different places. The file is longer by `randomBytesAfter` than the part in which they
 * begin.
 */
const stride = 4112
const randomBytesBegun = 1 << 20
const randomBytesAfter = 1 << 16
const randomBytesLength = randomBytesBegun + randomBytesAfter

/** Place in such a file at which an opening begins. */
export const randomPlace = (earlierOpenings: number): number => (earlierOpenings * stride) % randomBytesBegun

/** Files of which only the beginning was written, with their paths and names. */
const begun = new Map<string, { readonly path: string; readonly name: string }>()

const fileOf = ({ dev, ino }: { readonly dev: number; readonly ino: number }): string => `${dev}:${ino}`

const randomBytes = (name: string, length: number): Buffer => new Randomness(`${name} /dev/urandom`).bytes(length)

/**
 * Writes the beginning of a file of random bytes, which are the same for the same name. Most programs never open it,
 * and to write all of it takes 2 ms of each start.
 */
export const beginRandomFile = (path: string, name: string): void => {
  writeFileSync(path, randomBytes(name, randomBytesAfter))
  begun.set(fileOf(statSync(path)), { path, name })
}

/** Writes what such a file still lacks. */
export const completeRandomFile = (descriptor: number): void => {
  const file = fileOf(fstatSync(descriptor))
  const incomplete = begun.get(file)
  if (!incomplete) return
  begun.delete(file)
  appendFileSync(incomplete.path, randomBytes(incomplete.name, randomBytesLength).subarray(randomBytesAfter))
}
