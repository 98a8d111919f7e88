import { type ChildProcess, fork } from 'node:child_process'
import { extname, join } from 'node:path'
import type { Cell } from '../../checker/cells/cell.ts'
import type { NodeOutcome, NodeTask, Task, TaskOutcome } from '../../checker/cells/task.ts'
import type { Budget } from '../../checker/system/budget.ts'
import { Unfaithful } from '../../checker/system/errors.ts'
import { labelsTo } from '../../checker/system/start.ts'
import { addNotes, type CountedNotes } from '../../harness/config/notes.ts'
import { removeAbandoned } from '../../harness/files/run-directory.ts'
import { isInterrupted } from '../../harness/hold/turns/interruption.ts'
import { putProcessFirst } from '../../harness/hold/turns/turns.ts'
import { onCpus } from '../../linux/affinity.ts'
import { exitCode, MachineLacks, WorkerFailed } from '../command/exit-code.ts'
import { withClosingThreads } from './closing-threads.ts'
import { errorOf, sentFailure } from './failure.ts'
import { InCommon } from './in-common.ts'
import { noticeEnd } from './notice-end.ts'
import { StarvationWatch } from './starved.ts'
import { whenStopped } from './stopped.ts'
import type { Demand, WorkerAnswer, WorkerOrder } from './worker.ts'

const program = join(import.meta.dirname, `worker${extname(import.meta.filename)}`)

/**
 * V8 counts the marks of nodes' memory as heap. With its default initial limits it would collect every few executions,
 * which takes an eighth of a worker's time.
 */
const memory = ['--initial-old-space-size=256', '--max-semi-space-size=64', '--min-semi-space-size=16']

/** How long a worker may take before it counts as hung, in milliseconds. */
export interface Patience {
  /** Limit for a task without a shorter budget. An execution takes seconds. */
  readonly taskMs: number
  /**
   * Additional time for one step, during which it does not react. A node that does not become quiescent is given up
   * before this ends.
   */
  readonly stepMs: number
  /** How often an execution is done again that does not count because something else disturbed it; 0 by default. */
  readonly disturbances?: number
}

export const defaultPatience: Patience = { taskMs: 600_000, stepMs: 120_000 }
/** Why a worker was killed after running out of patience. */
const hung = 'because it did not answer any more'
/** Time within which a worker must end its nodes. */
const endMsMax = 30_000

/** At most this many, unless somebody asks for more. */
export const workersByDefault = 8

/** A worker moves to another CPU at most this many times. Whatever uses up its CPU may follow it. */
const movesMax = 4

/** After a process ended with a task, the task is given to a new process at most this many times. */
const deathsMax = 2
/** Time within which an interrupted worker must end. */
const lastMs = 500

/** A cell in a process of its own. If the process dies, a new one repeats its task. */
export class Worker implements Cell {
  #order: WorkerOrder
  /** Notes of the present process about its nodes, and those of earlier processes. */
  #notes: CountedNotes = new Map()
  #notesBefore: CountedNotes = new Map()
  readonly #cpus: readonly number[]
  readonly #patience: Patience
  #process: ChildProcess | undefined
  /** Outcomes that the present process knows already. */
  #inCommon = new InCommon()
  #movesLeft = movesMax
  /** A process that was killed because its CPU was taken. */
  #moved: ChildProcess | undefined
  /** A process that was killed because it did not answer. */
  #hung: ChildProcess | undefined
  /** Of the present process and of all earlier ones. */
  readonly starvation: StarvationWatch[] = []

  /** @param cpus that it may use; its nodes are held on one of them */
  constructor(order: WorkerOrder, cpus: readonly number[], patience = defaultPatience) {
    this.#order = order
    this.#cpus = cpus
    this.#patience = patience
    this.#start()
  }

