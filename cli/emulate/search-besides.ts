import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { UsageError } from '../../checker/errors.ts'
import { readTrace } from '../../checker/trace/read.ts'
import { onCpus } from '../../harness/hold/affinity.ts'
import { waitingForOthers } from '../../harness/hold/interruption.ts'
import type { Outcome } from '../check/outcome.ts'
import { exitCode } from '../exit-code.ts'
import { packageRoot } from '../package.ts'
import { violationOf } from '../traces/recorded.ts'

/** How often a run stands still to search its present state, and for how long each search takes. */
export interface SearchPlan {
  readonly everyMs: number
  readonly forMs: number
}

/** A violation found by searching from a state of the run. It was executed again from the run's start and recorded. */
export interface FoundBesides extends Pick<Outcome, 'property' | 'kind' | 'trace' | 'report'> {
  readonly message: string
  /** The step of the run from which the search began, and its time. */
  readonly step: number
  readonly atMs: number
}

/** The results of the searches from a run. */
export interface Searched {
  readonly searches: number
  readonly executions: number
  readonly seconds: number
  readonly found: readonly FoundBesides[]
}

interface Beginning {
  readonly step: number
  readonly atMs: number
}

/** The clock stops during a search, which only virtual time allows. */
export const stopsTheClock = (pace: string): UsageError =>
  new UsageError(`--check-every stops the clock, which at the pace ${pace} goes on`)

/** This command. A search is another process of it, with nodes of its own. */
const command = join(packageRoot, 'bin/lastnail.js')

/** The search's message about a violation, taken from its trace. */
const messageIn = (trace: string | null): string =>
  trace === null ? 'interrupted before it was recorded' : (violationOf(readTrace(trace))?.message ?? '')

/** Searches shorter than this have one cell, because each worker takes about a second to start. */
const forWorkersMsMin = 10_000

/** Searches from states of a run with `check --from` its trace. The run itself is not touched. */
export class SearchBesides {
  readonly #plan: SearchPlan
  readonly #args: readonly string[]
  readonly #cpus: readonly number[]
  readonly #from: string
  readonly #seed: number
  readonly #signal: AbortSignal
  readonly #found: FoundBesides[] = []
  #searches = 0
  #executions = 0
  #seconds = 0
  /** Searches that could not begin or found nothing to do, one line each. */
  readonly notes: string[] = []

  /**
   * @param trace of the run, as far as it is written
   *
   * @param cpus that a search may use
   */
  constructor(
    plan: SearchPlan,
    {
      config,
      trace,
      out,
      seed,
      cpus,
      signal,
    }: {
      readonly config: string
      readonly trace: string
      readonly out: string
      readonly seed: number
      readonly cpus: readonly number[]
      readonly signal: AbortSignal
    },
  ) {
    this.#plan = plan
    this.#from = trace
    this.#seed = seed
    this.#cpus = cpus
    this.#signal = signal
    const alone = plan.forMs < forWorkersMsMin ? ['--workers', '1'] : []
    this.#args = ['check', config, '--for', `${plan.forMs}ms`, '--out', out, '--json', ...alone]
  }

  get everyMs(): number {
    return this.#plan.everyMs
  }

  get searched(): Searched {
    return { searches: this.#searches, executions: this.#executions, seconds: this.#seconds, found: this.#found }
  }

  /** Searches from the state after a step. Errors become notes, and the run goes on. */
  async search({ step, atMs }: Beginning): Promise<void> {
    this.#searches += 1
    const { code, stdout, stderr } = await this.#run(step)
    if (this.#signal.aborted) return
    if (code !== exitCode.held && code !== exitCode.violated && code !== exitCode.undetermined) {
      const why = stderr.trimEnd().split('\n').at(-1)
      this.notes.push(`the search from step ${step} could not be done: ${why?.replace(/^lastnail: /, '')}`)
      return
    }
    const outcome = JSON.parse(stdout.trimEnd().split('\n').at(-1)!) as Outcome
    this.#executions += outcome.executions
    this.#seconds += outcome.seconds
    if (outcome.verdict === 'violated') {
      const { property, kind, trace, report } = outcome
      this.#found.push({ step, atMs, property, kind, message: messageIn(trace), trace, report })
    } else if (outcome.executions === 0)
      this.notes.push(
        `the search from step ${step} was over before one execution was: it takes longer than --check-for to get there`,
      )
  }

  async #run(
    step: number,
  ): Promise<{ readonly code: number | null; readonly stdout: string; readonly stderr: string }> {
    const args = [...process.execArgv, command, ...this.#args]
    args.push('--from', `${this.#from}:${step}`, '--seed', String(this.#seed + this.#searches - 1))
    return waitingForOthers(async () => {
      const child = onCpus(this.#cpus, () => spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] }))
      const end = () => void child.kill('SIGTERM')
      this.#signal.addEventListener('abort', end)
      const said = { stdout: '', stderr: '' }
      for (const stream of ['stdout', 'stderr'] as const)
        child[stream].setEncoding('utf8').on('data', text => {
          said[stream] += text
        })
      const [code] = (await once(child, 'close')) as [number | null]
      this.#signal.removeEventListener('abort', end)
      return { code, ...said }
    })
  }
}
