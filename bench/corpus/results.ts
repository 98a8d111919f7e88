import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Discovery } from '../../checker/verdict/verdict.ts'
import type { CheckOutcome } from '../../cli/check/outcome.ts'
import type { PlainResult } from './plain.ts'

/** The result of a check of one row; `bug` is null for a system without a bug. */
export interface Result {
  readonly system: string
  readonly bug: string | null
  /** Seconds of the whole command: the search and the examination of what it found. */
  readonly seconds: number
  /** Seconds of CPU of the command, its workers and the nodes. They depend less on what else the machine does. */
  readonly cpuSeconds: number
  readonly exitCode: number
  /** Of a check. */
  readonly outcome: CheckOutcome | null
  /** Of plain random testing. */
  readonly plain: PlainResult | null
  /** How the violation was found, as its trace says. */
  readonly discovery: Discovery | null
  /** The last line of stderr: the reason. */
  readonly message: string
}

/** Results as files, one for each row, so that a run that was stopped can be continued. */
export class Results {
  readonly #directory: string

  constructor(directory: string) {
    this.#directory = directory
    mkdirSync(directory, { recursive: true })
  }

  get(row: string): Result | undefined {
    try {
      return JSON.parse(readFileSync(this.#path(row), 'utf8'))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
      throw error
    }
  }

  put(row: string, result: Result): void {
    writeFileSync(this.#path(row), `${JSON.stringify(result, undefined, 2)}\n`)
  }

  #path(row: string): string {
    return join(this.#directory, `${row.replaceAll('/', '-')}.json`)
  }
}
