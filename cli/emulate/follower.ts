import '../command/optimise-late.ts'
import { on } from 'node:events'
import { Executor } from '../../checker/cells/executor.ts'
import { Diverged } from '../../checker/system/errors.ts'
import { labelsOf } from '../../checker/system/labels.ts'
import type { Cluster } from '../../harness/cluster.ts'
import { type GlobalState, resolveSystem } from '../../harness/config/config.ts'
import { endWithParent } from '../../harness/hold/turns/interruption.ts'
import { type PredictionCounts, Predictor, type RoundOutcome } from '../../harness/steering/predictor.ts'
import { Rounds } from '../../harness/steering/rounds.ts'
import type { TimedHappening, Timing } from '../../harness/timed/timing.ts'
import { exitCode, explainError } from '../command/exit-code.ts'
import { loadConfig } from '../config/load-config.ts'
import { inSession } from '../session/session.ts'
import { catchStrays, endsItself, refuseExit } from '../session/stray.ts'
import { forgetClosingThreads } from '../workers/closing-threads.ts'
import type { predictionMax } from './predictions.ts'

/** The first message to a follower. */
export interface FollowerOrder {
  readonly file: string
  readonly seed: number
  readonly clocksStart: string
  readonly timing: Timing
  /** The CPU for its nodes. */
  readonly cpu: number
  readonly everyMs: number
  readonly max: ReturnType<typeof predictionMax>
  readonly isSteered: boolean
  /** See `PredictorOptions`. */
  readonly roundMs?: number | undefined
}

/** A later message: a step of the run, or that its start is over. */
export interface FollowedStep {
  /** Undefined for the start. */
  readonly label: string | undefined
  readonly atMs: number
  /** The request of a person, if the step carries one out. */
  readonly input: TimedHappening | undefined
}

/** A message from a follower. */
export interface FollowerAnswer {
  /** The time of the last step that it has executed. */
  readonly atMs: number
  readonly counts: PredictionCounts
  /** Present after a round of prediction. */
  readonly round?: { readonly step: number; readonly atMs: number; readonly outcome: RoundOutcome }
  /** Why it has ended. */
  readonly failed?: string
}

/** A state is up to date if the run was there so many milliseconds ago. From an older one, what comes has mostly come already. */
const upToDateMs = 1000
/** While it is behind, it says after so many steps where it is; once it has caught up, after so many milliseconds. */
const stepsPerAnswer = 50
const answerEveryMs = 100

/** The steps that were received, in order. */
class Steps {
  latestMs = 0
  readonly #messages = on(process, 'message', { close: ['disconnect'] })

  constructor() {
    process.on('message', ({ atMs }: FollowedStep) => {
      this.latestMs = atMs
    })
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<FollowedStep> {
    for await (const [message] of this.#messages) yield message as FollowedStep
  }
}

/** Executes the steps of a run on nodes of its own, and predicts from states that are up to date. */
const follow = async (order: FollowerOrder, steps: Steps): Promise<void> => {
  const { file, everyMs, max, isSteered, roundMs, ...rest } = order
  const config = await loadConfig(file)
  const given = resolveSystem(config.definition, { directory: config.directory })
  await inSession(config, { ...rest, isAble: true }, async ({ cluster, signal }) => {
    const executor = new Executor<GlobalState>(cluster, given.properties)
    const predictor = new Predictor(cluster, given, { ...max, isSteered, roundMs, signal })
    const answer = (more: Partial<FollowerAnswer> = {}) =>
      send({ atMs: atMsOf(cluster), counts: predictor.counts, ...more })
    await executor.reset()
    const rounds = new Rounds(everyMs, true)
    const timesMs: number[] = []
    let saidMs = performance.now()
    for await (const step of steps) {
      if (step.label !== undefined) await execute(cluster, executor, { ...step, label: step.label })
      if (executor.broken) return
      timesMs.push(step.atMs)
      const isUpToDate = steps.latestMs - step.atMs <= upToDateMs
      if (isUpToDate && rounds.isDue(step.atMs, () => cluster.running.isInCall)) {
        rounds.begin(step.atMs)
        const outcome = await predictor.look(executor.mark(), { requested: cluster.running.time!.requested, timesMs })
        await answer({ round: { step: executor.schedule.length, atMs: step.atMs, outcome } })
      } else {
        const hasCaughtUp = step.atMs === steps.latestMs
        const says = hasCaughtUp
          ? performance.now() - saidMs >= answerEveryMs
          : executor.schedule.length % stepsPerAnswer === 0
        if (!says) continue
        saidMs = performance.now()
        await answer()
      }
    }
  })
}

const atMsOf = ({ running }: Cluster): number => running.time?.nowMs ?? 0

const execute = async (
  cluster: Cluster,
  executor: Executor<GlobalState>,
  { label, atMs, input }: FollowedStep & { readonly label: string },
): Promise<void> => {
  const time = cluster.running.time!
  time.pass(atMs)
  if (input) time.takeUp({ requested: [...time.requested, input] })
  cluster.running.lookAgain()
  const choice = executor.enabled().find(each => each.label === label)
  if (choice === undefined) throw new Diverged(executor.schedule.length + 1, label, labelsOf(executor.enabled()))
  const { kind, node } = choice
  await executor.execute({ kind, node, label, subject: label, numbers: [] })
}

/** If the parent has ended, nobody needs it. */
const send = (answer: FollowerAnswer) =>
  new Promise<void>(resolve => (process.connected ? process.send!(answer, () => resolve()) : resolve()))

const end = (): never => {
  endsItself()
  process.exit()
}

const fail = (error: unknown) =>
  send({ atMs: 0, counts: nothing, failed: explainError(error).lines.at(-1) ?? 'it failed' })

const nothing: PredictionCounts = {
  ...{ rounds: 0, inputs: 0, transitions: 0, seconds: 0 },
  ...{ unmarked: 0, predicted: 0, vain: 0, unhelped: 0 },
}

forgetClosingThreads()
endWithParent()
catchStrays(error => void fail(error).then(end))
refuseExit(exitCode.usage)
process.once('beforeExit', end)
process.once('message', async order => {
  await follow(order as FollowerOrder, new Steps()).catch(fail)
  end()
})
