import type { SearchOptions } from '../../checker/searches/options.ts'

/** How a system is to be checked. Each of these is an option of `lastnail check` too. */
export interface CheckOptions extends Omit<SearchOptions, 'from' | 'walks'> {
  /** Seed of the search and of the nodes' random numbers; 1 by default. */
  readonly seed?: number | undefined
  /** Checks only this property. */
  readonly property?: string | undefined
  /** The steps with which each execution begins: a schedule, or `TRACE` or `TRACE:STEP`. */
  readonly from?: string | readonly string[] | undefined
  /**
   * Directory for traces; `.lastnail` by default. Each check creates a directory of its own there:
   * `<out>/<system>/<time>/`.
   */
  readonly out?: string | undefined
  /** Number of processes that search, each with its own nodes, for a configuration in a file; 1 by default. */
  readonly workers?: number | undefined
  /**
   * Whether the processes of an execution are rewound to the end of their start for the next one; true by default.
   * Otherwise every execution begins with new processes: slower, but nothing can survive from an earlier execution.
   */
  readonly rewind?: boolean | undefined
}

export const defaultMs = 60_000
export const defaultOut = '.lastnail'

/** Time for the search; `undefined` if only executions limit it. */
export const timeOf = ({ milliseconds, executions }: CheckOptions): number | undefined =>
  milliseconds ?? (executions === undefined ? defaultMs : undefined)
