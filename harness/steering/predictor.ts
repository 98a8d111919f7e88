import type { Mark } from '../../checker/cells/executor.ts'
import type { Suspicion } from '../../checker/searches/deviations/explorer.ts'
import { Table } from '../../checker/searches/local/table.ts'
import { MarkLost } from '../../checker/system/errors.ts'
import { readLabel } from '../../checker/system/labels.ts'
import type { Cluster } from '../cluster.ts'
import type { ResolvedSystem } from '../config/config.ts'
import type { RunSoFar } from '../timed/timing.ts'
import { type Filter, preventableOn, saidOf } from './filters.ts'
import { Neighbourhoods } from './neighbourhoods.ts'
import { type Foreseen, Outlook, type OutlookLimits } from './outlook.ts'

export interface PredictorOptions {
  /**
   * Inputs of nodes in a round's search for violations, and in all of its searches with something prevented. They take some
   * milliseconds each, and the run stands still meanwhile.
   */
  readonly inputsMax: number
  /** Steps in memory in each search, some ten thousand a second. */
  readonly transitionsMax: number
  /** Whether predicted violations are to be prevented. */
  readonly isSteered: boolean
  /**
   * Milliseconds of real time after which a round searches no further: half of them are for violations, the others for
   * what prevents them. The result of a round then depends on the machine. Without a limit by default.
   */
  readonly roundMs?: number | undefined
  readonly signal: AbortSignal
}

/** What a round of prediction comes to. */
export interface RoundOutcome {
  /** Executed on the whole system from the present state. */
  readonly foreseen: readonly (Foreseen & { readonly isNew: boolean })[]
  /** States without an end, in which a liveness property does not hold: single nodes alone came to them. */
  readonly suspected: readonly Suspicion[]
  readonly filters: readonly Filter[]
}

/** What was predicted so far. Plain data. */
export interface PredictionCounts {
  readonly rounds: number
  /** Inputs that nodes took, and steps in memory. */
  readonly inputs: number
  readonly transitions: number
  readonly seconds: number
  /** From how many states nothing was predicted, because they could not be marked, or their mark was lost. */
  readonly unmarked: number
  /** Violations that were predicted, and repeated on the whole system. */
  readonly predicted: number
  /** Ways of single nodes that violated nothing there. */
  readonly vain: number
  /** Predictions against which nothing was prevented, because a violation was predicted then too. */
  readonly unhelped: number
}

interface Searched {
  readonly found: Foreseen | undefined
  readonly suspected: readonly Suspicion[]
}

const nothing: RoundOutcome = { foreseen: [], suspected: [], filters: [] }

/** Ways of single nodes that are executed on the whole system in a round, at most. */
const suspicionsMax = 8
/**
 * Of the inputs of a round's search for violations. The search by deviations gets further where a way has many steps, and the one by consequence
 * finds what is near where a prompt network never comes to rest.
 */
const shareOfConsequence = 0.25
/** Violating ways that are tried again in each round, at most. Each costs a rewind and its steps. */
const knownMax = 4
/** Searches at most that look for violations with something prevented. */
const searchesMax = 6
/** Filters at once. More hinder the run more than a violation would. */
const filtersMax = 3
/** Messages of a way that are tried, its first ones and the last; and one timer or call. */
const triedMax = 4

/**
 * Predicts beside a run what may come from its present state, with the run's own processes (CrystalBall, section 3.2). What it
 * learns of single nodes is kept from round to round, so that later ones reach further. Each round comes to the same on any machine.
 */
export class Predictor {
  readonly counts: { -readonly [Name in keyof PredictionCounts]: number } = {
    ...{ rounds: 0, inputs: 0, transitions: 0, seconds: 0 },
    ...{ unmarked: 0, predicted: 0, vain: 0, unhelped: 0 },
  }
  readonly #cluster: Cluster
  readonly #system: ResolvedSystem
  readonly #options: PredictorOptions
  readonly #table: Table
  readonly #neighbourhoods: Neighbourhoods
  /** The nodes of the present round; undefined for all. */
  #within: ReadonlySet<string> | undefined
  /** Ways that violated something, the last one first. */
  #known: readonly Foreseen[] = []
  /** What the last round prevented. */
  #helped: ReadonlySet<string> = new Set()
  #searches = 0
  /** What the round's searches with something prevented may still give to nodes. */
  #inputsLeft = 0
  /** When the round began, by `performance.now()`. */
  #begunMs = 0

