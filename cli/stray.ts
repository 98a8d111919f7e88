import { isDefect, placeInConfiguration } from '../checker/frames.ts'
import { thrown } from '../checker/show.ts'
import { ConfigError } from '../harness/config.ts'

/**
 * What nobody caught: an error that a configuration threw when its call was over, or a promise that it left rejected. It
 * ends what goes on, which then reports it; never the process, which would exit with 1, as for a violation.
 */
class Strays {
  error: unknown
  #isThere = false
  readonly #abort = new AbortController()

  /** Aborted by the first. */
  get signal(): AbortSignal {
    return this.#abort.signal
  }

  note(error: unknown): void {
    if (this.#isThere) return
    this.#isThere = true
    this.error = isDefect(error) ? error : asConfigError(error)
    this.#abort.abort()
  }

  /** @throws ConfigError for what a configuration left, and the error itself for a defect of ours */
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

/** How long whoever works may take to notice that it is to end. */
const patienceMs = 10_000

/**
 * From now on uncaught errors and rejections end the work, or, where it does not notice, the process by `exit`.
 */
export const catchStrays = (exit: (error: unknown) => void): void => {
  const note = (error: unknown) => {
    strays.note(error)
    setTimeout(() => exit(strays.error), patienceMs).unref()
  }
  process.on('uncaughtException', note)
  process.on('unhandledRejection', note)
}

/** Whether the end of this process is its own doing. */
let isDone = false

/** To be called before this process ends itself. */
export const endsItself = (): void => {
  isDone = true
}

/** Where a configuration ends this process while it works, the exit code is this, and a line says so. */
export const refuseExit = (code: number): void => {
  process.on('exit', asked => {
    if (isDone) return
    const place = placeInConfiguration(new Error('where'))
    process.stderr.write(`lastnail: ${place ?? 'the configuration'}: ended this program, by process.exit(${asked})\n`)
    process.exitCode = code
  })
}
