import type { Operation } from '../../checker/history/operation.ts'
import type { Asked, Perform } from '../config/config.ts'
import { asJson } from './as-json.ts'

/**
 * An operation throws this to say that it certainly did not happen. After any other error it may have happened, or may
 * happen later.
 */
export class DidNotHappen extends Error {
  override readonly name = 'DidNotHappen'
}

/** An operation, as known so far. */
interface Entry {
  operation: Operation
}

/** The operations of an execution, as clients invoke them and as they return. */
export class History {
  readonly #entries: Entry[]
  #operations: readonly Operation[]
  /** Invocations and returns since the last step ended, in order. */
  #events: ((step: number) => void)[] = []
  #time: number

  /** @param before the history of an execution that continues here, without operations in progress */
  constructor(before: readonly Operation[] = []) {
    this.#entries = before.map(operation => ({ operation }))
    this.#operations = before
    this.#time = before.length + before.filter(({ returned }) => returned !== undefined).length
  }

  /** In the order of invocation. The array stays the same object while there is nothing new. */
  get operations(): readonly Operation[] {
    return this.#operations
  }

  /** Returns the function by which this client performs operations. */
  performerOf(process: string): Perform {
    return async (asked, perform) => {
      const entry = this.#invoke(process, asked)
      try {
        const result = await perform()
        this.#return(entry, { outcome: 'ok', result: asJson(`clients.${process}, the result of ${asked.op}`, result) })
        return result
      } catch (error) {
        if (error instanceof DidNotHappen) this.#return(entry, { outcome: 'failed' })
        throw error
      }
    }
  }

  /** Assigns what happened since the last step to this one. */
  endStep(step: number): void {
    if (this.#events.length === 0) return
    for (const event of this.#events.splice(0)) event(step)
    this.#operations = this.#entries.map(({ operation }) => operation)
  }

  #invoke(process: string, { op, key, value }: Asked): Entry {
    const entry: Entry = {
      operation: {
        process,
        op,
        key,
        value: asJson(`clients.${process}, the value of ${op}`, value),
        outcome: 'unknown',
        invoked: 0,
      },
    }
    this.#events.push(invokedAt => {
      this.#entries.push(entry)
      entry.operation = { ...entry.operation, invoked: this.#time++, invokedAt }
    })
    return entry
  }

  #return(entry: Entry, ending: Pick<Operation, 'outcome' | 'result'>): void {
    this.#events.push(returnedAt => {
      entry.operation = { ...entry.operation, ...ending, returned: this.#time++, returnedAt }
    })
  }
}
