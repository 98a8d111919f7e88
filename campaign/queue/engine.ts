import PQueue from 'p-queue'
import type { Answer, Job } from './job.ts'

/** Does jobs, many at once: in this process's own workers, or in those of any machines that take from a queue. */
export interface Engine {
  /** How many jobs are worth being under way at once. */
  readonly width: number
  /**
   * Answers in the order of its tasks.
   *
   * @throws GivenUp where nobody could do it
   */
  perform(job: Job): Promise<readonly Answer[]>
  /** Who does what, a line each. */
  workers(): Promise<readonly string[]>
  /** Ends it; jobs under way are not waited for. */
  close(): Promise<void>
}

/** A job that ended the process, or the machine, of each worker that took it. */
export class GivenUp extends Error {
  override readonly name = 'GivenUp'
}

/** Where jobs are done, one at a time. */
export interface Performer {
  perform(job: Job): Promise<readonly Answer[]>
  end(): Promise<void>
}

/** Performers, each with a job at a time. */
export class Performers {
  readonly #all: readonly Performer[]
  readonly #free: Performer[]
  readonly #queue: PQueue

  constructor(performers: readonly Performer[]) {
    this.#all = performers
    this.#free = [...performers]
    this.#queue = new PQueue({ concurrency: performers.length })
  }

  get size(): number {
    return this.#all.length
  }

  get busy(): number {
    return this.#all.length - this.#free.length
  }

  perform(job: Job): Promise<readonly Answer[]> {
    return this.#queue.add(async () => {
      const performer = this.#free.pop()!
      try {
        return await performer.perform(job)
      } finally {
        this.#free.push(performer)
      }
    })
  }

  async end(): Promise<void> {
    this.#queue.clear()
    await Promise.all(this.#all.map(performer => performer.end()))
  }
}

/** The engine of a campaign on this machine alone. */
export class LocalEngine implements Engine {
  readonly #performers: Performers

  constructor(performers: Performers) {
    this.#performers = performers
  }

  get width(): number {
    return this.#performers.size
  }

  perform(job: Job): Promise<readonly Answer[]> {
    return this.#performers.perform(job)
  }

  async workers(): Promise<readonly string[]> {
    return [`this machine: ${this.#performers.busy} of ${this.#performers.size} at work`]
  }

  close(): Promise<void> {
    return this.#performers.end()
  }
}
