import PQueue from 'p-queue'
import type { Job, JobAnswer } from './job.ts'

/**
 * Performs jobs, many at once: in this process's own workers, or in workers of any machines that take jobs from a
 * queue.
 */
export interface QueueEngine {
  /** How many jobs should be under way at once. */
  readonly width: number
  /**
   * Performs a job and returns answers in the order of its tasks.
   *
   * @throws GivenUp if nobody could do it
   */
  perform(job: Job): Promise<readonly JobAnswer[]>
  /** What each worker does, one line each. */
  workers(): Promise<readonly string[]>
  /** Ends the engine without waiting for jobs under way. */
  close(): Promise<void>
}

/** A job that ended the process or the machine of each worker that took it. */
export class GivenUp extends Error {
  override readonly name = 'GivenUp'
}

/** Does jobs, one at a time. */
export interface Performer {
  perform(job: Job): Promise<readonly JobAnswer[]>
  end(): Promise<void>
}

/** Several performers, each with one job at a time. */
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

  perform(job: Job): Promise<readonly JobAnswer[]> {
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

/** The engine of a campaign on this machine only. */
export class LocalEngine implements QueueEngine {
  readonly #performers: Performers

  constructor(performers: Performers) {
    this.#performers = performers
  }

  get width(): number {
    return this.#performers.size
  }

  perform(job: Job): Promise<readonly JobAnswer[]> {
    return this.#performers.perform(job)
  }

  async workers(): Promise<readonly string[]> {
    return [`this machine: ${this.#performers.busy} of ${this.#performers.size} at work`]
  }

  close(): Promise<void> {
    return this.#performers.end()
  }
}
