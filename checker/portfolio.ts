import type { Cells } from './cells/cells.ts'
import type { NodeOutcome, TaskOutcome } from './cells/task.ts'
import { headline } from './cells/violation.ts'
import { interruptions } from './choosers/interrupted.ts'
import { Bandit } from './searches/bandit.ts'
import type { ExplorerOrder } from './searches/deviations/explorer.ts'
import type { ExplorerSearch } from './searches/deviations/explorer-search.ts'
import { Experience, type ExperienceOptions } from './searches/experience.ts'
import { fruitfulSearch } from './searches/fruitful.ts'
import type { LocalSearch } from './searches/local/local.ts'
import type { SearchKind } from './searches/options.ts'
import {
  type DeviationCoverage,
  type ExploredCoverage,
  isAlone,
  type LocalCoverage,
  type NodeExecution,
  type RequestedExecution,
  type Search,
  type SearchCoverage,
  type SearchName,
} from './searches/search.ts'
import { type Depths, type StagedOptions, StagedSearch } from './searches/staged.ts'
import { straightSearch } from './searches/straight.ts'
import { walkSearch } from './searches/walks.ts'
import { BudgetSpent } from './system/budget.ts'
import { Diverged, Unfaithful, UsageError } from './system/errors.ts'
import { Random } from './system/random.ts'
import type { ChoiceKind } from './system/system.ts'

export interface PortfolioOptions extends ExperienceOptions {
  readonly search: SearchKind
  /** Of the bounded search. */
  readonly bounded?: StagedOptions['bounded']
  /** Whether time or a number of executions limits the check. */
  readonly isLimited: boolean
  /** Whether a number of executions limits the check: then nothing is done that is none. */
  readonly isOfExecutions?: boolean | undefined
  /** Makes the searches that execute nodes alone; absent if that is not possible. */
  readonly alone?: SearchesAlone | undefined
}

type Local = Search & Pick<LocalSearch<never>, 'local' | 'notes'>
type Exploring = Search &
  Pick<ExplorerSearch<never>, 'explored' | 'notes' | 'whyEnded' | 'isWaiting' | 'isDone' | 'end'>

export interface SearchesAlone {
  readonly local: (experience: Experience) => Local
  /** @param isBeside whether it is one of several searches, and may come to nothing if nodes cannot be executed alone */
  readonly exploring: (experience: Experience, order: ExplorerOrder, isBeside: boolean) => Exploring
}

/**
 * The order of turns in a round. `best` is the search that pays most so far. It has only one turn a round, because new
 * states are not all that matters. Its turn comes last, because at first nothing is known of any search. `best` draws
 * from its own random numbers, so that the other searches do the same with and without it.
 */
const rounds: Readonly<Record<SearchKind, readonly (SearchName | 'best')[]>> = {
  auto: ['race', 'late', 'bounded', 'race', 'race', 'weighted', 'priority', 'best'],
  walk: ['race', 'race', 'late', 'weighted', 'priority', 'best'],
  bounded: ['bounded'],
  local: ['local'],
  consequence: ['consequence'],
  deviations: ['deviations'],
}
/** Searches that get a turn only while they pay most. The search by deviations is one of them in `auto`. */
const whilePaying: readonly SearchName[] = ['fruitful', 'deviations']
/**
 * From a given state, mostly one of a live run, the search by deviations has the first turn of each round of `auto`.
 * Violations are often near such a state, and this search need not execute the way to it for each try.
 */
const roundFromState: readonly (SearchName | 'best')[] = ['deviations', ...rounds.auto]
/**
 * A turn of a search of nodes alone: inputs of nodes, or steps in memory, that take about as long as one execution. A node that begins
 * anew for an input takes as long as that alone.
 */
const inputsPerTurn = 30
const transitionsPerTurn = 10_000

/**
 * Walks for what only some systems do, or what is seldom behind a bug. They have one turn after this many others: with
 * fewer others, what needs none of them is found later. They draw random numbers of their own, so that the others do
 * the same with them as without.
 */
