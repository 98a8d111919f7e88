import { existsSync, mkdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { UsageError } from './errors.ts'

/** A file or directory of the user cannot be written: its disk is full or read-only, or the place is no place for files. */
export class NotWritten extends UsageError {
  /** @param what the noun before the path in the message: `the trace` */
  constructor(what: string, path: string, cause: unknown) {
    super(`cannot write ${what} ${path}: ${(cause as Error).message}`, { cause })
  }
}

/**
 * Makes a directory and its parents. That of Node.js does not return where a directory exists in which none can be
 * made, and the kernel says so as for one that is missing: in /proc.
 */
export const makeDirectories = (path: string, mode = 0o777): void => {
  try {
    mkdirSync(path, { mode })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST' && statSync(path).isDirectory()) return
    const above = dirname(path)
    if (code !== 'ENOENT' || above === path || existsSync(above)) throw error
    makeDirectories(above, mode)
    makeDirectories(path, mode)
  }
}

/**
 * Writes a file. A new one that could not be written whole is removed.
 *
 * @param what such as `the trace`, for the message
 *
 * @throws NotWritten
 */
export const writeWhole = (
  what: string,
  path: string,
  content: string,
  options: { readonly mode?: number; readonly flag?: 'w' | 'wx' } = {},
): void => {
  const isNew = !existsSync(path)
  try {
    writeFileSync(path, content, options)
  } catch (cause) {
    if (isNew && (cause as NodeJS.ErrnoException).code !== 'EEXIST') rmSync(path, { force: true })
    throw new NotWritten(what, path, cause)
  }
}

/**
 * Writes, until a write fails, what is found meanwhile. After that nothing more is written, and what was found is told
 * all the same.
 */
export class Writing {
  #problem: NotWritten | undefined
  readonly #onProblem: () => void

  constructor(onProblem: () => void = () => undefined) {
    this.#onProblem = onProblem
  }

  /** What could not be written, in one line. */
  get problem(): string | undefined {
    return this.#problem?.message
  }

  /** Returns `undefined` if this or an earlier write failed. */
  try<Result>(write: () => Result): Result | undefined {
    if (this.#problem) return undefined
    try {
      return write()
    } catch (error) {
      if (!(error instanceof NotWritten)) throw error
      this.#problem = error
      this.#onProblem()
      return undefined
    }
  }
}
