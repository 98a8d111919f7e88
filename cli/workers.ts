import { type ChildProcess, fork } from 'node:child_process'
import { extname, join } from 'node:path'
import type { Budget } from '../checker/budget.ts'
import type { Cell } from '../checker/cell.ts'
import type { Outcome, Task } from '../checker/task.ts'
import { onCpus } from '../harness/hold/affinity.ts'
import { errorOf } from './failure.ts'
import type { Answer, Demand, Order } from './worker.ts'

const program = join(import.meta.dirname, `worker${extname(import.meta.filename)}`)

/**
 * Marks of nodes' memory count as much as the heap itself: limits that V8 begins with let it collect every few executions,
 * an eighth of a worker's time.
 */
const memory = ['--initial-old-space-size=256', '--max-semi-space-size=64', '--min-semi-space-size=16']

/** So often a task is given to a new process after one ended with it. */
const deathsMax = 2

/** A cell in a process of its own. What a process that dies leaves undone is done by the next one. */
export class Worker implements Cell {
  readonly #order: Order
  readonly #cpus: readonly number[]
  #process: ChildProcess | undefined

  /** @param cpus that it may use until it holds its nodes on one of them, and beside */
  constructor(order: Order, cpus: readonly number[]) {
    this.#order = order
    this.#cpus = cpus
    this.#start()
  }

  /** @throws WorkerFailed for an error that the process has explained */
  async perform(task: Task, variant: number, budget: Budget): Promise<Outcome> {
    for (let deaths = 0; ; ) {
      budget.check()
      const answer = await this.#ask({ task, variant, milliseconds: budget.milliseconds }, budget)
      if (typeof answer === 'object') {
        if ('failure' in answer) throw errorOf(answer.failure)
        return answer.outcome
      }
      deaths += 1
      if (deaths > deathsMax) throw new Error(`a worker ended ${answer} with the same execution ${deaths} times`)
    }
  }

  /** Lets go of the process, and waits for its end. */
  async end(): Promise<void> {
    const worker = this.#process
    if (!worker) return
    await new Promise<void>(resolve => {
      worker.once('exit', () => resolve())
      if (worker.connected) worker.disconnect()
    })
  }

  #start(): ChildProcess {
    // What a configuration prints must not come after the command's own last line.
    const worker = onCpus(this.#cpus, () =>
      fork(program, {
        execArgv: [...process.execArgv, ...memory],
        stdio: ['ignore', 2, 2, 'ipc'],
        serialization: 'advanced',
      }),
    )
    this.#process = worker
    worker.once('exit', (code, killedBy) => {
      if (killedBy)
        process.stderr.write(`lastnail: a worker ended ${howOf(code, killedBy)}; what it did is done again\n`)
      if (this.#process === worker) this.#process = undefined
    })
    // Whoever asks it next learns of its end.
    worker.on('error', () => undefined)
    worker.send(this.#order)
    return worker
  }

  /** Its answer, or how it ended without one. */
  #ask(demand: Demand, budget: Budget): Promise<Answer | string> {
    const worker = this.#process ?? this.#start()
    return new Promise(resolve => {
      const forget = budget.onAbort(() => void (worker.connected && worker.send('cancel')))
      const take = (answer: Answer | string) => {
        forget()
        worker.off('message', take).off('exit', exit)
        resolve(answer)
      }
      const exit = (code: number | null, killedBy: string | null) => take(howOf(code, killedBy))
      worker.once('message', take).once('exit', exit)
      worker.send(demand)
    })
  }
}

const howOf = (code: number | null, killedBy: string | null): string =>
  killedBy ? `by ${killedBy}` : `with code ${code}`
