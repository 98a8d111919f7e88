import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** A JSON value in a file `state.json` of the directory: either the old one or the new one is on disk, never a part. */
export const openDisk = directory => {
  mkdirSync(directory, { recursive: true })
  const path = join(directory, 'state.json')
  return {
    /** What was saved last, or `undefined`. */
    load: () => {
      try {
        return JSON.parse(readFileSync(path, 'utf8'))
      } catch (error) {
        if (error.code !== 'ENOENT') throw error
      }
    },
    /** Returns when the value is on disk. */
    save: value => {
      writeFileSync(`${path}.new`, JSON.stringify(value), { flush: true })
      renameSync(`${path}.new`, path)
    },
  }
}
