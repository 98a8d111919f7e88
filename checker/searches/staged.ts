import type { TaskOutcome } from '../cells/task.ts'
import type { Walk } from '../choosers/chooser.ts'
import { Diverged } from '../errors.ts'
import type { Random } from '../random.ts'
import type { Abstraction } from '../system.ts'
import { Audit, type Pair } from './audit.ts'
import { BoundedSearch, type Level, type Prefix } from './bounded.ts'
import type { Experience } from './experience.ts'
import { Counted, type Execution, type Search } from './search.ts'
import { surpriseWalk } from './walks.ts'

export interface StagedOptions {
  readonly depthMax?: number | undefined
  /** Whether every order of steps is executed, also where they commute. */
  readonly everyOrder?: boolean | undefined
  /** Whether it goes on with finer states where all is done that coarser ones left; else it ends there. */
  readonly goesOn: boolean
  /** Whether its schedules go on as walks. */
  readonly walksOn: boolean
  readonly random: Random
}

/** What the bounded search came to. */
export interface Depths {
  readonly levels: readonly Level[]
  /** The depth up to which every schedule was executed, or left out as said here. */
  readonly depth: number
  /** Whether no schedule goes on beyond that. */
  readonly exhausted: boolean
  /** Schedules not searched beyond, because they led to a state known already. */
  readonly pruned: number
  /** By what states were taken for the same; `null` where none was. */
  readonly prunedBy: Abstraction | null
  /** Of these states, how many were gone on from both ways, and came to the same. */
  readonly audited: number
}

/** One bounded search, with what it takes for the same state. */
interface Stage {
  readonly by: 'fingerprint' | 'history' | 'nothing'
  readonly bounded: BoundedSearch
  readonly audit: Audit
}

/** What an execution was asked for. */
type Purpose =
  | { readonly is: 'prefix'; readonly stage: Stage; readonly prefix: Prefix }
  | { readonly is: 'second'; readonly stage: Stage; readonly pair: Pair }
  | { readonly is: 'first'; readonly stage: Stage; readonly second: TaskOutcome }

/**
 * All schedules by rising depth, first without those after a state in which the same is observed as in one met before. As
 * something hidden may differ in such states, a sample of them is audited. Where that shows a difference, and where nothing
 * else is left, it begins again with finer states: those by the inputs that each node was given, and in the end none.
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
  readonly #purposes = new Map<Execution, Purpose>()
  /** Audits whose second half is due. */
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

  /** Whether every schedule was executed, and none left out for a state that merely looked like another. */
  get isExhaustive(): boolean {
    return this.#stages.some(stage => stage.bounded.exhausted && !this.#isLossy(stage))
  }

  /** Whether states are told apart as a whole, so that nothing is left to be found once all are met. */
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

  next(): Execution | undefined {
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
      labels: prefix.labels,
      walks: random => (this.#options.walksOn ? [surpriseWalk(random, 'race')] : []),
    })
    this.#purposes.set(execution, { is: 'prefix', stage: this.#stage, prefix })
    return execution
  }

  learn(execution: Execution, came: TaskOutcome | Diverged): void {
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
    const { depthMax, everyOrder, random } = this.#options
    const stage = { by, bounded: new BoundedSearch({ depthMax, everyOrder, by }), audit: new Audit(random.fork()) }
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

  /** An execution whose states are watched, after a schedule of its own. */
  #audit(purpose: Purpose, labels: readonly string[], walk: Walk): Execution {
    const { task, ...rest } = this.#experience.executionOf({ search: 'bounded', labels, walks: () => [walk] })
    // No walk to a live state: the walk to be compared is all that is wanted.
    const { untilLive: _, surprises: __, untilViolation: ___, ...others } = task
    const execution = { ...rest, task: { ...others, isWatched: true } }
    this.#purposes.set(execution, purpose)
    return execution
  }

  #compare(stage: Stage, second: TaskOutcome, first: TaskOutcome | Diverged): void {
    stage.audit.compare(second, first)
    const { refuted } = stage.audit
    if (refuted === undefined || !this.#stages.includes(stage)) return
    const finer = this.#finerThan(stage)
    const told =
      finer === 'history' ? 'by the inputs that each node was given' : 'by nothing: each schedule is executed'
    this.notes.push(
      `states that look alike are not the same: two of them were gone on from with the same choices, and ${refuted}. ` +
        `They are told apart ${told} from there on`,
    )
    this.#stages = this.#stages.filter(each => each !== stage)
    this.#begin(finer)
  }

  /** Where all is done that this kind of states left. */
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
