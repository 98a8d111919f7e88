import type { SearchCoverage, SearchName } from './search.ts'

/**
 * Factor by which an execution's weight falls with each later one. At 0.98 about the last fifty executions count. A
 * value nearer 1 would be slow to notice that a search no longer pays.
 */
const discount = 0.98
/**
 * Bonus for searches with few turns. If it were larger, all would get equally many turns; if it were smaller, a search
 * that was unlucky once would never get another.
 */
const curiosity = 0.1

interface Tried {
  /** Both sums are discounted: executions, and what they paid. */
  executions: number
  paid: number
}

/**
 * Learns which search pays, that is, whose steps reach states that no search had met. It uses discounted upper
 * confidence bounds (Garivier, Moulines, "On Upper-Confidence Bound Policies for Switching Bandit Problems", ALT 2011),
 * because what pays changes: the states near the start are soon all known. It uses only counts, so the same executions
 * always teach it the same.
 */
export class Bandit {
  readonly #tried: Map<SearchName, Tried>

  constructor(names: Iterable<SearchName>) {
    this.#tried = new Map(Array.from(names, name => [name, { executions: 0, paid: 0 }]))
  }

  /** Learns from one execution, by the search's coverage before and after it. */
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

  /** This search gets no turn any more. */
  leaveOut(name: SearchName): void {
    this.#tried.delete(name)
  }

  /** The search that should get the next turn. On a tie, the first. */
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
