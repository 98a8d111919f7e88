import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { extname, join } from 'node:path'
import type { Budget } from '../checker/budget.ts'
import type { Cell } from '../checker/cells/cell.ts'
import type { Task, TaskOutcome } from '../checker/cells/task.ts'
import { Unfaithful } from '../checker/errors.ts'
import { labelOf, type NodeOutcome, type NodeTask } from '../checker/node-system.ts'
import { labelsTo } from '../checker/start.ts'
import { removeAbandoned } from '../harness/files/run-directory.ts'
import { onCpus } from '../harness/hold/affinity.ts'
import { isInterrupted } from '../harness/hold/interruption.ts'
import { putProcessFirst } from '../harness/hold/turns.ts'
import { addNotes, type CountedNotes } from '../harness/notes.ts'
import { exitCode, WorkerFailed } from './exit-code.ts'
import { errorOf } from './failure.ts'
import { whenStarved } from './starved.ts'
import { whenStopped } from './stopped.ts'
import type { Answer, Demand, Order } from './worker.ts'

const program = join(import.meta.dirname, `worker${extname(import.meta.filename)}`)

/**
 * Marks of nodes' memory count as much as the heap itself: limits that V8 begins with let it collect every few executions,
 * an eighth of a worker's time.
 */
const memory = ['--initial-old-space-size=256', '--max-semi-space-size=64', '--min-semi-space-size=16']

/** How long a worker may take, in milliseconds, before it counts as one that does nothing any more. */
export interface Patience {
  /** For a task, where no budget says less: an execution takes seconds. */
  readonly taskMs: number
  /** For a step beside that, in which it hears nothing: after this at the most it gives up a node. */
  readonly stepMs: number
}

const defaultPatience: Patience = { taskMs: 600_000, stepMs: 120_000 }
/** How a worker ended that was killed for it. */
const hung = 'because it did not answer any more'
/** Within which a worker that is let go of ends its nodes. */
const endMsMax = 30_000

/** So often a worker goes to another CPU: what uses its own may go there too. */
const movesMax = 4

/** So often a task is given to a new process after one ended with it. */
const deathsMax = 2
/** A worker that was interrupted ends in so much time. */
const lastMs = 500

/** A cell in a process of its own. What a process that dies leaves undone is done by the next one. */
export class Worker implements Cell {
  #order: Order
  /** What the present process has said of its nodes, and what those before it had. */
  #notes: CountedNotes = new Map()
  #notesBefore: CountedNotes = new Map()
  readonly #cpus: readonly number[]
  readonly #patience: Patience
  #process: ChildProcess | undefined
  #movesLeft = movesMax
  /** One that was killed because its CPU was taken. */
  #moved: ChildProcess | undefined

  /** @param cpus that it may use until it holds its nodes on one of them, and beside */
  constructor(order: Order, cpus: readonly number[], patience = defaultPatience) {
    this.#order = order
    this.#cpus = cpus
    this.#patience = patience
    this.#start()
  }

