import type { TaskOutcome } from '../cells/task.ts'
import type { Walk } from '../choosers/chooser.ts'
import { Diverged } from '../system/errors.ts'
import type { Random } from '../system/random.ts'
import { after, type Start } from '../system/start.ts'
import type { Abstraction } from '../system/system.ts'
import { Audit, type Pair } from './audit.ts'
import { type BoundedOptions, BoundedSearch, type Level, type Prefix } from './bounded.ts'
import type { Experience } from './experience.ts'
import { Counted, type RequestedExecution, type Search } from './search.ts'
import { surpriseWalk } from './walks.ts'

export interface StagedOptions {
  /** Of each of its bounded searches. */
  readonly bounded?: Pick<BoundedOptions, 'depthMax' | 'everyOrder'> | undefined
  /** Whether to continue with finer states when coarser ones leave nothing to do; otherwise the search ends there. */
  readonly goesOn: boolean
  /** Whether its schedules continue as walks. */
  readonly walksOn: boolean
  readonly random: Random
}

/** How far the bounded search came. */
export interface Depths {
  readonly levels: readonly Level[]
  /** The depth up to which every schedule was executed, or left out for a reason given here. */
  readonly depth: number
  /** Whether no schedule is longer than that. */
  readonly exhausted: boolean
  /** Schedules after which it stopped because they led to a known state. */
  readonly pruned: number
  /** What told states apart when schedules were pruned; `null` if none was pruned. */
  readonly prunedBy: Abstraction | null
  /** How many of these states were audited and had equal futures. */
  readonly audited: number
}

/** One bounded search, and what it uses to tell states apart. */
interface Stage {
  readonly by: 'fingerprint' | 'history' | 'nothing'
  readonly bounded: BoundedSearch
  readonly audit: Audit
}

/** Why an execution was requested. */
type Purpose =
  | { readonly is: 'prefix'; readonly stage: Stage; readonly prefix: Prefix }
  | { readonly is: 'second'; readonly stage: Stage; readonly pair: Pair }
  | { readonly is: 'first'; readonly stage: Stage; readonly second: TaskOutcome }

/**
 * All schedules by rising depth. At first, the search does not continue from a state that looks like a known one. Such
 * states may differ in something hidden, so a sample of them is audited. If an audit finds a difference, or nothing
 * else is left to do, the search begins again and tells states apart by the inputs that each node took, and in the end
 * treats each schedule as new.
 */
export class StagedSearch implements Search {
  readonly name = 'bounded'
  /** A line for each kind of state that turned out to hide something. */
  readonly notes: string[] = []
  /** Schedules that could be executed once and never again. */
  givenUp = 0
  readonly #experience: Experience
  readonly #options: StagedOptions
  readonly #counted: Counted
  readonly #purposes = new Map<RequestedExecution, Purpose>()
  /** Audits whose first half is done. */
  readonly #halves: { readonly stage: Stage; readonly pair: Pair; readonly second: TaskOutcome }[] = []
  #stages: Stage[] = []
  #abstraction: Abstraction | undefined
  #hasHistory = false

  constructor(experience: Experience, options: StagedOptions) {
    this.#experience = experience
    this.#options = options
    this.#counted = new Counted('bounded', experience.met)
    this.#begin('fingerprint')
  }

  /** Whether every schedule was executed, and none was left out because its state merely looked like another. */
  get isExhaustive(): boolean {
    return this.#stages.some(stage => stage.bounded.exhausted && !this.#isLossy(stage))
  }

  /** Whether fingerprints cover the whole state, so that nothing is left to find once all states were met. */
  get isWhole(): boolean {
    return this.#abstraction === 'whole'
  }

