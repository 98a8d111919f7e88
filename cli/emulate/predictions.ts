import { counted } from '../../checker/brief.ts'
import type { Mark } from '../../checker/cells/executor.ts'
import { headline } from '../../checker/cells/violation.ts'
import { UsageError } from '../../checker/errors.ts'
import { inSeconds } from '../../checker/show.ts'
import type { Filters } from '../../harness/steering/filters.ts'
import type { Foreseen } from '../../harness/steering/outlook.ts'
import { describe, type Predictor } from '../../harness/steering/predictor.ts'
import type { Outcome } from '../check/outcome.ts'
import { exitCode } from '../exit-code.ts'
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
  /** Violations that were predicted, and executed again from the run's start; with `--predict` alone. */
  readonly found: readonly FoundBesides[]
}

/** The clock stops during a prediction, which only virtual time allows. */
export const predictsInPlace = (pace: string): UsageError =>
  new UsageError(`--predict stops the clock, which at the pace ${pace} goes on`)

/** Whether it is predicted in a run what may come. */
export const isPredicted = ({ predict, steer }: Pick<RunOptions, 'predict' | 'steer'>): boolean =>
  predict === true || steer === 'predict' || steer === 'both'

/** Milliseconds of a run's clock from one prediction to the next, as in CrystalBall. */
export const predictEveryMsDefault = 10_000

/** A state of the run. */
interface Beginning {
  readonly step: number
  readonly atMs: number
  /** What is known in it. */
  readonly state: () => Mark
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

export interface PredictionsOptions {
  readonly everyMs: number
  /** Whether violations are recorded: another process finds them again. */
  readonly isRecorded: boolean
  /** Receives what is to be prevented, if the run is steered. */
  readonly filters: Filters | undefined
  /** The CPUs for other processes. */
  readonly cpus: readonly number[]
  readonly signal: AbortSignal
}

/**
 * Predicts from states of a run, in place. What it tells has violated something on the whole system from there; what it records,
 * on other processes from the run's start.
 */
export class Predictions {
  readonly everyMs: number
  readonly goesOn = true
  readonly #predictor: Predictor
  readonly #run: Pick<SearchedRun, 'config' | 'out' | 'trace' | 'seed'>
  readonly #how: PredictionsOptions
  readonly #found: FoundBesides[] = []
  #failures = 0
  #failure = ''

  constructor(
    predictor: Predictor,
    run: Pick<SearchedRun, 'config' | 'out' | 'trace' | 'seed'>,
    how: PredictionsOptions,
  ) {
    this.everyMs = how.everyMs
    this.#predictor = predictor
    this.#run = run
    this.#how = how
  }

  /** How many violations were predicted. */
  get predicted(): number {
    return this.#predictor.predicted
  }

  get results(): Predicted {
    const { rounds, inputs, transitions, seconds } = this.#predictor
    return { rounds, inputs, transitions, seconds, found: this.#found }
  }

  get notes(): string[] {
    const { unmarked, vain, unhelped } = this.#predictor
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

  async search(from: Beginning): Promise<void> {
    const { filters, signal, isRecorded } = this.#how
    const { foreseen, suspected, filters: next } = await this.#predictor.look(from.state())
    if (signal.aborted) return
    filters?.put(next, from.atMs + filterAfterMs)
    for (const each of foreseen) if (each.isNew) await this.#tell(from, each)
    const [dead] = suspected
    if (isRecorded && foreseen.length === 0 && dead)
      await this.#tell(from, { ...dead, kind: 'liveness', property: dead.what })
  }

  /** @param foreseen only a liveness property's is not told if it cannot be recorded: nodes alone may have nothing left to do */
  async #tell(from: Beginning, foreseen: Foreseen): Promise<void> {
    const { labels, deviations } = foreseen
    const recorded = this.#how.isRecorded ? await this.#record(from, foreseen) : undefined
    if (this.#how.signal.aborted || (recorded === undefined && foreseen.kind === 'liveness')) return
    const way = `in ${counted(labels.length, 'step')}, ${counted(deviations, 'deviation')}`
    const where = recorded?.trace ? `: ${recorded.trace}` : ''
    process.stderr.write(`lastnail: at ${inSeconds(from.atMs)}, ${way}: ${describe(foreseen)}${where}\n`)
  }

  async #record({ step, atMs }: Beginning, { property, kind }: Foreseen): Promise<FoundBesides | undefined> {
    // Later ones are mostly the same.
    const isRecorded = this.#found.some(found => found.kind === kind && found.property === (property ?? null))
    if (isRecorded || this.#failures >= failuresMax) return undefined
    const { config, out, trace, seed } = this.#run
    const args = [config, '--out', out, '--json', '--workers', '1', '--search', 'deviations', '--seed', String(seed)]
    args.push('--from', `${trace}:${step}`, '--for', `${confirmMs}ms`)
    if (property !== undefined && kind === 'safety') args.push('--property', property)
    const { code, stdout, stderr } = await checkBesides(args, this.#how)
    if (this.#how.signal.aborted) return undefined
    if (code !== exitCode.violated) {
      this.#fail(code === exitCode.held ? 'nothing was violated' : stderr)
      return undefined
    }
    const again = JSON.parse(stdout.trimEnd().split('\n').at(-1)!) as Outcome
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
