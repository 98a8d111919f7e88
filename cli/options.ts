import type { Progress, SearchKind } from '../checker/check.ts'

/** How a system is to be checked; every one of these is an option of `lastnail check` too. */
export interface CheckOptions {
  /** `auto` by default. */
  readonly search?: SearchKind | undefined
  /** Time for the search: a minute, unless executions are limited. What it finds is examined after. */
  readonly milliseconds?: number | undefined
  readonly executions?: number | undefined
  /** Of the bounded search, in steps. */
  readonly depth?: number | undefined
  /** Whether the bounded search executes every order of steps, also where they commute; it does not by default. */
  readonly everyOrder?: boolean | undefined
  /** Of walks that look for a live state, in steps. */
  readonly walkLength?: number | undefined
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
  /** Ends the check, which then says what was found so far. */
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((progress: Progress) => void) | undefined
}
