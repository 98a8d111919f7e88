import type { CellOptions } from '../cells/cell.ts'
import { UsageError } from '../errors.ts'

/**
 * `auto` takes turns between walks that look for races, weighted walks, and bounded search that goes on as a walk. `local`
 * executes each node alone; `consequence` follows chains of cause and effect.
 */
export const searches = ['auto', 'bounded', 'walk', 'local', 'consequence'] as const
export type SearchKind = (typeof searches)[number]

/** What a search is to do. */
export interface SearchOptions {
  /** `auto` by default. */
  readonly search?: SearchKind | undefined
  /** Wall-clock time for the search in milliseconds: a minute where nothing else limits it. What it finds is examined after. */
  readonly milliseconds?: number | undefined
  readonly executions?: number | undefined
  /** Of the bounded search, and of consequence prediction, in steps. */
  readonly depth?: number | undefined
  /** Whether the bounded search executes every order of steps, also where they commute; it does not by default. */
  readonly everyOrder?: boolean | undefined
  /**
   * Steps of a walk to a live state; by itself eight times the longest way to one that was seen, and 64 at least. Before
   * a state is called dead, some walks are longer: up to 8,000 steps, or eight times what is given here.
   */
  readonly walkLength?: number | undefined
  readonly seed?: number | undefined
  /** A schedule that each execution begins with: prefix search (MaceMC, section 4.2). */
  readonly from?: readonly string[] | undefined
  /** Walks that must fail before a state is called dead: 60 by default. */
  readonly walks?: number | undefined
  /** Ends the check where it stands, with what was found. */
  readonly signal?: AbortSignal | undefined
  /** Called whenever something has been done. */
  readonly onProgress?: ((progress: Progress) => void) | undefined
}

/** The same with what is needed to do it on a system. */
export interface CheckOptions<State> extends SearchOptions, CellOptions<State> {
  /** Checks this property alone. */
  readonly property?: string | undefined
}

export interface Progress {
  readonly phase: 'searching' | 'repeating' | 'shrinking' | 'finding the critical transition'
  readonly executions: number
  readonly steps: number
  readonly states: number
  readonly depth: number
  readonly seconds: number
  /** Of the walks that looked for a live state, the share that came to one; undefined before the first. */
  readonly liveShare?: number | undefined
  /** What was seen last that may be a violation, in a few words. */
  readonly finding?: string | undefined
}

/** Refuses what no search can do, with a line for the one who asked. */
export const validate = (options: SearchOptions): void => {
  const { search = 'auto' } = options
  if (!searches.includes(search)) throw new UsageError(`no search "${search}": there are ${searches.join(', ')}`)
  for (const name of ['milliseconds', 'executions', 'depth', 'walkLength', 'walks'] as const) {
    const value = options[name]
    const isInteger = name === 'milliseconds' || Number.isInteger(value)
    if (value !== undefined && !(isInteger && value > 0))
      throw new UsageError(`${name}: expected a whole number above zero, found ${value}`)
  }
}
