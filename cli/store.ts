import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { UsageError } from '../checker/errors.ts'
import { fileNameOf } from './file-name.ts'

/** What leads to the directory of the last check. */
const latest = 'latest'
/** What nodes said, and were told, is their user's alone. */
const ownMode = 0o700

/**
 * Creates the directory that a check of a system puts what it found in: `<out>/<system>/<time>/`, in UTC. From now on
 * `<out>/<system>/latest` leads there.
 *
 * @throws UsageError where that cannot be done
 */
export const newPlace = (out: string, system: string, now = new Date()): string => {
  const parent = join(out, fileNameOf(system))
  try {
    mkdirSync(parent, { recursive: true, mode: ownMode })
    const name = createUnused(parent, timeOf(now))
    lead(join(parent, latest), name)
    return join(parent, name)
  } catch (cause) {
    throw new UsageError(`cannot write traces to ${parent}: ${(cause as Error).message}`, { cause })
  }
}

/** `2026-11-22T05-04-33`: in order of time when sorted. */
const timeOf = (now: Date): string => now.toISOString().slice(0, 19).replaceAll(':', '-')

/** Two checks may end in one second. */
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

/** In one instant: whoever follows it meanwhile finds the one or the other. */
const lead = (link: string, target: string) => {
  const draft = `${link}.${process.pid}`
  rmSync(draft, { force: true })
  symlinkSync(target, draft)
  renameSync(draft, link)
}