  /** Notes on what could not be held or rewound in its nodes. */
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
    let disturbances = 0
    for (let deaths = 0; ; ) {
      budget.check()
      const answer = await this.#ask(task, variant, budget)
      if (typeof answer === 'object') {
        if ('outcome' in answer) {
          this.#notes = answer.notes
          return this.#inCommon.outcomeReceived(answer.outcome)
        }
        const error = errorOf(answer.failure)
        // A task that a short turn cut off would be cut off again.
        const isDisturbed = error instanceof Unfaithful && !error.isCutShort
        if (!isDisturbed || disturbances === (this.#patience.disturbances ?? 0)) throw error
        disturbances += 1
        continue
      }
      // The process has printed why: something in the configuration ended it.
      if (answer === howOf(exitCode.usage, null))
        throw new WorkerFailed({ code: exitCode.usage, error: 'configuration', lines: [] })
      if (this.#moved && !this.#process) {
        this.#moved = undefined
        continue
      }
      deaths += 1
      if (answer === hung) budget.check()
      if (answer === hung || deaths > deathsMax)
        throw new Unfaithful(
          0,
          labelsTo(task.start).at(-1) ?? 'the start',
          `a worker ended ${answer} with it, ${deaths === 1 ? 'once' : `${deaths} times`}`,
        )
    }
  }

  /** The next process starts new node processes for each execution. */
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

  /** Disconnects from the process and waits for its end, with a limit that is short if this command was interrupted. */
  async end(): Promise<void> {
    const worker = this.#process
    if (!worker || hasFailedToStart(worker)) return
    const ended = new Promise(resolve => worker.once('exit', resolve))
    if (worker.connected) worker.disconnect()
    if (isInterrupted()) endSoon(worker)
    else killLater(worker, endMsMax)
    await ended
  }

  #start(): ChildProcess {
    // Output of a configuration must not follow the command's own last line.
    const worker = onCpus(this.#cpus, () =>
      fork(program, {
        execArgv: [...process.execArgv, ...memory],
        env: withClosingThreads(process.env),
        stdio: ['ignore', 2, 2, 'ipc'],
        serialization: 'advanced',
      }),
    )
    this.#process = worker
    this.#inCommon = new InCommon()
    this.#notesBefore = this.notes
    this.#notes = new Map()
    worker.on('error', () => {
      // The next demand starts another one.
      if (hasFailedToStart(worker) && this.#process === worker) this.#process = undefined
    })
    if (hasFailedToStart(worker)) return worker
    noticeEnd(worker)
    worker.once('exit', (code, killedBy) => {
      if (killedBy && isInterrupted()) removeAbandoned()
      else if (killedBy && this.#moved !== worker)
        process.stderr.write(
          `lastnail: a worker ended ${this.#hung === worker ? hung : howOf(code, killedBy)}; what it did is done again\n`,
        )
      if (this.#process === worker) this.#process = undefined
    })
    // A caller that waits for the process, or the next one, learns of its end.
    const forget = whenStopped(worker.pid, () => kill(worker))
    const others = this.#movesLeft > 0 ? this.#cpus : []
    const watch = new StarvationWatch(worker.pid, this.#order.cpu, others, cpu => this.#move(worker, cpu))
    this.starvation.push(watch)
    worker.once('exit', () => {
      forget()
      watch.end()
    })
    worker.send(this.#order)
    return worker
  }

  /** Continues with another process on another CPU. */
  #move(worker: ChildProcess, cpu: number): void {
    process.stderr.write(
      `lastnail: something else uses CPU ${this.#order.cpu}: a worker goes on on CPU ${cpu}, and what it did is done again\n`,
    )
    this.#order = { ...this.#order, cpu }
    this.#movesLeft -= 1
    this.#moved = worker
    kill(worker)
  }

  /** The process's answer, or how it ended without one. */
  #ask(task: Task | NodeTask, variant: number, budget: Budget): Promise<WorkerAnswer | string> {
    const worker = this.#process ?? this.#start()
    const until = Date.now() + budget.milliseconds
    const demand: Demand = { task: this.#inCommon.taskToSend(task), variant, until }
    const { taskMs, stepMs } = this.#patience
    return new Promise(resolve => {
      const giveUp = () => {
        this.#hung = worker
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
      const take = (answer: WorkerAnswer | string) => {
        clearTimeout(late)
        forget()
        worker.off('message', take).off('exit', exit).off('error', error)
        resolve(answer)
      }
      const exit = (code: number | null, killedBy: string | null) => take(howOf(code, killedBy))
      const error = ({ message }: Error) => {
        if (hasFailedToStart(worker)) take({ failure: sentFailure(new MachineLacks(notStarted(message))) })
      }
      worker.once('message', take).once('exit', exit).on('error', error)
      if (!hasFailedToStart(worker)) worker.send(demand)
    })
  }
}

/** Such a process emits an error and never exits. */
const hasFailedToStart = ({ pid }: ChildProcess): boolean => pid === undefined

const notStarted = (why: string): string =>
  `a worker process cannot be started: ${why}; raise the limit on processes or files, or use fewer --workers`

/** Kills a worker that was asked to end, if it does not do so in time. */
const killLater = (worker: ChildProcess, milliseconds: number): void => {
  const killing = setTimeout(() => kill(worker), milliseconds)
  worker.once('exit', () => clearTimeout(killing))
}

/** Ends a worker soon. In the middle of a step it reacts only to a signal, and its nodes may use up its CPU. */
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