  /** @param system with the faults that may happen in a prediction */
  constructor(cluster: Cluster, system: ResolvedSystem, options: PredictorOptions) {
    this.#cluster = cluster
    this.#system = system
    this.#options = options
    const names = system.nodes.map(({ name }) => name)
    this.#table = new Table(names)
    this.#neighbourhoods = new Neighbourhoods(names)
  }

  /**
   * Looks for ways from the present state to a violation, and for what must not happen then. Afterwards the cluster is in that state
   * again, and goes on as without.
   *
   * @param state what is known of the run in its present state
   *
   * @param soFar how it came there
   */
  async look(state: Mark, soFar: RunSoFar): Promise<RoundOutcome> {
    this.#begunMs = performance.now()
    // Marking in vain, or going back, may cost the state: then the run is executed again.
    this.#cluster.running.soFar = soFar
    const mark = await this.#cluster.mark()
    if (mark === undefined) {
      this.counts.unmarked += 1
      return nothing
    }
    this.counts.rounds += 1
    this.#searches = 0
    this.#inputsLeft = this.#options.inputsMax
    this.#table.beginAnew()
    const { ordinals } = mark.execution.network
    this.#within = this.#neighbourhoods.next({ connected: this.#cluster.running.connected, sent: new Map(ordinals) })
    const outlook = new Outlook(this.#cluster, this.#system, { mark, state, signal: this.#options.signal })
    try {
      return await this.#look(outlook)
    } catch (error) {
      if (!(error instanceof MarkLost)) throw error
      this.counts.unmarked += 1
      return nothing
    } finally {
      await outlook.end()
      this.counts.seconds += (performance.now() - this.#begunMs) / 1000
    }
  }

  async #look(outlook: Outlook): Promise<RoundOutcome> {
    const { isSteered } = this.#options
    const old: Foreseen[] = []
    for (const way of this.#known) {
      const again = await outlook.execute(way)
      if (again) old.push(again)
    }
    // Steering searches with filters against the old ones.
    const { found, suspected } =
      isSteered && old.length > 0
        ? { found: undefined, suspected: [] }
        : await this.#searchBoth(outlook, old.length > 0)
    const isNew = found !== undefined && !this.#isKnown(found)
    const foreseen = [...old.map(each => ({ ...each, isNew: false })), ...(found ? [{ ...found, isNew }] : [])]
    this.counts.predicted += foreseen.length
    if (found && isNew) this.#learn(found)
    const filters = isSteered ? await this.#filtersAgainst(foreseen, outlook) : []
    return { foreseen, suspected, filters }
  }

  #isKnown(way: Pick<Foreseen, 'labels'>): boolean {
    return this.#known.some(known => endOf(known) === endOf(way))
  }

