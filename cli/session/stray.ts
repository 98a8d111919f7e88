import { isDefect, placeInConfiguration } from '../../checker/system/frames.ts'
import { thrown } from '../../checker/system/show.ts'
import { ConfigError } from '../../harness/config/config.ts'

/**
 * Errors that nobody caught: thrown by a configuration after its call ended, or a rejected promise. They end the work,
 * which then reports them. They never end the process itself, whose exit code would be 1 as for a violation.
 */
class Strays {
  error: unknown
  #isThere = false
  #abort = new AbortController()

  /** Aborted by the first error. */
  get signal(): AbortSignal {
    return this.#abort.signal
  }

  /** Forgets those of a work before, in a process that does several. */
  forget(): void {
    this.error = undefined
    this.#isThere = false
    this.#abort = new AbortController()
  }

  note(error: unknown): void {
    if (this.#isThere) return
    this.#isThere = true
    this.error = isDefect(error) ? error : asConfigError(error)
    this.#abort.abort()
  }

  /** @throws ConfigError for an error of a configuration, and the error itself for a defect of ours */
  check(): void {
    if (this.#isThere) throw this.error
  }
}

export const strays = new Strays()

const asConfigError = (error: unknown): ConfigError => {
  if (error instanceof ConfigError) return error
  const place = placeInConfiguration(error)
  return new ConfigError([`${place ?? 'the configuration'}: threw, where nothing catches it, ${thrown(error)}`])
}

/** How long the work may take to notice that it should end, in milliseconds. */
const patienceMs = 10_000

let exitWith: (error: unknown) => void

const note = (error: unknown) => {
  strays.note(error)
  setTimeout(() => exitWith(strays.error), patienceMs).unref()
}

/** From now on, uncaught errors and rejections end the work, or, if the work does not notice, the process by `exit`. */
export const catchStrays = (exit: (error: unknown) => void): void => {
  strays.forget()
  exitWith = exit
  process.off('uncaughtException', note).on('uncaughtException', note)
  process.off('unhandledRejection', note).on('unhandledRejection', note)
}

/** Whether this process ends itself. */
let isDone = true

/** Must be called before this process ends itself. */
export const endsItself = (): void => {
  isDone = true
}

/** If a configuration ends this process during the work, sets this exit code and prints a line about it. */
export const refuseExit = (code: number): void => {
  isDone = false
  codeOfExit = code
  process.off('exit', refuse).on('exit', refuse)
}

let codeOfExit = 0

const refuse = (asked: number) => {
  if (isDone) return
  const place = placeInConfiguration(new Error('where'))
  process.stderr.write(`lastnail: ${place ?? 'the configuration'}: ended this program, by process.exit(${asked})\n`)
  process.exitCode = codeOfExit
}