const aside = {
  /** Where clients call, walks that wait. */
  patient: { after: 4, of: ['client'] },
  /** Where nodes may be paused or lose their power, walks in which one does, between two certain steps: so it takes many. */
  interrupted: { after: 2, of: interruptions },
  /**
   * Where nodes wait for something, walks that keep time. Most bugs need none of them: others find those sooner, in states with fewer
   * messages in flight, from which shrinking takes less. So they begin late.
   */
  timely: { from: 100, after: 3, of: ['timer'] },
} as const satisfies { readonly [Name in SearchName]?: Aside }

interface Aside {
  /** Turns of the others before its first one. */
  readonly from?: number
  /** Turns of the others for each of its own. */
  readonly after: number
  /** Kinds of steps, of which one must have been possible. */
  readonly of: readonly ChoiceKind[]
}

const asideNames = Object.keys(aside) as readonly (keyof typeof aside)[]

/**
 * This many executions are under way at once, whatever the number of cells. Each uses what earlier ones taught, so the
 * number must be fixed if the search shall not depend on the number of cells. A larger one would plan on older
 * knowledge; a smaller one would leave cells idle.
 */
const aheadMax = 8

/** An execution that was completed. */
export interface Explored {
  readonly execution: RequestedExecution
  readonly outcome: TaskOutcome
  /** A liveness property that was never live in its last part. */
  readonly starved: string | undefined
}

/** An execution that diverged from its schedule, or does not count because it was disturbed. */
export interface Failed {
  readonly execution: RequestedExecution
  readonly error: Diverged
}

/**
 * Gives turns to the searches of a check. Each execution has up to three parts: a schedule of a search; a walk with
 * faults and overlaps; and, for liveness properties, a walk without faults until each was live (MaceMC, algorithm 2).
 * Liveness counts only from there on. An execution is used to its end, because its start is the most expensive part.
 */
export class Portfolio {
  readonly experience: Experience
  readonly #round: (typeof rounds)[SearchKind]
  readonly #bandit: Bandit
  /** Random numbers for the turns of `best`. */
  readonly #ofBest = new Random(2)
  /** Of each search that is aside: its random numbers, and how many turns it had. */
  readonly #aside: ReadonlyMap<SearchName, { readonly random: Random; turns: number }>
  readonly #straight: Search | undefined
  readonly #bounded: StagedSearch
  readonly #local: Local | undefined
  /** The search by deviations, or consequence prediction. */
  readonly #exploring: Exploring | undefined
  readonly #searches: ReadonlyMap<SearchName, Search>
  /** Whether the search by deviations is one of several. */
  readonly #isBeside: boolean
  #turns = 0
  #underWay = 0
  /** The turn of the search by deviations: how many more inputs it has, and up to how many steps in memory. */
  #lasting: { inputs: number; readonly transitionsMax: number } | undefined
  /** For how many inputs a node began anew. */
  #anew = 0
  /** What the search by deviations had gained when it was last judged. */
  #judged: SearchCoverage | undefined

