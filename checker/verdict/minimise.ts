import type { Cells } from '../cells/cells.ts'
import { untilHealthy } from '../cells/healthy.ts'
import type { Arrival, TaskOutcome } from '../cells/task.ts'
import { isFault, isRepair } from '../happening/kinds.ts'
import { BudgetSpent, type SearchLimits } from '../system/budget.ts'
import { Diverged } from '../system/errors.ts'
import { milderThan } from '../system/harm.ts'
import { labelsOf } from '../system/labels.ts'
import { startAfter } from '../system/start.ts'
import type { Choice } from '../system/system.ts'

/** What was executed of a candidate, what was skipped, and for each step the one after which it was first enabled. */
export interface Attempted extends Pick<TaskOutcome, 'schedule' | 'fingerprints'> {
  readonly arrival: Pick<Arrival, 'offered' | 'skipped'>
  /** Whether it has the violation of the schedule to be minimised. */
  readonly isAlike: boolean
}

/**
 * Executes a candidate leniently: steps that only a dropped step would have enabled are skipped. `undefined` if it
 * cannot be executed, or need not be.
 *
 * @param isShifted whether timers that are due at other times are matched by node and order
 */
export type Attempt = (labels: readonly string[], cells: Cells, isShifted: boolean) => Promise<Attempted | undefined>

export interface MinimiseLimits extends SearchLimits {
  /** How many steps at the beginning stay as they are; 0 by default. */
  readonly kept?: number | undefined
}

export interface Minimum {
  readonly schedule: readonly Choice[]
  /** Executions that it took. */
  readonly executions: number
  /** Whether the rules left no smaller schedule to try; `false` if the budget was spent first. */
  readonly minimal: boolean
}

/**
 * The shortest schedule found that still violates. First it cuts loops between equal states and tries to do without
 * faults. Then it drops steps by delta debugging (ddmin: Zeller, Hildebrandt, "Simplifying and Isolating
 * Failure-Inducing Input", TSE 2002): all steps of a node, its timers, conversations (a timer or call with all messages
 * that follow from it), and finally single steps, as in hierarchical delta debugging (Misherghi, Su, ICSE 2006). It moves
 * deliveries next to the steps that sent them before it drops single steps, because all of these are tried again in
 * another order. What can be moved only after that is moved last; overlaps are split into their parts, and divided
 * messages arrive whole; faults do less harm, and end sooner; and single steps are dropped again. Calls that only made nodes draw other random numbers, and so shifted
 * later timers, are dropped last, for as many timers at most. The result is 1-minimal: no single step can be dropped.
 *
 * A candidate is not executed if a failed one differs from it only in steps that were skipped: it would fail as well.
 *
 * The schedule must violate. Everything is deterministic, so equal schedules give equal results.
 */
export const minimise = (
  cells: Cells,
  schedule: readonly Choice[],
  attempt: Attempt,
  limits: MinimiseLimits = {},
): Promise<Minimum> => minimiseBy(minimiser => minimiser.minimise(), cells, schedule, attempt, limits)

/** Shortens a schedule that is nearly minimal: only single steps are dropped. */
export const minimiseSteps = (
  cells: Cells,
  schedule: readonly Choice[],
  attempt: Attempt,
  limits: SearchLimits = {},
): Promise<Minimum> => minimiseBy(minimiser => minimiser.dropSteps(), cells, schedule, attempt, limits)

const minimiseBy = async (
  work: (minimiser: Minimiser) => Promise<void>,
  cells: Cells,
  schedule: readonly Choice[],
  attempt: Attempt,
  { kept = 0, ...limits }: MinimiseLimits,
): Promise<Minimum> => {
  const minimiser = new Minimiser(cells.within(limits), schedule, attempt, kept)
  const before = cells.counts.executions
  let minimal = true
  try {
    await work(minimiser)
  } catch (error) {
    if (!(error instanceof BudgetSpent)) throw error
    minimal = false
  }
  return {
    schedule: [...schedule.slice(0, kept), ...minimiser.best],
    executions: cells.counts.executions - before,
    minimal,
  }
}

/** The first chunks of single steps to drop are this part of the schedule. Larger ones were tried as conversations. */
const chunksMin = 32

/** Milder faults that are tried in place of a fault at most, and sooner ends of it. */
const milderMax = 12
const soonerMax = 8

/** A piece of a schedule: from step `begin` up to before `end`. */
type Piece = readonly [begin: number, end: number]

