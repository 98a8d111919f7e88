import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { counted } from '../../checker/system/brief.ts'
import { UsageError } from '../../checker/system/errors.ts'
import { makeDirectories, NotWritten } from '../../checker/system/written.ts'
import { bucketOf } from './bucket.ts'
import { readSchedule, writeSchedule } from './file.ts'
import type { KeptFinding, Schedule } from './schedule.ts'

/** A finding, before it is known whether it is new. */
export type FoundSchedule = Omit<Schedule, 'format' | 'bucket' | 'found'>

export interface Kept {
  readonly path: string
  /** How often this bug has been found; 1 for a new one. */
  readonly times: number
}

/**
 * Keeps a schedule in a directory, one file for each bug. A bug that is known by its bucket is counted, and its file
 * does not change otherwise.
 *
 * @throws UsageError if the directory cannot be written, or contains a file that is not a schedule; nothing is
 * overwritten
 */
export const addSchedule = (directory: string, found: FoundSchedule, finding: KeptFinding): Kept => {
  makeDirectory(directory)
  const bucket = bucketOf(found)
  const known = schedulesIn(directory).find(
    ({ schedule }) => schedule.bucket === bucket && schedule.system === found.system,
  )
  if (known) return countAgain(known, finding)
  const path = unusedPath(join(directory, `${nameOf(found)}-${bucket}`))
  writeSchedule(path, { format: 1, ...found, bucket, found: { first: finding, last: finding, times: 1 } })
  return { path, times: 1 }
}

export interface KeptSchedule {
  readonly path: string
  readonly schedule: Schedule
}

/**
 * The schedules of a directory, by file name.
 *
 * @throws UsageError if the directory does not exist, or contains a file that is not a schedule
 */
export const schedulesIn = (directory: string): KeptSchedule[] => {
  const read = namesIn(directory).map(name => tryRead(join(directory, name)))
  const problems = read.flatMap(each => (typeof each === 'string' ? [each] : []))
  const [first, ...others] = problems
  if (first !== undefined)
    throw new UsageError(
      others.length === 0 ? first : `${first}; nor can ${counted(others.length, 'other file')} be read`,
    )
  return read as KeptSchedule[]
}

const tryRead = (path: string): KeptSchedule | string => {
  try {
    return { path, schedule: readSchedule(path) }
  } catch (error) {
    if (error instanceof UsageError) return error.message
    throw error
  }
}

const namesIn = (directory: string): string[] => {
  try {
    return readdirSync(directory)
      .filter(name => name.endsWith('.json'))
      .sort()
  } catch (cause) {
    throw new UsageError(`expected a directory of schedules, cannot read ${directory}: ${(cause as Error).message}`, {
      cause,
    })
  }
}

const countAgain = ({ path, schedule }: KeptSchedule, last: KeptFinding): Kept => {
  const times = schedule.found.times + 1
  writeSchedule(path, { ...schedule, found: { ...schedule.found, last, times } })
  return { path, times }
}

/** Systems that share a directory may have the same bug. */
const unusedPath = (name: string): string => {
  for (let ordinal = 1; ; ordinal++) {
    const path = ordinal === 1 ? `${name}.json` : `${name}-${ordinal}.json`
    if (!existsSync(path)) return path
  }
}

/** How much of a property's name is in the name of its file. File systems allow 255 bytes. */
const nameLengthMax = 100

const nameOf = ({ property, kind }: FoundSchedule): string =>
  (property ?? kind)
    .slice(0, nameLengthMax)
    .replaceAll(/[^\w.-]/g, '-')
    .replace(/^[.-]/, '_')

const makeDirectory = (directory: string): void => {
  try {
    makeDirectories(directory)
  } catch (cause) {
    throw new NotWritten('schedules to', directory, cause)
  }
}
