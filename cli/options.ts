import type { SearchOptions } from '../checker/searches/options.ts'

/** How a system is to be checked; every one of these is an option of `lastnail check` too. */
export interface CheckOptions extends Omit<SearchOptions, 'from' | 'walks'> {
  /** Of the search and of the nodes' randomness; 1 by default. */
  readonly seed?: number | undefined
  /** Checks this property alone. */
  readonly property?: string | undefined
  /** What each execution begins with: a schedule, or `TRACE` or `TRACE:STEP`. */
  readonly from?: string | readonly string[] | undefined
  /** Directory for traces, each check's in a directory of its own: `<out>/<system>/<time>/`; `.lastnail` by default. */
  readonly out?: string | undefined
  /** Processes that search, each with its own nodes, for a configuration with a path; 1 by default. */
  readonly workers?: number | undefined
  /**
   * Whether processes of one execution are brought back to the end of their start for the next; true by default. Without
   * it every execution begins with new processes: slower, and nothing that was not given back can matter.
   */
  readonly rewind?: boolean | undefined
}

export const defaultMs = 60_000
export const defaultOut = '.lastnail'

/** Time for the search; `undefined` where executions alone limit it. */
export const timeOf = ({ milliseconds, executions }: CheckOptions): number | undefined =>
  milliseconds ?? (executions === undefined ? defaultMs : undefined)
