import { relative } from 'node:path'
import { headline } from '../../checker/cells/violation.ts'
import { checkInCells } from '../../checker/check.ts'
import { Budget } from '../../checker/system/budget.ts'
import { UsageError } from '../../checker/system/errors.ts'
import { startAfter } from '../../checker/system/start.ts'
import { readTrace } from '../../checker/trace/read.ts'
import { isFinding } from '../../checker/verdict/examine.ts'
import type { Verdict } from '../../checker/verdict/verdict.ts'
import type { ResolvedSystem } from '../../harness/config/config.ts'
import type { Timing } from '../../harness/timed/timing.ts'
import { quotedForShell } from '../../report/model/quoted.ts'
import type { CheckOutcome } from '../check/outcome.ts'
import { waitingForWorkers } from '../check/search.ts'
import { exitCode } from '../command/exit-code.ts'
import { propertiesFor } from '../config/goal.ts'
import { violationOf } from '../traces/recorded.ts'
import { Worker, workersByDefault } from '../workers/workers.ts'
import { checkBesides } from './check-besides.ts'

/** How often a run stands still to search its present state, and for how long each search takes. */
export interface SearchPlan {
  readonly everyMs: number
  readonly forMs: number
}

/** A violation found by searching from a state of the run. It was executed again from the run's start and recorded. */
export interface FoundBesides extends Pick<CheckOutcome, 'property' | 'kind' | 'trace' | 'report'> {
  readonly message: string
  /** The step of the run from which the search began, and its time. */
  readonly step: number
  readonly atMs: number
}

/** The results of the searches from a run. */
export interface Searched {
  readonly searches: number
  /** With those in which a violation was found again and examined. */
  readonly executions: number
  /** Seconds of searching, and of finding a violation again from the run's start and examining it. */
  readonly seconds: number
  readonly found: readonly FoundBesides[]
}

/** A state of the run. */
interface Beginning {
  readonly step: number
  readonly atMs: number
  /** Of the steps so far. */
  readonly labels: readonly string[]
}

/** The run to search from. */
export interface SearchedRun {
  /** Path of its configuration. */
  readonly config: string
  readonly system: ResolvedSystem
  readonly timing: Timing
  /** What was done to it from outside so far. */
  readonly inputs: () => Timing['inputs']
  /** Path of its trace, as far as it is written. */
  readonly trace: string
  readonly out: string
  readonly seed: number
  readonly clocksStart: string
}

/** The clock stops during a search, which only virtual time allows. */
export const stopsTheClock = (pace: string): UsageError =>
  new UsageError(`--check-every stops the clock, which at the pace ${pace} goes on`)

/** The search's message about a violation, taken from its trace. */
export const messageIn = (trace: string | null): string =>
  trace === null ? 'interrupted before it was recorded' : (violationOf(readTrace(trace))?.message ?? '')

/** Searches shorter than this have one cell, because each worker takes about a second to start. */
const forWorkersMsMin = 10_000

/**
 * Searches from states of a run. The run itself is not touched: workers execute its steps on nodes of their own, each of
 * them once, because they go on from the state where they searched before. What they find is not examined: it is found
 * again, examined and recorded by `check --from` the run's trace. A suspect of a liveness property is examined for as
 * long as a search takes, because most recover, and the run waits.
 */
export class SearchBesides {
  readonly #plan: SearchPlan
  readonly #run: SearchedRun
  readonly #cpus: readonly number[]
  readonly #signal: AbortSignal
  #workers: Worker[] = []
  /** How many inputs its workers know of. */
  #inputs = 0
  readonly #found: FoundBesides[] = []
  #searches = 0
  #executions = 0
  #seconds = 0
  /** Searches that could not begin or found nothing to do, one line each. */
  readonly notes: string[] = []

  /** @param cpus that a search may use */
  constructor(
    plan: SearchPlan,
    run: SearchedRun,
    { cpus, signal }: { readonly cpus: readonly number[]; readonly signal: AbortSignal },
  ) {
    this.#plan = plan
    this.#run = run
    this.#cpus = cpus
    this.#signal = signal
  }

  get everyMs(): number {
    return this.#plan.everyMs
  }

