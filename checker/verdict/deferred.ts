import { slowMs } from './slow-network.ts'
import type { Verdict } from './verdict.ts'

/**
 * After a violation that needs a slow network, the search continues for this share of the executions that it took,
 * plus this many. With more, such a finding costs as much as the search for it; with fewer, users are told of networks
 * that they do not have.
 */
const share = 1 / 2
const least = 16

/** Whether such a violation happens only in a slow network. */
export const needsSlowNetwork = ({ verdict, delayMs }: Pick<Verdict, 'verdict' | 'delayMs'>): boolean =>
  verdict === 'violated' && delayMs !== null && delayMs > slowMs

/** The violation with the shortest delay that needs a slow network, kept while the search looks for one that does not. */
export class Deferred<Violated extends Pick<Verdict, 'delayMs'>> {
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
    if (this.#found && this.#found.delayMs! <= found.delayMs!) return
    this.#until ||= executions + share * foundAt + least
    this.#found = found
  }

  /** Whether the search has looked for long enough. */
  isDue(executions: number): boolean {
    return this.#found !== undefined && executions >= this.#until
  }
}