  #learn(way: Foreseen): void {
    this.#known = [way, ...this.#known].slice(0, knownMax)
  }

  /** By deviations, and if that finds nothing, by consequence. Both give nodes as many inputs together as a round may. */
  async #searchBoth(outlook: Outlook, isToBeNew: boolean): Promise<Searched> {
    const { inputsMax } = this.#options
    const before = this.counts.inputs
    const first = 1 - shareOfConsequence
    const { found, suspected } = await this.#search(outlook, {
      ...{ order: 'deviations', isToBeNew, inputsMax: Math.ceil(inputsMax * first), untilMs: this.#after(first / 2) },
    })
    if (found) return { found, suspected }
    const left = inputsMax - (this.counts.inputs - before)
    const later = await this.#search(outlook, {
      ...{ order: 'consequence', isToBeNew, inputsMax: left, untilMs: this.#after(1 / 2) },
    })
    return { found: later.found, suspected }
  }

  /** When this part of the round's time is over. */
  #after(part: number): number {
    return this.#begunMs + part * (this.#options.roundMs ?? Number.POSITIVE_INFINITY)
  }

  /** The first way that violates something on the whole system. */
  async #search(
    outlook: Outlook,
    {
      isToBeNew = false,
      ...limits
    }: Pick<OutlookLimits, 'order' | 'inputsMax' | 'untilMs'> &
      Partial<OutlookLimits> & { readonly isToBeNew?: boolean },
  ): Promise<Searched> {
    const { transitionsMax } = this.#options
    const { suspicions, inputs, transitions, isLost } = await outlook.predict(this.#table, this.counts.rounds, {
      ...{ transitionsMax, suspicionsMax, within: this.#within },
      ...limits,
    })
    this.counts.inputs += inputs
    this.counts.transitions += transitions
    // What was not tried any more would look as if it led nowhere, and a filter as if it helped.
    if (isLost) throw new MarkLost('it was lost in the middle of a round')
    const suspected = suspicions.filter(({ kind }) => kind === 'dead')
    for (const suspicion of suspicions) {
      if (suspicion.kind === 'dead' || (isToBeNew && this.#isKnown(suspicion))) continue
      const { labels, deviations: cost } = suspicion
      const found = await outlook.execute({ labels, order: limits.order, cost })
      if (found) return { found, suspected }
      this.counts.vain += 1
    }
    return { found: undefined, suspected }
  }

  async #filtersAgainst(foreseen: readonly Foreseen[], outlook: Outlook): Promise<readonly Filter[]> {
    let filters: readonly Filter[] = []
    for (const way of foreseen) {
      if (preventableOn(way.labels).some(label => filters.some(({ said }) => said === saidOf(label)))) continue
      const more = await this.#prevent(way, filters, outlook)
      if (more === undefined) this.counts.unhelped += 1
      filters = more ?? filters
    }
    this.#helped = new Set(filters.map(({ said }) => said))
    return filters
  }

  /**
   * Adds a filter against a way: at its first step without which no violation is predicted, at most as far away. If that is
   * another one, a filter is added against that too.
   */
  async #prevent(way: Foreseen, filters: readonly Filter[], outlook: Outlook): Promise<readonly Filter[] | undefined> {
    if (filters.length >= filtersMax) return undefined
    const steps = stepsToTry(way)
    const helped = steps.filter(label => this.#helped.has(saidOf(label)))
    for (const label of new Set([...helped, ...steps])) {
      if (this.#searches >= searchesMax || this.#inputsLeft <= 0) return undefined
      const untilMs = this.#after(1)
      if (performance.now() >= untilMs) return undefined
      this.#searches += 1
      const tried = [...filters, { said: saidOf(label), label, against: describeForeseen(way) }]
      const prevented = new Set(tried.map(({ said }) => said))
      const before = this.counts.inputs
      const { found } = await this.#search(outlook, {
        ...{ order: way.order, prevented, costMax: way.cost, inputsMax: this.#inputsLeft, untilMs },
      })
      this.#inputsLeft -= this.counts.inputs - before
      if (found === undefined) return tried
      if (describeForeseen(found) === describeForeseen(way)) continue
      const more = await this.#prevent(found, tried, outlook)
      if (more) return more
    }
    return undefined
  }
}

/** Messages come first: what is only put off may come again. */
const stepsToTry = ({ labels }: Foreseen): string[] => {
  const all = preventableOn(labels)
  const messages = all.filter(label => readLabel(label).kind === 'deliver')
  const others = all.filter(label => !messages.includes(label))
  const tried = [...messages.slice(0, triedMax - 1), ...messages.slice(triedMax - 1).slice(-1), ...others.slice(0, 1)]
  return [...new Map(tried.map(label => [saidOf(label), label])).values()]
}

/** Equal for ways that end with a step of the same kind with the same words, on whatever node. */
const endOf = ({ labels }: Pick<Foreseen, 'labels'>): string => {
  const { kind, subject } = readLabel(labels.at(-1) ?? '')
  return `${kind} ${subject}`
}

/** `safety neverOversold`. */
export const describeForeseen = ({ kind, property }: Pick<Foreseen, 'kind' | 'property'>): string =>
  [kind, property].filter(word => word !== undefined).join(' ')