  get searched(): Searched {
    return { searches: this.#searches, executions: this.#executions, seconds: this.#seconds, found: this.#found }
  }

  /**
   * Searches from the state after a step, unless a violation was found before: later searches would mostly find it again.
   * Errors become notes, and the run goes on.
   */
  async search(from: Beginning): Promise<void> {
    if (this.#found.length > 0) return
    this.#searches += 1
    const looked = await this.#look(from.labels).catch((error: Error) => error)
    if (this.#signal.aborted) return
    if (looked instanceof Error) return this.#cannot(from, looked.message)
    this.#executions += looked.executions
    this.#seconds += looked.seconds
    if (looked.executions === 0)
      this.notes.push(
        `the search from step ${from.step} was over before one execution was: that takes longer than --check-for`,
      )
    else if (isFinding(looked)) await this.#findAgain(from, looked)
    else if (looked.verdict === 'undetermined')
      this.notes.push(
        `the search from step ${from.step} is undetermined: ${headline(looked.message)}; "${this.#checkCommand(from)}" examines it for longer`,
      )
  }

  /** Ends its workers. */
  async end(): Promise<void> {
    await Promise.all(this.#workers.splice(0).map(worker => worker.end()))
  }

  #look(labels: readonly string[]): Promise<Verdict> {
    return waitingForWorkers(this.#cpus, async () => {
      const cells = await this.#cells()
      await this.#arrive(cells, labels)
      return checkInCells(cells, propertiesFor(this.#run.system, {}), {
        seed: this.#searchSeed,
        from: labels,
        milliseconds: this.#plan.forMs,
        examinationMs: this.#plan.forMs,
        leavesExamination: true,
        signal: this.#signal,
      })
    })
  }

  /** Brings all workers to the state, which does not count as searching. */
  async #arrive(cells: readonly Worker[], labels: readonly string[]): Promise<void> {
    const budget = new Budget({ signal: this.#signal })
    await Promise.all(cells.map(cell => cell.perform({ start: startAfter(labels) }, 0, budget)))
  }

  get #searchSeed(): number {
    return this.#run.seed + this.#searches - 1
  }

  async #cells(): Promise<readonly Worker[]> {
    const { config, timing, inputs, seed, clocksStart } = this.#run
    const known = inputs()
    if (known.length !== this.#inputs) await this.end()
    if (this.#workers.length > 0) return this.#workers
    this.#inputs = known.length
    const cpus = this.#plan.forMs < forWorkersMsMin ? this.#cpus.slice(-1) : this.#cpus.slice(0, workersByDefault)
    const how = { ...timing, inputs: [...known], isSearched: true }
    const order = { file: config, seed, clocksStart, timing: how, isAble: true }
    this.#workers = cpus.map(cpu => new Worker({ ...order, cpu }, this.#cpus))
    return this.#workers
  }

  /** Lets another process find it again, in as many executions, and record it. */
  async #findAgain({ step, atMs }: Beginning, { executions, message }: Verdict): Promise<void> {
    // Its nodes need the memory and the CPUs.
    await this.end()
    const { code, stdout, stderr } = await this.#check(step, executions)
    if (this.#signal.aborted) return
    if (code !== exitCode.held && code !== exitCode.violated && code !== exitCode.undetermined)
      return this.#cannot({ step }, stderr.trimEnd().split('\n').at(-1) ?? '')
    const again = JSON.parse(stdout.trimEnd().split('\n').at(-1)!) as CheckOutcome
    const { verdict, property, kind, trace, report } = again
    this.#executions += again.executions
    this.#seconds += again.seconds
    if (verdict === 'violated')
      this.#found.push({ step, atMs, property, kind, message: messageIn(trace), trace, report })
    else this.notes.push(`the search from step ${step} found what was not found again: ${headline(message)}`)
  }

  #checkCommand({ step }: Beginning): string {
    const { config, trace } = this.#run
    return `npx lastnail check ${quotedForShell(relative('', config))} --from ${quotedForShell(trace)}:${step}`
  }

  #cannot({ step }: Pick<Beginning, 'step'>, why: string): void {
    this.notes.push(`the search from step ${step} could not be done: ${why.replace(/^lastnail: /, '')}`)
  }

  #check(step: number, executions: number): ReturnType<typeof checkBesides> {
    const { config, out, trace } = this.#run
    const args = [config, '--out', out, '--json', '--workers', '1', '--from', `${trace}:${step}`]
    args.push('--seed', String(this.#searchSeed), '--executions', String(executions))
    return checkBesides(args, { cpus: this.#cpus, signal: this.#signal })
  }
}
