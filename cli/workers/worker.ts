import '../command/optimise-late.ts'
import { on } from 'node:events'
import { OwnCell } from '../../checker/cells/cell.ts'
import { isOfNode } from '../../checker/cells/task.ts'
import { Budget } from '../../checker/system/budget.ts'
import type { GlobalState } from '../../harness/config/config.ts'
import type { CountedNotes } from '../../harness/config/notes.ts'
import { endWithParent } from '../../harness/hold/turns/interruption.ts'
import type { Timing } from '../../harness/timed/timing.ts'
import { exitCode } from '../command/exit-code.ts'
import { allowsFindings, propertiesFor, type Sought } from '../config/goal.ts'
import { loadConfig } from '../config/load-config.ts'
import { inSession } from '../session/session.ts'
import { catchStrays, endsItself, refuseExit, strays } from '../session/stray.ts'
import { forgetClosingThreads } from './closing-threads.ts'
import { type Failure, sentFailure } from './failure.ts'
import { InCommon, type SentOutcome, type SentTask } from './in-common.ts'

/** The first message to a worker. */
export interface WorkerOrder extends Sought {
  readonly file: string
  /** Directory of the same file's compiled JavaScript, if it has been loaded before. */
  readonly translated?: string
  /** Seed of the nodes' random numbers. */
  readonly seed?: number | undefined
  /** Whether processes are rewound instead of started again; true by default. */
  readonly rewind?: boolean | undefined
  /** Whether turns are long; false by default. */
  readonly longTurns?: boolean | undefined
  /** What the nodes' clocks show first. */
  readonly clocksStart: string
  /** Makes time decide what happens. */
  readonly timing?: Timing | undefined
  /** The CPU for its nodes. */
  readonly cpu: number
  /** Whether the machine is known to have what is needed; false by default. */
  readonly isAble?: boolean
}

/** A later message to a worker, sent when the one before was answered. `'cancel'` ends the present one. */
export interface Demand {
  readonly task: SentTask
  readonly variant: number
  /** Time limit, by `Date.now()`; infinite without one. The worker may begin later than it is told. */
  readonly until: number
}

/** A worker's answer. An answer before any demand is a failure to begin. */
export type WorkerAnswer =
  /** The notes are those of the process since it began. */
  { readonly outcome: SentOutcome; readonly notes: CountedNotes } | { readonly failure: Failure }

/** The demands that this process receives, from construction on. */
class Demands {
  #abort = new AbortController()
  readonly #messages = on(process, 'message', { close: ['disconnect'] })

  constructor() {
    process.on('message', message => {
      if (message === 'cancel') this.#abort.abort()
      else this.#abort = new AbortController()
    })
    process.once('disconnect', () => this.#abort.abort())
  }

  /** Each demand with a signal that cancels it. */
  async *[Symbol.asyncIterator](): AsyncGenerator<readonly [Demand, AbortSignal]> {
    for await (const [message] of this.#messages)
      if (message !== 'cancel') yield [message as Demand, this.#abort.signal]
  }
}

/** The program of a worker process: a cell for a search, until its parent disconnects. */
const work = async (
  { file, translated, seed, cpu, rewind, longTurns, clocksStart, timing, isAble, ...sought }: WorkerOrder,
  demands: Demands,
): Promise<void> => {
  const config = await loadConfig(file, translated)
  await inSession(
    config,
    { seed, cpu, rewind, longTurns, clocksStart, timing, isAble },
    async ({ cluster, system }) => {
      const cell = new OwnCell(cluster, propertiesFor(system, sought), {
        weights: system.weights,
        nodes: cluster.nodesToSearch,
        allowFindings: allowsFindings(sought),
      })
      await cell.prepare()
      const inCommon = new InCommon()
      for await (const [demand, signal] of demands)
        await send(await answer(cell, demand, { inCommon, signal, notes: () => cluster.countedNotes() }))
      await cell.end()
    },
  )
}

interface Answering {
  readonly inCommon: InCommon
  readonly signal: AbortSignal
  readonly notes: () => CountedNotes
}

const answer = async (
  cell: OwnCell<GlobalState>,
  { task: sent, variant, until }: Demand,
  { inCommon, signal, notes }: Answering,
): Promise<WorkerAnswer> => {
  const task = inCommon.taskReceived(sent)
  try {
    const budget = new Budget({ milliseconds: until - Date.now(), signal }, new Budget({ signal: strays.signal }))
    const outcome = isOfNode(task)
      ? await cell.performAlone(task, variant, budget)
      : await cell.perform(task, variant, budget)
    strays.check()
    const told = notes()
    // Encoded last: encoding changes the table that both processes share, so nothing may fail after it.
    return { outcome: inCommon.outcomeToSend(outcome), notes: told }
  } catch (error) {
    return { failure: sentFailure(strays.error ?? error) }
  }
}

/** If the parent has ended, nobody needs the answer. */
const send = (answer: WorkerAnswer) =>
  new Promise<void>(resolve => (process.connected ? process.send!(answer, () => resolve()) : resolve()))

const end = (): never => {
  endsItself()
  process.exit()
}

forgetClosingThreads()
endWithParent()
catchStrays(error => void send({ failure: sentFailure(error) }).then(end))
refuseExit(exitCode.usage)
// Nothing is left to do: the parent disconnected while an answer was on its way. No configuration ended this process.
process.once('beforeExit', end)
process.once('message', async order => {
  await work(order as WorkerOrder, new Demands()).catch(error => send({ failure: sentFailure(error) }))
  end()
})
