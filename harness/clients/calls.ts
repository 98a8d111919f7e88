import type { ClientCall } from '../config/config.ts'

type Mutable<T> = { -readonly [Key in keyof T]: T[Key] }

/** A call, with what properties do not see of it. */
export interface KnownCall extends ClientCall {
  /** Its last HTTP response in words, if that was an error (a status of 400 or more). */
  readonly refusal?: string | undefined
}

/** Receives the answers of a call that has begun. */
export interface Begun {
  /** The result of the call, which completes when the step ends. */
  readonly settle: (result: Partial<ClientCall>) => void
  /** An HTTP response: in words if it is an error. */
  readonly answer: (refusal: string | undefined) => void
}

/** Whether a call ended without what was asked for. */
export const hasFailed = ({ completedAt, error, refusal }: KnownCall): boolean =>
  completedAt !== undefined && (error !== undefined || refusal !== undefined)

const isOpen = ({ completedAt }: ClientCall): boolean => completedAt === undefined

/** The clients' calls in an execution, as they begin and end. */
export class Calls {
  readonly #all: Mutable<KnownCall>[]
  readonly #inProgress: Set<ClientCall>
  /** Copies of all calls. Undefined after a change. */
  #copies: readonly ClientCall[] | undefined
  /** The copies of ended calls, which never change. */
  readonly #over = new WeakMap<KnownCall, ClientCall>()
  /** Called when the step ends: each completes a call whose promise was settled. */
  readonly #settled: ((step: number) => KnownCall)[] = []

  /** @param before the calls of an execution that continues here */
  constructor(before: readonly KnownCall[] = []) {
    this.#all = before.map(call => ({ ...call }))
    this.#inProgress = new Set(this.#all.filter(isOpen))
  }

  get areInProgress(): boolean {
    return this.#inProgress.size > 0
  }

  /** Clients that wait for an answer, in the order in which they began to. */
  get callers(): ReadonlySet<string> {
    return new Set([...this.#inProgress].map(({ client }) => client))
  }

  /** The client of the last call that began and has not ended. */
  get lastCaller(): string | undefined {
    return [...this.#inProgress].at(-1)?.client
  }

  of(client: string): readonly KnownCall[] {
    return this.#all.filter(call => call.client === client)
  }

  /** The present calls. The array stays the same object while none begins or ends. */
  shown(): readonly ClientCall[] {
    this.#copies ??= this.#all.map(call => {
      const known = this.#over.get(call)
      if (known) return known
      const { refusal: _, ...copy } = call
      if (!isOpen(call)) this.#over.set(call, copy)
      return copy
    })
    return this.#copies
  }

  mark(): readonly KnownCall[] {
    return this.#all.map(call => ({ ...call }))
  }

  begin(client: string, ordinal: number, step: number): Begun {
    const call: Mutable<KnownCall> = {
      client,
      ordinal,
      invokedAt: step,
      completedAt: undefined,
      value: undefined,
      error: undefined,
    }
    this.#all.push(call)
    this.#inProgress.add(call)
    this.#copies = undefined
    return {
      settle: result => {
        this.#settled.push(completedAt => {
          Object.assign(call, { ...result, completedAt })
          this.#inProgress.delete(call)
          this.#copies = undefined
          return call
        })
      },
      answer: refusal => {
        call.refusal = refusal
      },
    }
  }

  /** Completes, in this step, all calls that have their result. Returns them. */
  endStep(step: number): readonly KnownCall[] {
    return this.#settled.splice(0).map(complete => complete(step))
  }
}