  constructor(options: PortfolioOptions) {
    const { search, bounded, isLimited } = options
    const experience = new Experience(options)
    this.experience = experience
    const mayBeside = search === 'auto' && options.alone !== undefined && !options.isOfExecutions
    this.#round = mayBeside && experience.hasBegin ? roundFromState : rounds[search]
    const isAlone = search === 'bounded'
    this.#bounded = new StagedSearch(experience, {
      bounded,
      goesOn: isLimited,
      walksOn: !isAlone || experience.liveness.length === 0,
      random: new Random(1),
    })
    this.#local = search === 'local' ? required(options.alone, search).local(experience) : undefined
    const order = mayBeside ? 'deviations' : search
    if (order === 'deviations' || order === 'consequence')
      this.#exploring = required(options.alone, search).exploring(experience, order, mayBeside)
    this.#isBeside = mayBeside
    const round = () => Math.floor(this.#turns / this.#round.length)
    const all: Search[] = [
      ...(['race', 'late', 'weighted', 'priority'] as const).map(name => walkSearch(name, experience, round)),
      fruitfulSearch(experience, round),
      this.#bounded,
      ...(this.#local ? [this.#local] : []),
      ...(this.#exploring ? [this.#exploring] : []),
    ]
    // First the way that systems are built for.
    this.#straight = isAlone ? undefined : straightSearch(experience)
    const paying = this.#round.includes('best') ? whilePaying : []
    const mine = all.filter(({ name }) => this.#round.includes(name) || paying.includes(name))
    const seeds = options.random.copy()
    const names = search === 'auto' || search === 'walk' ? asideNames : []
    this.#aside = new Map(names.map(name => [name, { random: seeds.fork(), turns: 0 }]))
    const others = names.map(name => walkSearch(name, experience, round))
    const searches = [...(this.#straight ? [this.#straight] : []), ...mine, ...others]
    this.#searches = new Map(searches.map(each => [each.name, each]))
    this.#bandit = new Bandit(mine.map(({ name }) => name))
  }

  /** Executes until nothing is left to explore. Also yields the executions that diverged or do not count. */
  async *explore(cells: Cells): AsyncGenerator<Explored | Failed, void, void> {
    const outcomes = cells.inOrder(
      () => this.#next(),
      (asked, cells): Promise<TaskOutcome | NodeOutcome | Diverged> => {
        const own = cells.ofVariant(asked.variant)
        if (isAlone(asked)) return this.#runAlone(own, asked)
        return own.for(asked.purpose ?? 'search').tryRun(asked.task)
      },
      aheadMax,
    )
    for await (const [execution, result] of outcomes) {
      this.#underWay -= 1
      const search = this.#searches.get(execution.search)!
      const before = this.#gainOf(search)
      if (isAlone(execution)) {
        this.#judged ??= before
        if ('beginsAnew' in result && result.beginsAnew) this.#endTurn()
        search.learnAlone!(execution, result as NodeOutcome | Diverged)
        if (!this.#lasting && !this.#exploring?.isWaiting) this.#judge()
        continue
      }
      const came = result as TaskOutcome | Diverged
      search.learn(execution, came)
      if (!this.#aside.has(execution.search)) this.#bandit.learn(before, this.#gainOf(search))
      if (execution.isGuess && came instanceof Diverged && !(came instanceof Unfaithful)) continue
      if (came instanceof Diverged) yield { execution, error: came }
      else yield { execution, outcome: came, starved: this.experience.learn(execution, came) }
    }
  }

  /** Beside other searches, an error ends the search by deviations alone: nodes without their peers may do anything. */
  async #runAlone(cells: Cells, { task }: NodeExecution): Promise<NodeOutcome | Diverged> {
    try {
      return await cells.tryRunAlone(task, !this.#isBeside)
    } catch (error) {
      if (!this.#isBeside || error instanceof BudgetSpent) throw error
      this.#exploring!.end(error instanceof Error ? error.message : String(error))
      return { last: undefined }
    }
  }

  /** Coverage of each search, in the order of their first turns. */
  get coverage(): readonly SearchCoverage[] {
    return [...this.#searches.values()].map(search => search.coverage())
  }

  get depths(): Depths {
    return this.#bounded.depths
  }

  /** Schedules that could be executed once and never again. */
  get givenUp(): number {
    return this.#bounded.givenUp
  }

  get notes(): readonly string[] {
    // What it cannot do, the other searches do from the start, but hardly from a state of a long run.
    const isSaid = !this.#isBeside || this.experience.hasBegin
    const { notes = [], whyEnded } = this.#exploring ?? {}
    const ended = whyEnded === undefined ? [] : [`the search by deviations was ended: ${headline(whyEnded)}`]
    return [...this.#bounded.notes, ...(this.#local?.notes ?? []), ...(isSaid ? notes : []), ...ended]
  }

  /** Figures of the local search; null if there is none. */
  get local(): LocalCoverage | null {
    return this.#local?.local ?? null
  }

  /** Figures of the search by deviations; null if there is none, or it is one of several and had no turn. */
  get deviations(): DeviationCoverage | null {
    if (this.#exploring?.name !== 'deviations') return null
    const { explored } = this.#exploring
    return !this.#isBeside || explored.transitions > 0 ? explored : null
  }

  /** Figures of consequence prediction; null if there is none. */
  get consequence(): ExploredCoverage | null {
    if (this.#exploring?.name !== 'consequence') return null
    const { deviations: _, ...figures } = this.#exploring.explored
    return figures
  }

  /** What a search has gained. Of nodes alone, their own states count. */
  #gainOf(search: Search): SearchCoverage {
    const found = search.coverage()
    if (search !== this.#exploring) return found
    const { executed, localStates } = this.#exploring.explored
    return {
      ...found,
      steps: found.steps + executed + inputsPerTurn * this.#anew,
      states: found.states + localStates,
    }
  }

  /** A node began anew for an input, which is as much as a turn. */
  #endTurn(): void {
    this.#anew += 1
    if (this.#lasting) this.#lasting.inputs = 0
  }

  #next(): RequestedExecution | NodeExecution | undefined {
    const besides = this.#nextAside()
    const execution = besides ?? this.#planned()
    if (!execution) return undefined
    this.#underWay += 1
    if (besides) return besides
    if (this.#lasting && isAlone(execution) && --this.#lasting.inputs > 0) return execution
    this.#lasting = undefined
    this.#turns += 1
    return execution
  }

  /** After a turn of the search by deviations, which is as much as one execution of the others. */
  #judge(): void {
    const deviations = this.#exploring
    if (!deviations || !this.#isBeside) return
    const gained = this.#gainOf(deviations)
    this.#bandit.learn(this.#judged ?? gained, gained)
    this.#judged = undefined
    if (deviations.isDone) this.#bandit.leaveOut(deviations.name)
  }

  /** Of a search that is aside, where it is its turn. */
  #nextAside(): RequestedExecution | NodeExecution | undefined {
    if (this.#lasting || this.#isOver) return undefined
    for (const name of asideNames) {
      const own = this.#aside.get(name)
      const { from = 0, after, of }: Aside = aside[name]
      const due = Math.floor((this.#turns - from) / after)
      if (!own || !of.some(kind => this.experience.kinds.has(kind)) || own.turns >= due) continue
      own.turns += 1
      return this.experience.drawingFrom(own.random, () => this.#searches.get(name)!.next())
    }
    return undefined
  }

  #planned(): RequestedExecution | NodeExecution | undefined {
    if (this.experience.completed === 0) {
      // How far away a live state is must be known before anything else begins.
      if (this.#underWay > 0) return undefined
      const straight = this.#straight?.next()
      if (straight) return straight
    }
    if (this.#isOver) return undefined
    if (this.#lasting) return this.#nextByDeviations()
    const turn = this.#round[this.#turns % this.#round.length]!
    if (turn !== 'best') return this.#nextOf(turn)
    return this.experience.drawingFrom(this.#ofBest, () => this.#nextOf(this.#bandit.best()))
  }

  /** Its turn goes on until it had enough inputs, or needs none. While it waits for an outcome, nobody else has a turn. */
  #nextByDeviations(): RequestedExecution | NodeExecution | undefined {
    const deviations = this.#exploring!
    const { inputs, transitionsMax } = this.#lasting!
    const goesOn = inputs > 0 && deviations.explored.transitions < transitionsMax
    const next = goesOn ? this.experience.drawingFrom(this.#ofBest, () => deviations.next()) : undefined
    if (next || deviations.isWaiting) return next
    this.#lasting = undefined
    this.#judge()
    return this.#searches.get('race')!.next()
  }

  /** While the bounded search waits for executions under way, or is done, walks towards races take its turn. */
  #nextOf(name: SearchName): RequestedExecution | NodeExecution | undefined {
    if (name === 'deviations' && this.#isBeside) {
      const { transitions } = this.#exploring!.explored
      this.#lasting = { inputs: inputsPerTurn, transitionsMax: transitions + transitionsPerTurn }
      return this.#nextByDeviations()
    }
    return this.#searches.get(name)!.next() ?? this.#searches.get('race')?.next()
  }

  /** In a system whose whole state is visible, nothing is left once every state was met. */
  get #isOver(): boolean {
    return this.#bounded.isExhaustive && (this.#bounded.isWhole || !this.#straight)
  }
}

const required = (alone: SearchesAlone | undefined, search: SearchKind): SearchesAlone => {
  if (alone) return alone
  throw new UsageError(`search: \`${search}\` executes each node alone, which this system cannot do`)
}