class Minimiser {
  /** Without the steps that are kept, as all places below. */
  best: readonly Choice[]
  readonly #kept: readonly string[]
  readonly #cells: Cells
  readonly #attempt: Attempt
  readonly #tried = new Set<string>()
  /** Candidates that did not have the violation. */
  readonly #failed: Failed[] = []
  #bestStates: TaskOutcome['fingerprints'] = []
  #offered: readonly number[] = []

  constructor(cells: Cells, schedule: readonly Choice[], attempt: Attempt, kept: number) {
    this.#cells = cells
    this.#kept = labelsOf(schedule.slice(0, kept))
    this.#attempt = async (labels, cells, isShifted) => {
      const attempted = await attempt([...this.#kept, ...labels], cells, isShifted)
      return attempted && behind(attempted, kept)
    }
    this.best = schedule.slice(kept)
  }

  async minimise(): Promise<void> {
    await this.#dropLoops()
    await this.#dropFaults()
    await this.#dropUnits(() => unitsOfNodes(this.best))
    await this.#dropUnits(() => conversations(this.best, this.#offered))
    await this.#joinConversations()
    do await this.dropSteps()
    while (
      (await this.#joinConversations()) ||
      (await this.#splitOverlap()) ||
      (await this.#makeWhole()) ||
      (await this.#soften()) ||
      (await this.#endSooner()) ||
      (await this.#dropCalls())
    )
  }

  /** Drops the longest loop first. If that fails, shorter ones are left to the later passes. */
  async #dropLoops(): Promise<void> {
    const outcome = await this.#cells.run({ start: startAfter([...this.#kept, ...labelsOf(this.best)]) })
    const { fingerprints, arrival } = behind({ ...outcome, isAlike: true }, this.#kept.length)
    this.#offered = arrival.offered
    let [begin, end] = longestLoop(fingerprints)
    while (begin < end && (await this.#tryOne([without(this.best, [begin, end])])) !== undefined)
      [begin, end] = longestLoop(this.#bestStates)
  }

  async #dropFaults(): Promise<void> {
    const faultless = this.best.filter(choice => !isFault(choice.kind))
    if ((await this.#tryOne([faultless])) === undefined) await this.#drop(faultsBefore)
  }

  /** Drops units of steps that belong together, in groups of ever fewer units, from the end. */
  async #dropUnits(unitsOf: () => readonly Unit[]): Promise<void> {
    for (let size = Math.ceil(unitsOf().length / 2); size >= 1; size = Math.floor(size / 2)) {
      for (let end = unitsOf().length; end > 0; ) {
        const units = unitsOf().slice(0, end)
        const groups = chunksBefore(units.length, size)
        const candidates = groups.map(([from, to]) => omit(this.best, units.slice(from, to).flat()))
        const index = await this.#tryOne(candidates)
        if (index === undefined) break
        end = groups[index]![0]
      }
    }
  }

  /**
   * Moves the steps of each conversation together, for all conversations at once or one after another. Returns whether
   * any order changed.
   */
  async #joinConversations(): Promise<boolean> {
    const isAnother = (candidate: readonly Choice[]) => candidate.some((choice, place) => choice !== this.best[place])
    const all = conversations(this.best, this.#offered).flatMap(unit => unit.map(place => this.best[place]!))
    if (isAnother(all) && (await this.#tryOne([all])) !== undefined) return true
    let isChanged = false
    for (let left = conversations(this.best, this.#offered).length; left > 0; ) {
      const units = conversations(this.best, this.#offered).slice(0, left)
      const joined = units.map((unit, index) => ({ index, candidate: joinedAlone(this.best, unit) })).reverse()
      const others = joined.filter(({ candidate }) => isAnother(candidate))
      const kept = await this.#tryOne(others.map(({ candidate }) => candidate))
      if (kept === undefined) break
      left = others[kept]!.index
      isChanged = true
    }
    return isChanged
  }

  /** ddmin over complements: drops ever smaller chunks until no single step can be dropped. */
  async dropSteps(): Promise<void> {
    for (let size = Math.ceil(this.best.length / chunksMin); size >= 1; ) {
      const dropped = await this.#drop((_, end) => chunksBefore(end, size))
      if (size > 1) size = Math.floor(size / 2)
      else if (!dropped) return
    }
  }

  /** Drops pieces from the end, because the steps before them depend least on the last ones. */
  async #drop(piecesBefore: (schedule: readonly Choice[], end: number) => readonly Piece[]): Promise<boolean> {
    let dropped = false
    for (let end = this.best.length; ; ) {
      const pieces = piecesBefore(this.best, end)
      const index = await this.#tryOne(pieces.map(piece => without(this.best, piece)))
      if (index === undefined) return dropped
      dropped = true
      end = Math.min(pieces[index]![0], this.best.length)
    }
  }

  async #splitOverlap(): Promise<boolean> {
    const candidates = this.best.flatMap((overlap, i) => {
      const parts = overlap.joins
      return parts ? [[...this.best.slice(0, i), ...parts, ...this.best.slice(i + 1)]] : []
    })
    return (await this.#tryOne(candidates)) !== undefined
  }

  /** Has a divided message arrive at once. The arrival of its rest is then skipped. */
  async #makeWhole(): Promise<boolean> {
    const candidates = this.best.flatMap(({ whole }, i) =>
      whole ? [[...this.best.slice(0, i), whole, ...this.best.slice(i + 1)]] : [],
    )
    return (await this.#tryOne(candidates)) !== undefined
  }

  /** Has a fault do less harm, if that violates too. */
  async #soften(): Promise<boolean> {
    for (const [place, fault] of this.best.entries()) {
      if (!isFault(fault.kind)) continue
      const [before, after] = [this.best.slice(0, place), this.best.slice(place + 1)]
      const milder = milderThan(fault, await this.#enabledAfter(before)).slice(0, milderMax)
      if ((await this.#tryOne(milder.map(each => [...before, each, ...after]))) !== undefined) return true
    }
    return false
  }

  async #enabledAfter(steps: readonly Choice[]): Promise<readonly Choice[]> {
    const came = await this.#cells.tryRun({ start: startAfter([...this.#kept, ...labelsOf(steps)]) })
    return came instanceof Diverged ? [] : came.arrival.enabled
  }

  /** Has a fault end before one of the timers that fire while it lasts: a shorter pause, or a shorter cut. */
  async #endSooner(): Promise<boolean> {
    const candidates = this.best.flatMap((repair, end) => {
      if (!isRepair(repair.kind)) return []
      const begin = this.best.slice(0, end).findLastIndex(fault => endsWith(fault, repair))
      const rest = without(this.best, [end, end + 1])
      return placesOf(this.best, ({ kind }) => kind === 'timer')
        .filter(place => place > begin && place < end)
        .slice(0, soonerMax)
        .map(place => rest.toSpliced(place, 0, repair))
    })
    return (await this.#tryOne(candidates)) !== undefined
  }

  /** Drops calls with all that follows from them, all or single ones, though later timers are due at other times then. */
  async #dropCalls(): Promise<boolean> {
    if (this.best.every(({ kind }) => kind !== 'timer')) return false
    const calls = conversations(this.best, this.#offered).filter(([root]) => this.best[root!]!.kind === 'client')
    const all = calls.length > 1 ? [calls.flat()] : []
    const candidates = [...all, ...calls.reverse()].map(places => omit(this.best, places))
    return (await this.#tryOne(candidates, true)) !== undefined
  }

  /** Whether a schedule that was executed with other timers has fewer calls, and no more steps. */
  #isSmaller(schedule: readonly Choice[]): boolean {
    const callsIn = (choices: readonly Choice[]) => choices.filter(({ kind }) => kind === 'client').length
    return schedule.length <= this.best.length && callsIn(schedule) < callsIn(this.best)
  }

  /** Executes candidates until one still violates, and keeps what was executed of it. Returns its index. */
  async #tryOne(candidates: readonly (readonly Choice[])[], isShifted = false): Promise<number | undefined> {
    const untried = this.#untried(candidates, isShifted).values()
    const attempts = this.#cells.inOrder(
      () => untried.next().value,
      ({ labels }, cells) => this.#attempt(labels, cells, isShifted),
    )
    for await (const [{ index, key, labels }, kept] of attempts) {
      this.#tried.add(key)
      if (!kept || (isShifted && !this.#isSmaller(kept.schedule))) continue
      if (!kept.isAlike) {
        if (kept.arrival.skipped.length > 0) this.#failed.push({ labels, skipped: new Set(kept.arrival.skipped) })
        continue
      }
      this.best = kept.schedule
      this.#bestStates = kept.fingerprints
      this.#offered = kept.arrival.offered
      return index
    }
    return undefined
  }

  #untried(candidates: readonly (readonly Choice[])[], isShifted: boolean) {
    const all = candidates.map((candidate, index) => {
      const labels = untilHealthy(labelsOf(candidate))
      return { index, labels, key: [isShifted, ...labels].join('\n') }
    })
    const isFirst = (index: number, key: string) => all.findIndex(other => other.key === key) === index
    const isKnown = (labels: readonly string[]) =>
      !isShifted && this.#failed.some(failed => comesToTheSame(labels, failed))
    return all.filter(({ index, key, labels }) => !this.#tried.has(key) && isFirst(index, key) && !isKnown(labels))
  }
}

/** What was executed behind the steps that are kept, by places behind them. */
const behind = ({ schedule, fingerprints, arrival, isAlike }: Attempted, kept: number): Attempted => ({
  schedule: schedule.slice(kept),
  fingerprints: fingerprints.slice(kept),
  arrival: {
    offered: arrival.offered.slice(kept).map(step => Math.max(0, step - kept)),
    skipped: arrival.skipped.flatMap(place => (place < kept ? [] : [place - kept])),
  },
  isAlike,
})

/** A candidate that did not have the violation. */
interface Failed {
  readonly labels: readonly string[]
  /** Places of the labels that were skipped because they were not enabled. */
  readonly skipped: ReadonlySet<number>
}

/** Whether these labels are a failed candidate's, less some that its execution skipped: it would fail again. */
const comesToTheSame = (labels: readonly string[], { labels: all, skipped }: Failed): boolean => {
  let matched = 0
  for (const [place, label] of all.entries()) {
    if (label === labels[matched]) matched += 1
    else if (!skipped.has(place)) return false
  }
  return matched === labels.length
}

/** Indices of steps that belong together. */
type Unit = readonly number[]

/** For each node: all its steps, and all its timers. */
const unitsOfNodes = (schedule: readonly Choice[]): Unit[] => {
  const nodes = [...new Set(schedule.map(({ node }) => node))]
  return nodes.flatMap(node => [
    placesOf(schedule, choice => choice.node === node),
    placesOf(schedule, choice => choice.node === node && choice.kind === 'timer'),
  ])
}

const placesOf = (schedule: readonly Choice[], isMeant: (choice: Choice) => boolean): number[] =>
  schedule.flatMap((choice, place) => (isMeant(choice) ? [place] : []))

/**
 * Conversations: each step other than a delivery, with all deliveries that follow from it.
 *
 * @param offered for each step, the one after which it was first enabled, counted from 1
 */
const conversations = (schedule: readonly Choice[], offered: readonly number[]): Unit[] => {
  const roots: number[] = []
  const units = new Map<number, number[]>()
  for (const [place, { kind }] of schedule.entries()) {
    const parent = (offered[place] ?? 0) - 1
    const root = kind === 'deliver' && parent >= 0 && parent < place ? roots[parent]! : place
    roots.push(root)
    units.set(root, [...(units.get(root) ?? []), place])
  }
  return [...units.values()]
}

const omit = (schedule: readonly Choice[], places: readonly number[]): Choice[] => {
  const gone = new Set(places)
  return schedule.filter((_, place) => !gone.has(place))
}

/** The schedule with the steps of a conversation moved together to its beginning. */
const joinedAlone = (schedule: readonly Choice[], unit: Unit): Choice[] => {
  const [begin] = unit
  const rest = omit(schedule, unit)
  return [...rest.slice(0, begin), ...unit.map(place => schedule[place]!), ...rest.slice(begin)]
}

const without = (schedule: readonly Choice[], [begin, end]: Piece): Choice[] => [
  ...schedule.slice(0, begin),
  ...schedule.slice(end),
]

/** Chunks of this size, the last one first. The one at the beginning may be smaller. */
const chunksBefore = (end: number, size: number): Piece[] =>
  Array.from({ length: Math.ceil(end / size) }, (_, i) => [Math.max(0, end - (i + 1) * size), end - i * size])

const faultsBefore = (schedule: readonly Choice[], end: number): Piece[] =>
  schedule
    .slice(0, end)
    .flatMap((choice, i): Piece[] => (isFault(choice.kind) ? [[i, i + 1]] : []))
    .reverse()

/** Whether a fault lasts until such a repair. */
const endsWith = ({ kind, node }: Choice, repair: Choice): boolean =>
  repair.kind === 'heal' ? kind === 'partition' : isFault(kind) && kind !== 'partition' && node === repair.node

/** The longest piece between two equal states; `[0, 0]` if there is none. */
const longestLoop = (states: readonly (string | undefined)[]): Piece =>
  states.reduce<Piece>(
    (longest, state, end) => {
      const begin = state === undefined ? end : states.indexOf(state)
      return end - begin > longest[1] - longest[0] ? [begin, end] : longest
    },
    [0, 0],
  )
