import { type Performer, Performers } from '../../campaign/queue/engine.ts'
import type { Job, JobAnswer } from '../../campaign/queue/job.ts'
import { Budget } from '../../checker/system/budget.ts'
import { allowedCpus } from '../../linux/affinity.ts'
import { sentFailure } from './failure.ts'
import { defaultPatience, Worker } from './workers.ts'

/** At most this many worker processes are kept, each with the nodes of one system. More would take more memory. */
const workersKept = 3

/** Without this, the counts of a campaign would depend on what else its machines do. */
const patience = { ...defaultPatience, disturbances: 2 }

/** Does jobs on one CPU, with a worker process for each system. */
class Slot implements Performer {
  readonly #cpu: number
  readonly #cpus: readonly number[]
  /** By campaign, system and options. The most recently used one is last. */
  readonly #workers = new Map<string, Worker>()
  readonly #abort = new AbortController()

  constructor(cpu: number, cpus: readonly number[]) {
    this.#cpu = cpu
    this.#cpus = cpus
  }

  async perform(job: Job): Promise<readonly JobAnswer[]> {
    const worker = await this.#workerFor(job)
    const answers: JobAnswer[] = []
    for (const { task, variant } of job.tasks) {
      try {
        const outcome = await worker.perform(task, variant, new Budget({ signal: this.#abort.signal }))
        answers.push({ outcome, notes: [...worker.notes.keys()] })
      } catch (error) {
        answers.push({ failure: sentFailure(error) })
      }
    }
    return answers
  }

  async end(): Promise<void> {
    this.#abort.abort()
    await Promise.all([...this.#workers.values()].map(worker => worker.end()))
  }

  async #workerFor({ campaign, config, property, seed, clocksStart }: Job): Promise<Worker> {
    const key = JSON.stringify([campaign, config, property, seed, clocksStart])
    const order = { file: config, seed, clocksStart, property, cpu: this.#cpu }
    const worker = this.#workers.get(key) ?? new Worker(order, this.#cpus, patience)
    this.#workers.delete(key)
    this.#workers.set(key, worker)
    const [oldest] = this.#workers
    if (this.#workers.size > workersKept && oldest) {
      this.#workers.delete(oldest[0])
      await oldest[1].end()
    }
    return worker
  }
}

/** Slots for jobs, each on a CPU of its own if there are enough. */
export const slots = (count: number): Performers => {
  const cpus = allowedCpus()
  return new Performers(Array.from({ length: count }, (_, index) => new Slot(cpus[index % cpus.length]!, cpus)))
}
