import { meaningIn, readLabel } from '../../checker/system/labels.ts'
import { saidBy } from '../../checker/system/likeness.ts'
import { guardedKinds } from './interventions.ts'

/** Something that is kept from happening, because a violation is predicted behind it. */
export interface Filter {
  /** Equal for what it prevents: see `saidOf`. */
  readonly said: string
  /** Of the step on the predicted way. */
  readonly label: string
  /** The predicted violation: `safety neverOversold`. */
  readonly against: string
}

/** Equal for steps with the same words and numbers, whatever the ordinals of their messages. */
export const saidOf = (label: string): string => saidBy(readLabel(label))

/** Requests for connections, answers to them, and ends of connections: what they carry comes with other messages. */
const withoutContent = /^(open|accept|refuse|close|abort|unreachable|exceeded)( |$)/

/** The steps on a way that can be kept from happening, in their order: messages with content, timers, calls of clients. */
export const preventableOn = (labels: readonly string[]): string[] =>
  labels.filter(label => {
    const { kind } = readLabel(label)
    if (kind === undefined || !guardedKinds.includes(kind)) return false
    return kind !== 'deliver' || !withoutContent.test(meaningIn(label))
  })

/** Consecutive rounds in which a filter may prevent something before it is given up: it would starve a node. */
const roundsMax = 3
/** How often a timer or call is put off while a filter is on, at most. */
const holdsMax = 3

/** A filter that is on. */
interface Active extends Filter {
  /** In how many rounds before it has prevented something, without a pause. */
  readonly rounds: number
  /** How often it has prevented something in this round. */
  count: number
}

interface Coming {
  readonly fromMs: number
  readonly filters: readonly Filter[]
}

/** The filters of a run: each round of prediction replaces the filters of the round before. */
export class Filters {
  readonly #onGivenUp: (filter: Filter) => void
  #coming: readonly Coming[] = []
  #active: readonly Active[] = []
  /** Filters that were given up; kept while each round asks for them again. */
  #givenUp = new Set<string>()

  /** @param onGivenUp called when a filter is not put in any more, although it was predicted again */
  constructor(onGivenUp: (filter: Filter) => void) {
    this.#onGivenUp = onGivenUp
  }

  /** To be called after each round, with its filters and when they begin. */
  put(filters: readonly Filter[], fromMs: number): void {
    this.#coming = [...this.#coming, { fromMs, filters }]
  }

  /** The filter that keeps a step from happening at that time. */
  against(label: string, atMs: number): Filter | undefined {
    while (this.#coming.length > 0 && this.#coming[0]!.fromMs <= atMs) this.#change(this.#coming[0]!)
    if (this.#active.length === 0) return undefined
    const said = saidOf(label)
    const filter = this.#active.find(each => each.said === said)
    const isPutOff = readLabel(label).kind !== 'deliver'
    return filter && isPutOff && filter.count >= holdsMax ? undefined : filter
  }

  /** Notes that it has kept something from happening. */
  hasPrevented(filter: Filter): void {
    for (const active of this.#active) if (active === filter) active.count += 1
  }

  #change({ filters }: Coming): void {
    this.#coming = this.#coming.slice(1)
    const next = filters.map(filter => {
      const before = this.#active.find(({ said }) => said === filter.said)
      return { ...filter, rounds: before && before.count > 0 ? before.rounds + 1 : 0, count: 0 }
    })
    const isOver = ({ said, rounds }: Active) => rounds >= roundsMax || this.#givenUp.has(said)
    for (const filter of next.filter(isOver)) if (!this.#givenUp.has(filter.said)) this.#onGivenUp(filter)
    this.#givenUp = new Set(next.filter(isOver).map(({ said }) => said))
    this.#active = next.filter(filter => !isOver(filter))
  }
}
