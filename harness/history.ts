import type { Operation } from '../checker/history/operation.ts'
import type { Asked, Perform } from './config.ts'

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }

/** What an operation throws that certainly did not happen. After any other error it may have happened, or may yet. */
export class DidNotHappen extends Error {
  override readonly name = 'DidNotHappen'
}

/** The operations of an execution, as clients invoke them and as they return. */
export class History {
  readonly #all: Mutable<Operation>[] = []
  #shown: readonly Operation[] = []
  /** What was invoked or returned since the last step ended, in order. */
  #events: ((step: number) => void)[] = []
  #time = 0

  /** In the order in which they were invoked; the same array as long as there is nothing new. */
  get operations(): readonly Operation[] {
    return this.#shown
  }

  /** How a client of this name performs operations. */
  performerOf(process: string): Perform {
    return async (asked, perform) => {
      const operation = this.#invoke(process, asked)
      try {
        const result = await perform()
        this.#return(operation, { outcome: 'ok', result: asJson(result) })
        return result
      } catch (error) {
        if (error instanceof DidNotHappen) this.#return(operation, { outcome: 'failed' })
        throw error
      }
    }
  }

  /** What has happened since the last step ended, happened in this one. */
  endStep(step: number): void {
    if (this.#events.length === 0) return
    for (const event of this.#events.splice(0)) event(step)
    this.#shown = this.#all.map(operation => ({ ...operation }))
  }

  #invoke(process: string, { op, key, value }: Asked): Mutable<Operation> {
    const operation: Mutable<Operation> = { process, op, key, value: asJson(value), outcome: 'unknown', invoked: 0 }
    this.#events.push(invokedAt => {
      Object.assign(operation, { invoked: this.#time++, invokedAt })
      this.#all.push(operation)
    })
    return operation
  }

  #return(operation: Mutable<Operation>, ending: Pick<Operation, 'outcome' | 'result'>): void {
    this.#events.push(returnedAt => Object.assign(operation, { ...ending, returned: this.#time++, returnedAt }))
  }
}

/** As a trace has it; and no client can change it any more. */
const asJson = (value: unknown): unknown => {
  const text = JSON.stringify(value)
  return text === undefined ? undefined : JSON.parse(text)
}
