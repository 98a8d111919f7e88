import { type ChildProcess, fork } from 'node:child_process'
import { extname, join } from 'node:path'
import type { PredictionCounts, RoundOutcome } from '../../harness/steering/predictor.ts'
import { onCpus } from '../../linux/affinity.ts'
import { withClosingThreads } from '../workers/closing-threads.ts'
import { noticeEnd } from '../workers/notice-end.ts'
import type { FollowedStep, FollowerAnswer, FollowerOrder } from './follower.ts'

const program = join(import.meta.dirname, `follower${extname(import.meta.filename)}`)

/** Limit on the end of the follower, in milliseconds: its work is of no use then. */
const endMsMax = 2000

const nothing: PredictionCounts = {
  ...{ rounds: 0, inputs: 0, transitions: 0, seconds: 0 },
  ...{ unmarked: 0, predicted: 0, vain: 0, unhelped: 0 },
}

/**
 * A process beside a run that executes the same steps on nodes of its own, and predicts from there. The run never waits for it, and
 * goes on as without if it ends.
 */
export class Follower {
  counts: PredictionCounts = nothing
  /** By how many milliseconds it was behind the run at most. */
  behindMsMax = 0
  /** Why it has ended before the run. */
  ended: string | undefined
  readonly #process: ChildProcess
  readonly #exit: Promise<void>
  #isOver = false
  #toldMs = 0
  #doneMs = 0

  /** @param cpus that it may use */
  constructor(
    order: FollowerOrder,
    {
      cpus,
      onRound,
    }: { readonly cpus: readonly number[]; onRound(from: { step: number; atMs: number }, outcome: RoundOutcome): void },
  ) {
    const child = onCpus(cpus, () =>
      fork(program, {
        execArgv: process.execArgv,
        env: withClosingThreads(process.env),
        stdio: ['ignore', 2, 2, 'ipc'],
        serialization: 'advanced',
      }),
    )
    this.#process = child
    if (child.pid !== undefined) noticeEnd(child)
    // A process that could not be started does not report its end.
    this.#exit = new Promise(resolve => {
      child.on('error', error => {
        this.#end(error.message)
        resolve()
      })
      child.once('exit', (code, signal) => {
        this.#end(`it ended by ${signal ?? `exit code ${code}`}`)
        resolve()
      })
    })
    child.on('message', ({ atMs, counts, round, failed }: FollowerAnswer) => {
      if (failed !== undefined) return this.#end(failed)
      this.#doneMs = atMs
      this.counts = counts
      this.behindMsMax = Math.max(this.behindMsMax, this.behindMs)
      if (round && !this.#isOver) onRound(round, round.outcome)
    })
    child.send(order)
  }

  /** By how many milliseconds it is behind the run, as far as it has said. */
  get behindMs(): number {
    return this.ended === undefined ? Math.max(0, this.#toldMs - this.#doneMs) : 0
  }

  /** The process, for tests. */
  get pid(): number | undefined {
    return this.#process.pid
  }

  /** Tells it of a step, and does not wait. */
  tell(step: FollowedStep): void {
    this.#toldMs = step.atMs
    if (this.#process.connected && !this.#isOver) this.#process.send(step, () => undefined)
  }

  /** Ends the process. */
  async end(): Promise<void> {
    this.#isOver = true
    if (this.#process.connected) this.#process.disconnect()
    const kill = setTimeout(() => this.#process.kill('SIGKILL'), endMsMax)
    await this.#exit
    clearTimeout(kill)
  }

  #end(why: string): void {
    if (!this.#isOver) this.ended ??= why
  }
}