  get depths(): Depths {
    const { bounded, audit, by } = this.#stages.reduce((best, each) =>
      each.bounded.depth > best.bounded.depth || (each.bounded.exhausted && !this.#isLossy(each)) ? each : best,
    )
    const { levels, depth, exhausted, pruned } = bounded
    const prunedBy = pruned === 0 ? null : by === 'history' ? 'history' : (this.#abstraction ?? null)
    return { levels, depth, exhausted, pruned, prunedBy, audited: audit.passed }
  }

  next(): RequestedExecution | undefined {
    const half = this.#halves.shift()
    if (half) {
      const { stage, pair, second } = half
      return this.#audit({ is: 'first', stage, second }, pair.first, stage.audit.again(second))
    }
    const stage = this.#stage
    const audited = stage.audit.next()
    if (audited) return this.#audit({ is: 'second', stage, pair: audited.pair }, audited.pair.second, audited.walk)
    const prefix = stage.bounded.next() ?? this.#beginFiner()?.bounded.next()
    if (!prefix) return undefined
    const execution = this.#experience.executionOf({
      search: 'bounded',
      start: this.#after(prefix.labels),
      walks: random => (this.#options.walksOn ? [surpriseWalk(random, 'race')] : []),
    })
    this.#purposes.set(execution, { is: 'prefix', stage: this.#stage, prefix })
    return execution
  }

  learn(execution: RequestedExecution, came: TaskOutcome | Diverged): void {
    const purpose = this.#purposes.get(execution)!
    this.#purposes.delete(execution)
    if (!(came instanceof Diverged)) this.#counted.count(came)
    if (purpose.is === 'prefix') this.#arrive(purpose.stage, purpose.prefix, came)
    else if (purpose.is === 'first') this.#compare(purpose.stage, purpose.second, came)
    else if (!(came instanceof Diverged)) this.#halves.push({ ...purpose, second: came })
  }

  coverage() {
    return this.#counted.coverage
  }

  get #stage(): Stage {
    return this.#stages.at(-1)!
  }

  #begin(by: Stage['by']): Stage {
    const { bounded, random } = this.#options
    const stage = { by, bounded: new BoundedSearch({ ...bounded, by }), audit: new Audit(random.fork()) }
    this.#stages.push(stage)
    return stage
  }

  #arrive(stage: Stage, prefix: Prefix, came: TaskOutcome | Diverged): void {
    if (came instanceof Diverged) {
      if (stage.bounded.fail(prefix, came)) this.givenUp += 1
      return
    }
    this.#abstraction ??= came.abstraction
    this.#hasHistory ||= came.arrival.history !== undefined
    if (stage.bounded.arrive(prefix, came) !== 'pruned' || this.#abstraction === 'whole') return
    const first = stage.bounded.firstTo(came)!.labels
    stage.audit.consider({ first, second: prefix.labels })
  }

  /** The state after these steps from where the search begins. */
  #after(labels: readonly string[]): Start {
    return after(this.#experience.begin, labels)
  }

  /** An execution with recorded observations, after a schedule of its own. */
  #audit(purpose: Purpose, labels: readonly string[], walk: Walk): RequestedExecution {
    const { task, ...rest } = this.#experience.executionOf({
      search: 'bounded',
      start: this.#after(labels),
      walks: () => [walk],
    })
    // No walk to a live state: only the walk to compare is wanted.
    const { untilLive: _, surprises: __, untilViolation: ___, ...others } = task
    const execution: RequestedExecution = { ...rest, task: { ...others, isWatched: true }, purpose: 'audit' }
    this.#purposes.set(execution, purpose)
    return execution
  }

  #compare(stage: Stage, second: TaskOutcome, first: TaskOutcome | Diverged): void {
    stage.audit.compare(second, first)
    const { refuted } = stage.audit
    if (refuted === undefined || !this.#stages.includes(stage)) return
    const finer = this.#finerThan(stage)
    const told =
      finer === 'history' ? 'by the inputs that each node took' : 'by their schedules: each schedule is executed'
    this.notes.push(
      `some states that look alike are not the same: the same choices were executed after two of them, and ${refuted}. ` +
        `From now on states are told apart ${told}`,
    )
    this.#stages = this.#stages.filter(each => each !== stage)
    this.#begin(finer)
  }

  /** Once nothing is left to do with the present kind of states. */
  #beginFiner(): Stage | undefined {
    const stage = this.#stage
    if (!this.#options.goesOn || !stage.bounded.isDone || !this.#isLossy(stage)) return undefined
    return this.#begin(this.#finerThan(stage))
  }

  #finerThan({ by }: Stage): Stage['by'] {
    return by === 'fingerprint' && this.#abstraction === 'observed' && this.#hasHistory ? 'history' : 'nothing'
  }

  #isLossy({ bounded }: Stage): boolean {
    return bounded.pruned > 0 && this.#abstraction !== 'whole'
  }
}
