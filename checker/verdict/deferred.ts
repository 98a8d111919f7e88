import { slowMs } from './slow-network.ts'
import type { Verdict } from './verdict.ts'

/**
 * After a violation that needs a slow network or clocks apart, the search continues for this share of the executions
 * that it took, plus this many. With more, such a finding costs as much as the search for it; with fewer, users are told
 * of networks and machines that they do not have.
 */
const share = 1 / 2
const least = 16

type Needs = Pick<Verdict, 'delayMs' | 'skewMs'>

/** How unusual the network or the clocks must be, in milliseconds. */
const strain = ({ delayMs, skewMs }: Needs): number => Math.max(delayMs ?? 0, skewMs ?? 0)

/** Whether such a violation happens only in a slow network, or only where clocks are apart. */
export const needsUnusual = (found: Needs & Pick<Verdict, 'verdict'>): boolean =>
  found.verdict === 'violated' && strain(found) > slowMs

/** The least unusual of the violations that need a slow network or clocks apart, kept while the search looks for one that does not. */
export class Deferred<Violated extends Needs> {
  #found: Violated | undefined
  #until = 0

  get found(): Violated | undefined {
    return this.#found
  }

  /**
   * @param foundAt the number of executions when it was found
   *
   * @param executions the present number
   */
  keep(found: Violated, foundAt: number, executions: number): void {
    if (this.#found && strain(this.#found) <= strain(found)) return
    this.#until ||= executions + share * foundAt + least
    this.#found = found
  }

  /** Whether the search has looked for long enough. */
  isDue(executions: number): boolean {
    return this.#found !== undefined && executions >= this.#until
  }
}