  /** What of its nodes could not be held, or brought back. */
  get notes(): CountedNotes {
    return addNotes([this.#notesBefore, this.#notes])
  }

  /** @throws WorkerFailed for an error that the process has explained */
  async perform(task: Task, variant: number, budget: Budget): Promise<TaskOutcome> {
    return (await this.#perform(task, variant, budget)) as TaskOutcome
  }

  /** @throws WorkerFailed for an error that the process has explained */
  async performAlone(task: NodeTask, variant: number, budget: Budget): Promise<NodeOutcome> {
    return (await this.#perform(task, variant, budget)) as NodeOutcome
  }

  async #perform(task: Task | NodeTask, variant: number, budget: Budget): Promise<TaskOutcome | NodeOutcome> {
    for (let deaths = 0; ; ) {
      budget.check()
      const answer = await this.#ask({ task, variant, milliseconds: budget.milliseconds }, budget)
      if (typeof answer === 'object') {
        if ('failure' in answer) throw errorOf(answer.failure)
        this.#notes = answer.notes
        return answer.outcome
      }
      // It has said why: something in the configuration ended it.
      if (answer === howOf(exitCode.usage, null)) throw new WorkerFailed({ code: exitCode.usage, lines: [] })
      if (this.#moved && !this.#process) {
        this.#moved = undefined
        continue
      }
      deaths += 1
      if (answer === hung) budget.check()
      if (answer === hung || deaths > deathsMax)
        throw new Unfaithful(
          0,
          lastOf(task),
          `a worker ended ${answer} with it, ${deaths === 1 ? 'once' : `${deaths} times`}`,
        )
    }
  }

  /** The next process starts its nodes anew for each execution. */
  async stopRewinding(): Promise<boolean> {
    if (this.#order.rewind === false) return false
    this.#order = { ...this.#order, rewind: false }
    await this.end()
    return true
  }

  /** Whether turns are long in its process. */
  get hasLongTurns(): boolean {
    return this.#order.longTurns === true
  }

  /** The next process holds its nodes with long turns. */
  async lengthenTurns(): Promise<boolean> {
    if (this.hasLongTurns) return false
    this.#order = { ...this.#order, longTurns: true }
    await this.end()
    return true
  }

  /** Lets go of the process, and waits for its end: not for ever, and not for long where this command is interrupted. */
  async end(): Promise<void> {
    const worker = this.#process
    if (!worker) return
    const ended = once(worker, 'exit')
    if (worker.connected) worker.disconnect()
    if (isInterrupted()) endSoon(worker)
    else killLater(worker, endMsMax)
    await ended
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
    this.#notesBefore = this.notes
    this.#notes = new Map()
    worker.once('exit', (code, killedBy) => {
      if (killedBy && isInterrupted()) removeAbandoned()
      else if (killedBy && this.#moved !== worker)
        process.stderr.write(`lastnail: a worker ended ${howOf(code, killedBy)}; what it did is done again\n`)
      if (this.#process === worker) this.#process = undefined
    })
    // Whoever waits for it, or asks it next, learns of its end.
    const watches = [
      whenStopped(worker.pid, () => kill(worker)),
      whenStarved(worker.pid, this.#order.cpu, this.#movesLeft > 0 ? this.#cpus : [], cpu => this.#move(worker, cpu)),
    ]
    worker.once('exit', () => {
      for (const forget of watches) forget()
    })
    worker.on('error', () => undefined)
    worker.send(this.#order)
    return worker
  }

  /** Goes on on another CPU, with another process. */
  #move(worker: ChildProcess, cpu: number): void {
    process.stderr.write(
      `lastnail: something else uses CPU ${this.#order.cpu}: a worker goes on on CPU ${cpu}, and what it did is done again\n`,
    )
    this.#order = { ...this.#order, cpu }
    this.#movesLeft -= 1
    this.#moved = worker
    kill(worker)
  }

  /** Its answer, or how it ended without one. */
  #ask(demand: Demand, budget: Budget): Promise<Answer | string> {
    const worker = this.#process ?? this.#start()
    const { taskMs, stepMs } = this.#patience
    return new Promise(resolve => {
      const giveUp = () => {
        kill(worker)
        take(hung)
      }
      let late = setTimeout(giveUp, Math.min(budget.milliseconds, taskMs) + stepMs)
      const forget = budget.onAbort(() => {
        if (worker.connected) worker.send('cancel')
        clearTimeout(late)
        late = setTimeout(giveUp, stepMs)
        if (isInterrupted()) endSoon(worker)
      })
      const take = (answer: Answer | string) => {
        clearTimeout(late)
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

const lastOf = (task: Task | NodeTask): string => {
  if ('start' in task) return labelsTo(task.start).at(-1) ?? 'the start'
  const last = task.inputs.at(-1)
  return last ? labelOf(last) : `the start of ${task.node}`
}

/** Ends a worker that was asked to end and does not in time. */
const killLater = (worker: ChildProcess, milliseconds: number): void => {
  const killing = setTimeout(() => kill(worker), milliseconds)
  worker.once('exit', () => clearTimeout(killing))
}

/** Ends a worker in time: in the middle of a step it hears nothing but a signal, and its nodes may keep its CPU. */
const endSoon = (worker: ChildProcess): void => {
  if (worker.killed) return
  putProcessFirst(worker.pid!)
  worker.kill('SIGTERM')
  killLater(worker, lastMs)
}

const kill = (worker: ChildProcess): void => {
  putProcessFirst(worker.pid!)
  worker.kill('SIGKILL')
}

const howOf = (code: number | null, killedBy: string | null): string =>
  killedBy ? `by ${killedBy}` : `with code ${code}`
