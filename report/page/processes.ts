import { ShownExecution } from '../model/execution.ts'
import { type Story, storyOf } from '../model/story.ts'
import type { Moved, Ran, Saved, Served } from '../page-data.ts'
import { unpack } from './unpack.ts'

/** Where the processes are, and a new story to show if it has changed. */
export interface Whereabouts {
  readonly at: number
  readonly isBranch: boolean
  readonly story: Story | undefined
}

/** The processes behind a served page. A request that fails rejects with an `Error` whose message says why. */
export class ServedProcesses {
  readonly #served: Served

  /** Where the processes were when the page was made. */
  get place(): Pick<Whereabouts, 'at' | 'isBranch'> {
    return this.#served
  }

  constructor(served: Served) {
    this.#served = served
  }

  /** Goes to a step. */
  go(step: number): Promise<Whereabouts> {
    return this.#move('go', { step })
  }

  /** Goes to a step and takes a choice there. Unless the trace has the same choice, this begins a branch. */
  take(step: number, label: string): Promise<Whereabouts> {
    return this.#move('take', { step, label })
  }

  /** Leaves a branch and goes to the last step that it has in common with the trace. */
  leave(): Promise<Whereabouts> {
    return this.#move('leave', {})
  }

  /** Writes the steps up to the present one as a trace, and returns its path. */
  async save(): Promise<string> {
    return (await this.#ask<Saved>('save', {})).path
  }

  /** Goes to a step and runs a program in a node. */
  run(step: number, node: string, program: readonly string[]): Promise<Ran> {
    return this.#ask<Ran>('run', { step, node, program })
  }

  async #move(action: string, asked: object): Promise<Whereabouts> {
    const { packed, ...place } = await this.#ask<Moved>(action, asked)
    if (packed === undefined) return { ...place, story: undefined }
    const { trace, live } = await unpack(packed)
    return { ...place, story: storyOf(new ShownExecution(trace), live && new ShownExecution(live)) }
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
