import { counted } from '../../checker/brief.ts'
import { headline } from '../../checker/cells/violation.ts'
import { UsageError } from '../../checker/errors.ts'
import type { Suspicion } from '../../checker/searches/deviations/explorer.ts'
import { inSeconds } from '../../checker/show.ts'
import type { Predictor } from '../../harness/steering/predictor.ts'
import type { Outcome } from '../check/outcome.ts'
import { exitCode } from '../exit-code.ts'
import { checkBesides } from './check-besides.ts'
import { type FoundBesides, messageIn, type SearchedRun } from './search-besides.ts'

/** The results of prediction beside a run. */
export interface Predicted {
  readonly rounds: number
  /** Inputs that single nodes took, and steps in memory. */
  readonly inputs: number
  readonly transitions: number
  readonly seconds: number
  /** Violations that were predicted, and executed again from the run's start. */
  readonly found: readonly FoundBesides[]
}

/** The clock stops during a prediction, which only virtual time allows. */
export const predictsInPlace = (pace: string): UsageError =>
  new UsageError(`--predict stops the clock, which at the pace ${pace} goes on`)

/** A state of the run. */
interface Beginning {
  readonly step: number
  readonly atMs: number
}

/** Milliseconds of real time for finding a predicted violation again, on nodes of another process, and examining it. */
const confirmMs = 60_000
/** So many ways to what looks wrong may come to nothing before no other is tried. Each costs up to a minute. */
const failuresMax = 3

/**
 * Predicts from states of a run, in place. Nodes alone may behave as they would not in the whole system, so another process
 * searches again from that state, and only what violates from the run's start is told.
 */
export class Predictions {
  readonly everyMs: number
  readonly #predictor: Predictor
  readonly #run: Pick<SearchedRun, 'config' | 'out' | 'trace' | 'seed'>
  readonly #how: { readonly cpus: readonly number[]; readonly signal: AbortSignal }
  readonly #found: FoundBesides[] = []
  #failures = 0
  #failure = ''

  constructor(
    everyMs: number,
    predictor: Predictor,
    run: Pick<SearchedRun, 'config' | 'out' | 'trace' | 'seed'>,
    how: { readonly cpus: readonly number[]; readonly signal: AbortSignal },
  ) {
    this.everyMs = everyMs
    this.#predictor = predictor
    this.#run = run
    this.#how = how
  }

  get predicted(): Predicted {
    const { rounds, inputs, transitions, seconds } = this.#predictor
    return { rounds, inputs, transitions, seconds, found: this.#found }
  }

  get notes(): string[] {
    const { unmarked } = this.#predictor
    return [
      ...(unmarked > 0
        ? [`from ${counted(unmarked, 'state')} nothing was predicted, as they could not be marked`]
        : []),
      ...(this.#failures > 0 ? [`${counted(this.#failures, 'prediction')} came to nothing: ${this.#failure}`] : []),
    ]
  }

  /** Predicts from the present state, unless a violation was predicted before: later ones would mostly be the same. */
  async search(from: Beginning): Promise<void> {
    if (this.#found.length > 0 || this.#failures >= failuresMax) return
    const [suspicion] = await this.#predictor.look()
    if (suspicion && !this.#how.signal.aborted) await this.#confirm(from, suspicion)
  }

  async #confirm({ step, atMs }: Beginning, { labels, deviations }: Suspicion): Promise<void> {
    const { config, out, trace, seed } = this.#run
    const args = [config, '--out', out, '--json', '--workers', '1', '--search', 'deviations', '--seed', String(seed)]
    args.push('--from', `${trace}:${step}`, '--for', `${confirmMs}ms`)
    const { code, stdout, stderr } = await checkBesides(args, this.#how)
    if (this.#how.signal.aborted) return
    if (code !== exitCode.violated) return this.#fail(code === exitCode.held ? 'nothing was violated' : stderr)
    const again = JSON.parse(stdout.trimEnd().split('\n').at(-1)!) as Outcome
    const { property, kind } = again
    const message = messageIn(again.trace)
    this.#found.push({ step, atMs, property, kind, message, trace: again.trace, report: again.report })
    const way = `in ${counted(labels.length, 'step')}, ${counted(deviations, 'deviation')}`
    process.stderr.write(
      `lastnail: at ${inSeconds(atMs)}, ${way}: ${[kind, property].filter(word => word !== null).join(' ')}: ${again.trace}\n`,
    )
  }

  #fail(why: string): void {
    this.#failures += 1
    this.#failure = headline(why.trimEnd().split('\n').at(-1) ?? '').replace(/^lastnail: /, '')
  }
}
