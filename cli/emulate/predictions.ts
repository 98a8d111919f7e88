import { headline } from '../../checker/cells/violation.ts'
import { counted } from '../../checker/system/brief.ts'
import { UsageError } from '../../checker/system/errors.ts'
import { inSeconds } from '../../checker/system/show.ts'
import { describePrediction, type RecordedPrediction } from '../../checker/verdict/verdict.ts'
import type { Filters } from '../../harness/steering/filters.ts'
import type { Foreseen } from '../../harness/steering/outlook.ts'
import {
  describeForeseen,
  type PredictionCounts,
  type RoundOutcome as Round,
} from '../../harness/steering/predictor.ts'
import type { CheckOutcome } from '../check/outcome.ts'
import { exitCode } from '../command/exit-code.ts'
import { checkBesides } from './check-besides.ts'
import { type FoundBesides, messageIn, type SearchedRun } from './search-besides.ts'
import type { RunOptions } from './settings.ts'

/** The results of prediction beside a run. */
export interface Predicted {
  readonly rounds: number
  /** Inputs that single nodes took, and steps in memory. */
  readonly inputs: number
  readonly transitions: number
  readonly seconds: number
  /** At the pace `real`: by how many milliseconds the predictor was behind the run at most. */
  readonly behindMs?: number
  /** At the pace `real`, if the run is steered: when what is to be prevented was known. */
  readonly filters?: FilterTimes
  /** Violations that were predicted, and executed again from the run's start; with `--predict` alone. */
  readonly found: readonly FoundBesides[]
}

/** What is predicted begins at states of the run, which needs nodes that are held. */
export const predictsFromStates = (): UsageError =>
  new UsageError('--predict begins at states of the run, which at the pace native are not known')

/** Of the rounds that had something to prevent. */
export interface FilterTimes {
  /** It was known before it was to be prevented. */
  readonly inTime: number
  readonly late: number
  /** By how many milliseconds at most. */
  readonly lateMs: number
}

/** A search ends after so much, whatever time it takes: it comes to the same on any machine. */
export const predictionMax = ({ inputsMax = 500 }: Pick<RunOptions, 'inputsMax'>) => ({
  inputsMax,
  transitionsMax: 50_000,
})

/** Whether it is predicted in a run what may come. */
export const isPredicted = ({ predict, steer }: Pick<RunOptions, 'predict' | 'steer'>): boolean =>
  predict === true || steer === 'predict' || steer === 'both'

/** Milliseconds of a run's clock from one prediction to the next, as in CrystalBall. */
export const predictEveryMsDefault = 10_000

/** A state of the run. */
interface Beginning {
  readonly step: number
  readonly atMs: number
}

/** Milliseconds of real time for finding a predicted violation again, on nodes of another process, and examining it. */
const confirmMs = 60_000
/** So many predictions may come to nothing before no other is examined. Each costs up to a minute. */
const failuresMax = 3
/**
 * Milliseconds from the beginning of a round until its filters are on: what a prediction takes beside a run that does not wait for it
 * (CrystalBall, section 5.4).
 */
const filterAfterMs = 3000
/** Milliseconds for a round beside a run that does not wait for it. Its state is up to a second old when it begins. */
export const roundBesideMs = filterAfterMs - 1000

export interface PredictionsOptions {
  /** When violations are recorded, if they are: another process finds them again. The run would have to wait for it. */
  readonly records: 'at once' | 'at the end' | 'never'
  /** Receives what is to be prevented, if the run is steered. */
  readonly filters: Filters | undefined
  /** The CPUs for other processes. */
  readonly cpus: readonly number[]
  readonly signal: AbortSignal
}

/**
 * What is predicted beside a run: it is told, recorded, and prevented. What it tells has violated something on the whole system from a
 * state of the run; what it records, on other processes from the run's start.
 */
export class Predictions {
  readonly #counts: () => PredictionCounts
  readonly #run: Pick<SearchedRun, 'config' | 'out' | 'trace' | 'seed'>
  readonly #how: PredictionsOptions
  readonly #found: FoundBesides[] = []
  readonly #told: RecordedPrediction[] = []
  /** To be recorded at the end. */
  #later: readonly (readonly [Beginning, Foreseen])[] = []
  #filters: FilterTimes = { inTime: 0, late: 0, lateMs: 0 }
  #failures = 0
  #failure = ''

  /** @param counts what was predicted so far */
  constructor(
    counts: () => PredictionCounts,
    run: Pick<SearchedRun, 'config' | 'out' | 'trace' | 'seed'>,
    how: PredictionsOptions,
  ) {
    this.#counts = counts
    this.#run = run
    this.#how = how
  }

