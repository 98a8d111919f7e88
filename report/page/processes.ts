import { Execution } from '../model/execution.ts'
import { type Story, storyOf } from '../model/story.ts'
import type { Moved, Ran, Saved, Served } from '../page-data.ts'
import { unpack } from './unpack.ts'

/** Where the processes stand, and what the page then shows, where that has changed. */
export interface Place {
  readonly at: number
  readonly isBranch: boolean
  readonly story: Story | undefined
}

/** The processes behind a page that is served. What it asks for rejects with an `Error` that says what is wrong. */
export class Processes {
  readonly #served: Served

  /** Where they stood when the page was made. */
  get place(): Pick<Place, 'at' | 'isBranch'> {
    return this.#served
  }

  constructor(served: Served) {
    this.#served = served
  }

  /** Brings them to a step. */
  go(step: number): Promise<Place> {
    return this.#move('go', { step })
  }

  /** Brings them to a step, and has them make a choice there: a branch, unless it is the one that was recorded. */
  take(step: number, label: string): Promise<Place> {
    return this.#move('take', { step, label })
  }

  /** Has them leave a branch, for the last step that it has in common with the trace. */
  leave(): Promise<Place> {
    return this.#move('leave', {})
  }

  /** Writes the steps up to where they stand as a trace; gives its path. */
  async save(): Promise<string> {
    return (await this.#ask<Saved>('save', {})).path
  }

  /** Brings them to a step, and runs a program in one of them. */
  run(step: number, node: string, program: readonly string[]): Promise<Ran> {
    return this.#ask<Ran>('run', { step, node, program })
  }

  async #move(action: string, asked: object): Promise<Place> {
    const { packed, ...place } = await this.#ask<Moved>(action, asked)
    if (packed === undefined) return { ...place, story: undefined }
    const { trace, live } = await unpack(packed)
    return { ...place, story: storyOf(new Execution(trace), live && new Execution(live)) }
  }

  async #ask<Answer>(action: string, asked: object): Promise<Answer> {
    const response = await fetch(`/${action}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.#served.token}`, 'content-type': 'application/json' },
      body: JSON.stringify(asked),
    })
    const answer = await response.json()
    if (!response.ok) throw new Error(answer.error)
    return answer
  }
}
