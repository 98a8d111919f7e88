import { readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { decodeRecord, encodeRecord } from '../../checker/trace/schema.ts'
import { seal, unseal } from '../../checker/trace/seal.ts'

/**
 * Traces of the fixtures, for tests of commands that read one. `check adders.config.ts` found them, the last two with
 * DROPS=1: the first step that writes a number; two numbers of which one is lost; a message that nobody sends again.
 */
type RecordedTrace = 'never-written' | 'update-lost' | 'never-done'

/** Copies a trace into a directory with the fixtures, and returns its path. */
export const recordedIn = (directory: string, name: RecordedTrace): string =>
  copyOfTrace(join(import.meta.dirname, 'recorded', `${name}.trace`), directory)

/**
 * Copies a trace to where the configuration is that it was recorded with, and returns its path. The path of the
 * configuration, which is absolute, becomes that in the directory; all other bytes are those that were written.
 */
export const copyOfTrace = (from: string, directory: string): string => {
  const file = readFileSync(from)
  const start = file.indexOf('\n') + 1
  const first = unseal(file, start)
  if (typeof first === 'string') throw new Error(`the header of ${from} is ${first}`)
  const record = decodeRecord(first.payload)
  if (!('header' in record)) throw new Error(`${from} does not begin with a header`)
  const config = { ...record.header.config, path: join(directory, basename(record.header.config.path)) }
  const header = seal(encodeRecord({ header: { ...record.header, config } }))
  const path = join(directory, basename(from))
  writeFileSync(path, Buffer.concat([file.subarray(0, start), header, file.subarray(first.end)]))
  return path
}
