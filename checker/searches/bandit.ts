import type { SearchCoverage, SearchName } from './search.ts'

/** What each execution counts less for each that came after it: about fifty count, for what pays first is soon known. */
const discount = 0.98
/** How much a search that had few turns is favoured. With more, turns would be given alike; with less, what once was unlucky never returns. */
const curiosity = 0.1

interface Tried {
  /** Discounted: executions, and the sum of what they paid. */
  executions: number
  paid: number
}

/**
 * Learns which of some searches pays: whose steps lead to states that no search had met. It is a bandit with discounted upper
 * confidence bounds (Garivier, Moulines, "On Upper-Confidence Bound Policies for Switching Bandit Problems", ALT 2011): what pays
 * changes, as the states near the start are soon all met. It goes by counts alone, so the same executions teach it the same.
 */
export class Bandit {
  readonly #tried: ReadonlyMap<SearchName, Tried>

  constructor(names: Iterable<SearchName>) {
    this.#tried = new Map(Array.from(names, name => [name, { executions: 0, paid: 0 }]))
  }

  /** Learns from an execution of a search: what that had looked at before, and after it. */
  learn(before: SearchCoverage, after: SearchCoverage): void {
    for (const tried of this.#tried.values()) {
      tried.executions *= discount
      tried.paid *= discount
    }
    const tried = this.#tried.get(after.name)
    if (!tried) return
    const steps = after.steps - before.steps
    tried.executions += 1
    tried.paid += steps === 0 ? 0 : (after.states - before.states) / steps
  }

  /** The search to be given a turn; of several the first. */
  best(): SearchName {
    let executions = 0
    for (const tried of this.#tried.values()) executions += tried.executions
    const [first, ...others] = this.#tried
    const best = others.reduce(
      (best, each) => (worthOf(each[1], executions) > worthOf(best[1], executions) ? each : best),
      first!,
    )
    return best[0]
  }
}

const worthOf = ({ executions, paid }: Tried, all: number): number =>
  executions === 0
    ? Number.POSITIVE_INFINITY
    : paid / executions + Math.sqrt((curiosity * Math.log(Math.max(all, 1))) / executions)
