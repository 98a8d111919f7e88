import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { makeDirectories, NotWritten } from '../../checker/system/written.ts'
import { fileNameOf } from './file-name.ts'

/** Name of the link to the directory of the latest check. */
const latest = 'latest'
/** Accessible to the user alone, because traces hold everything that nodes sent and printed. */
const ownMode = 0o700

/**
 * Creates the directory for a check's findings, `<out>/<system>/<time>/` in UTC, and makes `<out>/<system>/latest` a
 * link to it.
 *
 * @throws NotWritten
 */
export const newPlace = (out: string, system: string, now = new Date()): string => {
  const parent = join(out, fileNameOf(system))
  try {
    makeDirectories(parent, ownMode)
    const name = createUnused(parent, timeOf(now))
    lead(join(parent, latest), name)
    return join(parent, name)
  } catch (cause) {
    throw new NotWritten('traces to', parent, cause)
  }
}

/** For example `2026-11-22T05-04-33`, which sorts by time. */
const timeOf = (now: Date): string => now.toISOString().slice(0, 19).replaceAll(':', '-')

/** Adds a number if two checks end in the same second. */
const createUnused = (parent: string, time: string): string => {
  for (let ordinal = 1; ; ordinal++) {
    const name = ordinal === 1 ? time : `${time}-${ordinal}`
    try {
      mkdirSync(join(parent, name), { mode: ownMode })
      return name
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
}

/** Replaces the link atomically, so that it always leads to one of the two. */
const lead = (link: string, target: string) => {
  const draft = `${link}.${process.pid}`
  rmSync(draft, { force: true })
  symlinkSync(target, draft)
  renameSync(draft, link)
}
