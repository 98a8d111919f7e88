import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { UsageError } from '../../checker/system/errors.ts'
import { NotWritten } from '../../checker/system/written.ts'
import { format, type Schedule, scheduleSchema } from './schedule.ts'

/** @throws UsageError if the file cannot be read, is torn, has a newer format, or is not a schedule */
export const readSchedule = (path: string): Schedule => {
  const value = parse(path, contentOf(path))
  if (isObject(value) && Number(value.format) > format)
    throw new UsageError(
      `${path} has format ${value.format}, of a newer lastnail: this one reads formats up to ${format}`,
    )
  const checked = scheduleSchema.safeParse(value)
  if (checked.success) return checked.data
  const [issue] = checked.error.issues
  const where = issue!.path.length === 0 ? '' : `${issue!.path.join('.')}: `
  throw new UsageError(`${path} is not a schedule: ${where}${issue!.message}`)
}

/**
 * Writes a schedule. A concurrent reader sees the old content or the new.
 *
 * @throws UsageError if that is not possible
 */
export const writeSchedule = (path: string, schedule: Schedule): void => {
  const draft = `${path}.${process.pid}`
  try {
    writeFileSync(draft, `${JSON.stringify(schedule, null, 2)}\n`)
    renameSync(draft, path)
  } catch (cause) {
    rmSync(draft, { force: true })
    throw new NotWritten('the schedule', path, cause)
  }
}

const contentOf = (path: string): string => {
  try {
    return readFileSync(path, 'utf8')
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    throw new UsageError(`cannot read the schedule ${path}: ${code === 'ENOENT' ? 'no such file' : message}`, { cause })
  }
}

const parse = (path: string, content: string): unknown => {
  if (/^<{7} /m.test(content))
    throw new UsageError(`${path} has conflict markers of git: choose one side of each, then run it again`)
  try {
    return JSON.parse(content)
  } catch (cause) {
    // The message quotes the file, with its ends of lines.
    const why = (cause as Error).message.replaceAll(/\s+/g, ' ')
    throw new UsageError(`${path} is torn, or was edited to something that is not JSON: ${why}`, { cause })
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null
