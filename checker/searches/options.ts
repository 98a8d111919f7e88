import type { CellOptions } from '../cells/cell.ts'
import { UsageError } from '../system/errors.ts'
import { nearest } from '../system/nearest.ts'

/**
 * `auto` alternates between several searches. `local` executes each node alone. `consequence` follows chains of cause
 * and effect. `deviations` puts states of nodes alone together, in the order of their deviations from a prompt network.
 */
export const searches = ['auto', 'bounded', 'walk', 'local', 'consequence', 'deviations'] as const
export type SearchKind = (typeof searches)[number]

/** What a check should do. */
export interface SearchOptions {
  /** `auto` by default. */
  readonly search?: SearchKind | undefined
  /**
   * Wall-clock time in milliseconds, for the search and for examining what it finds; a minute if nothing else limits it.
   */
  readonly milliseconds?: number | undefined
  /**
   * Limit on the time for examining one suspect of a liveness property, in milliseconds; a third of `milliseconds` by
   * default. Beyond it the verdict is `undetermined`.
   */
  readonly examinationMs?: number | undefined
  /**
   * Time that the caller has afterwards to execute once more what was found or not decided, in milliseconds. The check ends
   * sooner by what that takes longer. By default nothing is executed afterwards.
   */
  readonly recordingMs?: number | undefined
  /**
   * Ends the search with the first violation of safety, crash or divergence, which is neither repeated nor shrunk: the
   * verdict is `undetermined` and names it. For a caller who lets something else find and examine it again.
   */
  readonly leavesExamination?: boolean | undefined
  /** Whether nobody wants to know what a violation depends on, as of a way to a goal. */
  readonly leavesExplanation?: boolean | undefined
  readonly executions?: number | undefined
  /** Depth limit of the bounded search and of consequence prediction, in steps. */
  readonly depth?: number | undefined
  /** Whether the bounded search executes every order of steps, including steps that commute; false by default. */
  readonly everyOrder?: boolean | undefined
  /**
   * Length of a walk to a live state in steps. By default eight times the longest path to one that was seen, and at
   * least 64. Before a state is called dead, some walks are longer: up to 8,000 steps, or eight times this value.
   */
  readonly walkLength?: number | undefined
  readonly seed?: number | undefined
  /** A schedule with which each execution begins: prefix search (MaceMC, section 4.2). */
  readonly from?: readonly string[] | undefined
  /** Walks that must fail before a state is called dead; 60 by default. */
  readonly walks?: number | undefined
  /** Ends the check early, with what was found so far. */
  readonly signal?: AbortSignal | undefined
  /** Called after each piece of work. */
  readonly onProgress?: ((progress: Progress) => void) | undefined
}

/** Options of a search, with what is needed to execute the system. */
export interface SystemCheckOptions<State> extends SearchOptions, CellOptions<State> {
  /** Checks only this property. */
  readonly property?: string | undefined
}

export interface Progress {
  readonly phase:
    | 'searching'
    | 'repeating'
    | 'shrinking'
    | 'finding the critical transition'
    | 'finding what it depends on'
  readonly executions: number
  readonly steps: number
  readonly states: number
  readonly depth: number
  readonly seconds: number
  /** Share of the walks to a live state that reached one; undefined before the first. */
  readonly liveShare?: number | undefined
  /** The latest possible violation, in a few words. */
  readonly finding?: string | undefined
}

const times = ['milliseconds', 'examinationMs', 'recordingMs'] as const
const counts = ['executions', 'depth', 'walkLength', 'walks'] as const

/** @throws UsageError for options that no search can follow */
export const validate = (options: SearchOptions): void => {
  const { search = 'auto' } = options
  if (!searches.includes(search)) throw new UsageError(`no search "${search}": ${nearest(search, searches)}`)
  for (const name of [...times, ...counts]) {
    const value = options[name]
    const isInteger = times.some(each => each === name) || Number.isInteger(value)
    if (value !== undefined && !(isInteger && value > 0))
      throw new UsageError(`${name}: expected a whole number above zero, found ${value}`)
  }
}
