import { BudgetSpent, type Limits } from './budget.ts'
import type { Cells } from './cells.ts'
import { labelsOf } from './labels.ts'
import { type Choice, faultKinds } from './system.ts'
import type { Outcome } from './task.ts'

/** What was executed of a candidate. */
export type Kept = Pick<Outcome, 'schedule' | 'fingerprints'>

/**
 * Executes a candidate leniently: what a dropped step would have enabled is skipped. `undefined` where it does not violate
 * as the schedule does which is to be minimised.
 */
export type Attempt = (labels: readonly string[], cells: Cells) => Promise<Kept | undefined>

export interface Minimum {
  readonly schedule: readonly Choice[]
  /** Executions that it took. */
  readonly executions: number
  /** Whether no smaller schedule was left to try within the rules; `false` where the budget was spent before. */
  readonly minimal: boolean
}

/**
 * The shortest schedule found that still violates. First it leaves out what leads from a state to the same one, then tries
 * to do without faults, then drops steps by delta debugging (ddmin: Zeller, Hildebrandt, "Simplifying and Isolating
 * Failure-Inducing Input", TSE 2002), then replaces overlaps by their parts one after the other. The result is 1-minimal:
 * no single step can be dropped.
 *
 * The schedule must violate. Everything is deterministic, so the same schedule comes to the same one.
 */
export const minimise = async (
  cells: Cells,
  schedule: readonly Choice[],
  attempt: Attempt,
  limits: Limits = {},
): Promise<Minimum> => {
  const minimiser = new Minimiser(cells.within(limits), schedule, attempt)
  const before = cells.counts.executions
  let minimal = true
  try {
    await minimiser.minimise()
  } catch (error) {
    if (!(error instanceof BudgetSpent)) throw error
    minimal = false
  }
  return { schedule: minimiser.best, executions: cells.counts.executions - before, minimal }
}

/** Steps of a schedule, from one up to another. */
type Piece = readonly [begin: number, end: number]

class Minimiser {
  best: readonly Choice[]
  readonly #cells: Cells
  readonly #attempt: Attempt
  readonly #tried = new Set<string>()
  #bestStates: Outcome['fingerprints'] = []

  constructor(cells: Cells, schedule: readonly Choice[], attempt: Attempt) {
    this.#cells = cells
    this.#attempt = attempt
    this.best = schedule
  }

  async minimise(): Promise<void> {
    await this.#dropLoops()
    await this.#dropFaults()
    do await this.#dropSteps()
    while (await this.#splitOverlap())
  }

  /** The longest loop first; where it could not go, the shorter ones are left to what comes. */
  async #dropLoops(): Promise<void> {
    const { fingerprints } = await this.#cells.run({ labels: labelsOf(this.best) })
    let [begin, end] = longestLoop(fingerprints)
    while (begin < end && (await this.#tryOne([without(this.best, [begin, end])])) !== undefined)
      [begin, end] = longestLoop(this.#bestStates)
  }

  async #dropFaults(): Promise<void> {
    const faultless = this.best.filter(choice => !isFault(choice))
    if ((await this.#tryOne([faultless])) === undefined) await this.#drop(faultsBefore)
  }

  /** ddmin over complements: drops ever smaller chunks until no single step can go. */
  async #dropSteps(): Promise<void> {
    for (let size = Math.ceil(this.best.length / 2); size >= 1; ) {
      const dropped = await this.#drop((_, end) => chunksBefore(end, size))
      if (size > 1) size = Math.floor(size / 2)
      else if (!dropped) return
    }
  }

  /** Drops what can go of some pieces, from the end: what is last matters least to what comes before. */
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
      const parts = overlap.joins?.map(label => ({ ...overlap, kind: 'deliver' as const, label, joins: [] }))
      return parts ? [[...this.best.slice(0, i), ...parts, ...this.best.slice(i + 1)]] : []
    })
    return (await this.#tryOne(candidates)) !== undefined
  }

  /** Executes candidates until one still violates; what was executed of that becomes the best. Says which it was. */
  async #tryOne(candidates: readonly (readonly Choice[])[]): Promise<number | undefined> {
    const untried = this.#untried(candidates).values()
    const attempts = this.#cells.inOrder(
      () => untried.next().value,
      ({ labels }, cells) => this.#attempt(labels, cells),
    )
    for await (const [{ index, key }, kept] of attempts) {
      this.#tried.add(key)
      if (!kept) continue
      this.best = kept.schedule
      this.#bestStates = kept.fingerprints
      return index
    }
    return undefined
  }

  #untried(candidates: readonly (readonly Choice[])[]) {
    const all = candidates.map((candidate, index) => {
      const labels = labelsOf(candidate)
      return { index, labels, key: labels.join('\n') }
    })
    const isFirst = (index: number, key: string) => all.findIndex(other => other.key === key) === index
    return all.filter(({ index, key }) => !this.#tried.has(key) && isFirst(index, key))
  }
}

const without = (schedule: readonly Choice[], [begin, end]: Piece): Choice[] => [
  ...schedule.slice(0, begin),
  ...schedule.slice(end),
]

/** Chunks of a size, the last one first; the one at the begin may be smaller. */
const chunksBefore = (end: number, size: number): Piece[] =>
  Array.from({ length: Math.ceil(end / size) }, (_, i) => [Math.max(0, end - (i + 1) * size), end - i * size])

const faultsBefore = (schedule: readonly Choice[], end: number): Piece[] =>
  schedule
    .slice(0, end)
    .flatMap((choice, i): Piece[] => (isFault(choice) ? [[i, i + 1]] : []))
    .reverse()

/** Where a state is and where it is met again, as far apart as there is one; `[0, 0]` where there is none. */
const longestLoop = (states: readonly (string | undefined)[]): Piece =>
  states.reduce<Piece>(
    (longest, state, end) => {
      const begin = state === undefined ? end : states.indexOf(state)
      return end - begin > longest[1] - longest[0] ? [begin, end] : longest
    },
    [0, 0],
  )

const isFault = (choice: Choice): boolean => faultKinds.includes(choice.kind)
