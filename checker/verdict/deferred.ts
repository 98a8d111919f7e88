import { slowMs } from './slow-network.ts'
import type { Verdict } from './verdict.ts'

/**
 * After a violation that needs a slow network or clocks apart, the search continues for this share of the executions
 * that it took, plus this many. With more, such a finding costs as much as the search for it; with fewer, users are told
 * of networks and machines that they do not have.
 */
const share = 1 / 8
const least = 16

/** How slow the network must be, and how far apart the clocks, in milliseconds. */
type Needs = Pick<Verdict, 'delayMs' | 'skewMs'>

const strain = ({ delayMs, skewMs }: Needs): number => Math.max(delayMs ?? 0, skewMs ?? 0)

/** Whether such a violation happens only in a slow network, or only where clocks are apart. */
export const needsUnusual = (found: Needs & Pick<Verdict, 'verdict'>): boolean =>
  found.verdict === 'violated' && strain(found) > slowMs

/** A violation that needs no more than this many times what is usual seldom needs it after it was shrunk. */
const nearFactor = 2

export const isNearlyUsual = (needs: Needs): boolean => strain(needs) <= nearFactor * slowMs

interface Kept<Found> extends Needs {
  readonly examine: () => Promise<Found | undefined>
}

/** The least unusual of the violations that need a slow network or clocks apart, kept while the search looks for one that does not. */
export class Deferred<Found> {
  #kept: Kept<Found> | undefined
  #until = 0

  get isKept(): boolean {
    return this.#kept !== undefined
  }

  /** @param explored how many executions the search has taken so far */
  keep(violation: Kept<Found>, explored: number): void {
    if (this.#kept && strain(this.#kept) <= strain(violation)) return
    this.#until ||= explored * (1 + share) + least
    this.#kept = violation
  }

  /** Whether the search has looked for long enough. */
  isDue(explored: number): boolean {
    return this.isKept && explored >= this.#until
  }

  async examine(): Promise<Found | undefined> {
    return this.#kept?.examine()
  }
}
