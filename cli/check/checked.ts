import type { Verdict } from '../../checker/verdict/verdict.ts'
import type { GlobalState } from '../../harness/config/config.ts'
import type { Explanation } from './explain.ts'
import type { WhatWasMet } from './met.ts'

/** The result of a check. */
export interface Checked {
  readonly verdict: Verdict
  /** Path of the trace of the violating or suspected execution. */
  readonly trace: string | null
  /**
   * Path of the trace of one execution of a search that found nothing, if it was asked for; of an undetermined verdict the
   * trace of what could not be decided.
   */
  readonly sample?: string | undefined
  /** Path of its report, to open in a browser. */
  readonly report: string | null
  /** Path of a text for the issue of a project, if something is violated. */
  readonly issue?: string
  /** Why the report is missing, if it is. */
  readonly reportProblem?: string
  /** Absent if nothing was searched. */
  readonly met?: WhatWasMet
  /** A command that looks deeper, after a search that found nothing. */
  readonly deeper?: string
  /** Why executions did not repeat, if the verdict is undetermined for that reason. */
  readonly explanation?: Explanation | undefined
  /** Date that nodes' clocks showed first. */
  readonly clocksStart: string
  /** The state in which the recorded execution ended. */
  readonly state: GlobalState | undefined
  /** The kinds of events that every schedule to its end does not have; absent if not every one was executed. */
  readonly notAmong?: readonly string[] | undefined
  /** A line for each file that could not be written. */
  readonly unwritten?: readonly string[]
}

/** Whether something was executed and nothing found: then a reader must know how much of the configuration was met. */
export const isSearched = ({ verdict, coverage }: Verdict): boolean => verdict !== 'violated' && coverage.completed > 0
