import type { Mark } from '../../checker/cells/executor.ts'
import { UsageError } from '../../checker/system/errors.ts'
import type { RecordedStep } from '../../checker/trace/trace.ts'
import type { RecordedPrediction } from '../../checker/verdict/verdict.ts'
import type { Cluster } from '../../harness/cluster.ts'
import type { TimedRunOptions } from '../../harness/emulation/timed-run.ts'
import { Filters } from '../../harness/steering/filters.ts'
import { type PredictionCounts, Predictor } from '../../harness/steering/predictor.ts'
import type { Pace, RunSoFar, TimedHappening } from '../../harness/timed/timing.ts'
import { allowedCpus } from '../../linux/affinity.ts'
import type { LoadedConfig } from '../config/load-config.ts'
import type { Conclusion } from './confirmed.ts'
import { Follower } from './follow.ts'
import { isPredicted, Predictions, predictEveryMsDefault, predictionMax, roundBesideMs } from './predictions.ts'
import { SearchBesides, type SearchedRun, type SearchPlan, stopsTheClock } from './search-besides.ts'
import type { RunOptions } from './settings.ts'
import { sayGivenUp } from './steering.ts'
import type { RunSummary } from './summary.ts'

/** How a run looks ahead: by searches from its states, by prediction, or not at all. */
export interface ForesightPlan {
  readonly pace: Pace
  readonly searches: SearchPlan | undefined
  readonly predicts: boolean
  /** When predictions are recorded. */
  readonly records: 'at once' | 'at the end' | 'never'
  /** Whether what is predicted is kept from happening. */
  readonly isSteered: boolean
  readonly everyMs: number
  readonly max: ReturnType<typeof predictionMax>
}

const checkForMsDefault = 5000

/** @throws UsageError if it is not possible */
export const planForesight = ({ path }: LoadedConfig, pace: Pace, options: RunOptions): ForesightPlan => {
  const { checkEveryMs, checkForMs = checkForMsDefault, everyMs = predictEveryMsDefault, predict, steer } = options
  const predicts = isPredicted(options)
  if (checkEveryMs !== undefined) {
    if (pace !== 'virtual') throw stopsTheClock(pace)
    if (path === '')
      throw new UsageError('--check-every: searches load the configuration: expected its path, found a system')
    if (predicts) throw new UsageError('expected --predict or --check-every, found both')
  }
  const whenRecorded = pace === 'virtual' ? 'at once' : 'at the end'
  return {
    pace,
    searches: checkEveryMs === undefined ? undefined : { everyMs: checkEveryMs, forMs: checkForMs },
    predicts,
    records: predict ? whenRecorded : 'never',
    isSteered: steer === 'predict' || steer === 'both',
    everyMs,
    max: predictionMax(options),
  }
}

/** Looks ahead in a run, as planned. */
export class Foresight {
  /** Searches or predictions for which the run stands still. */
  readonly besides: TimedRunOptions['besides']
  /** Prediction in a process of its own, for which the run does not wait. */
  readonly follower: Follower | undefined
  /** Filters against predicted violations, if the run is steered by predictions. */
  readonly filters: Filters | undefined
  readonly #searches: SearchBesides | undefined
  readonly #predictions: Predictions | undefined
  readonly #predictor: Predictor | undefined
  readonly #signal: AbortSignal

  /**
   * @param cluster the nodes of the run
   *
   * @param cpus for other processes
   *
   * @param elapsedMs how far the run's clock is
   */
  constructor(
    cluster: Cluster,
    { pace, searches, predicts, records, isSteered, everyMs, max }: ForesightPlan,
    run: SearchedRun,
    how: { readonly cpus: readonly number[]; readonly signal: AbortSignal; readonly elapsedMs: () => number },
  ) {
    const { cpus, signal, elapsedMs } = how
    this.#signal = signal
    this.filters = isSteered ? new Filters(sayGivenUp) : undefined
    this.#searches = searches && new SearchBesides(searches, run, how)
    this.besides = this.#searches
    if (!predicts) return
    const { filters } = this
    const predictions = new Predictions(() => this.#counts, run, { records, filters, cpus, signal })
    this.#predictions = predictions
    if (pace === 'virtual') {
      this.#predictor = new Predictor(cluster, run.system, { ...max, isSteered, signal })
      this.besides = inPlace(this.#predictor, predictions, everyMs)
    } else {
      const { config: file, seed, clocksStart, timing } = run
      this.follower = new Follower(
        {
          file,
          seed,
          clocksStart,
          timing,
          cpu: otherOf(cpus),
          everyMs,
          max,
          isSteered,
          roundMs: isSteered ? roundBesideMs : undefined,
        },
        { cpus, onRound: (from, round) => void predictions.take(from, round, elapsedMs()) },
      )
    }
  }

  get #counts(): PredictionCounts {
    return (this.follower ?? this.#predictor)!.counts
  }

  /** Tells of a step of the run. */
  see({ choice, atMs = 0, input }: RecordedStep): void {
    this.follower?.tell({ label: choice?.label, atMs, input: input as TimedHappening | undefined })
  }

  /** Predictions that were told so far. */
  get told(): readonly RecordedPrediction[] {
    return this.#predictions?.told ?? []
  }

  get notes(): readonly string[] {
    const { ended } = this.follower ?? {}
    return [
      ...(this.#searches?.notes ?? []),
      ...(this.#predictions?.notes ?? []),
      ...(ended === undefined ? [] : [`the predictor ended before the run: ${ended}`]),
    ]
  }

  /** Records what is left to record. Call it after `end`. */
  async record(): Promise<void> {
    if (!this.#signal.aborted) await this.#predictions?.end()
  }

  /** What it found first, which is not part of the run, and was executed again. */
  get found(): Conclusion | undefined {
    const [first] = (this.#predictions?.results ?? this.#searches?.searched)?.found ?? []
    if (first === undefined) return undefined
    const { property, kind, message, step, atMs } = first
    const place = `from step ${step} of the run, at ${atMs / 1000} s, a search found: `
    return { verdict: 'violated', property, kind, message: `${place}${message}` }
  }

  /** What of it is in the summary of the run. */
  get figures(): Partial<Pick<RunSummary, 'searched' | 'predictions' | 'predicted'>> {
    if (this.#searches) return { searched: this.#searches.searched }
    if (this.#predictions === undefined) return {}
    const { follower, filters } = this
    return {
      predictions: {
        ...this.#predictions.results,
        ...(follower && { behindMs: follower.behindMsMax }),
        ...(follower && filters && { filters: this.#predictions.filters }),
      },
      predicted: this.#counts.predicted,
    }
  }

  /** The run is over: ends the processes beside it. */
  async end(): Promise<void> {
    await Promise.all([this.#searches?.end(), this.follower?.end()])
  }
}

/** Predicts while the run stands still. */
const inPlace = (predictor: Predictor, predictions: Predictions, everyMs: number): TimedRunOptions['besides'] => ({
  everyMs,
  goesOn: true,
  waitsForCalls: true,
  get counts() {
    return predictor.counts
  },
  async search(from: {
    readonly step: number
    readonly atMs: number
    readonly state: () => Mark
    readonly soFar: RunSoFar
  }): Promise<void> {
    await predictions.take(from, await predictor.look(from.state(), from.soFar))
  },
})

/** A CPU on which the nodes of this run are not held: by now this thread is pinned to theirs. */
const otherOf = (cpus: readonly number[]): number => {
  const own = allowedCpus()
  return cpus.find(cpu => !own.includes(cpu)) ?? cpus[0]!
}