  get results(): Predicted {
    const { rounds, inputs, transitions, seconds } = this.#counts()
    return { rounds, inputs, transitions, seconds, found: this.#found }
  }

  get filters(): FilterTimes {
    return this.#filters
  }

  /** Predictions that were told so far. */
  get told(): readonly RecordedPrediction[] {
    return this.#told
  }

  get notes(): string[] {
    const { unmarked, vain, unhelped } = this.#counts()
    return [
      ...(unmarked > 0
        ? [`from ${counted(unmarked, 'state')} nothing was predicted, as they could not be marked`]
        : []),
      ...(vain > 0
        ? [`${counted(vain, 'way')} that seemed possible for single nodes violated nothing in the whole system`]
        : []),
      ...(unhelped > 0
        ? [`against ${counted(unhelped, 'prediction')} nothing was prevented: a violation was predicted then too`]
        : []),
      ...(this.#failures > 0
        ? [`${counted(this.#failures, 'prediction')} could not be repeated from the start of the run: ${this.#failure}`]
        : []),
    ]
  }

  /**
   * Takes what a round has come to.
   *
   * @param nowMs the run's clock, which may have gone on since the round began
   */
  async take(from: Beginning, { foreseen, suspected, filters: next }: Round, nowMs = from.atMs): Promise<void> {
    const { filters, signal, records } = this.#how
    if (signal.aborted) return
    const onMs = from.atMs + filterAfterMs
    filters?.put(next, onMs)
    if (next.length > 0) this.#time(nowMs - onMs)
    for (const each of foreseen) if (each.isNew) await this.#tell(from, each)
    const [dead] = suspected
    if (records === 'at once' && foreseen.length === 0 && dead)
      await this.#tell(from, {
        ...{ kind: 'liveness', property: dead.what, labels: dead.labels },
        ...{ order: 'deviations', cost: dead.deviations },
      })
  }

  #time(lateMs: number): void {
    const { inTime, late, lateMs: most } = this.#filters
    this.#filters =
      lateMs <= 0
        ? { ...this.#filters, inTime: inTime + 1 }
        : { inTime, late: late + 1, lateMs: Math.max(most, lateMs) }
  }

  /** Records what is left to record. */
  async end(): Promise<void> {
    for (const [from, foreseen] of this.#later) await this.#record(from, foreseen)
  }

  /** @param foreseen only a liveness property's is not told if it cannot be recorded: nodes alone may have nothing left to do */
  async #tell(from: Beginning, foreseen: Foreseen): Promise<void> {
    const { labels, order, cost } = foreseen
    const { records, signal } = this.#how
    const recorded = records === 'at once' ? await this.#record(from, foreseen) : undefined
    if (records === 'at the end') this.#later = [...this.#later, [from, foreseen]]
    if (signal.aborted || (recorded === undefined && foreseen.kind === 'liveness')) return
    const way = { steps: labels.length, ...(order === 'deviations' && { deviations: cost }) }
    this.#told.push({ step: from.step, what: describeForeseen(foreseen), ...way })
    const where = recorded?.trace ? `: ${recorded.trace}` : ''
    process.stderr.write(
      `lastnail: at ${inSeconds(from.atMs)}, ${describePrediction(way)}: ${describeForeseen(foreseen)}${where}\n`,
    )
  }

  async #record({ step, atMs }: Beginning, { property, kind, order }: Foreseen): Promise<FoundBesides | undefined> {
    // Later ones are mostly the same.
    const isRecorded = this.#found.some(found => found.kind === kind && found.property === (property ?? null))
    if (isRecorded || this.#failures >= failuresMax) return undefined
    const { config, out, trace, seed } = this.#run
    const args = [config, '--out', out, '--json', '--workers', '1', '--search', order, '--seed', String(seed)]
    args.push('--from', `${trace}:${step}`, '--for', `${confirmMs}ms`)
    if (property !== undefined && kind === 'safety') args.push('--property', property)
    const { code, stdout, stderr } = await checkBesides(args, this.#how)
    if (this.#how.signal.aborted) return undefined
    if (code !== exitCode.violated) {
      this.#fail(code === exitCode.held ? 'nothing was violated' : stderr)
      return undefined
    }
    const again = JSON.parse(stdout.trimEnd().split('\n').at(-1)!) as CheckOutcome
    const message = messageIn(again.trace)
    const { property: violated, kind: how, report } = again
    const found = { step, atMs, message, property: violated, kind: how, trace: again.trace, report }
    this.#found.push(found)
    return found
  }

  #fail(why: string): void {
    this.#failures += 1
    this.#failure = headline(why.trimEnd().split('\n').at(-1) ?? '').replace(/^lastnail: /, '')
  }
}
