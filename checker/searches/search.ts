import type { MetStates } from '../cells/met-states.ts'
import { isOfNode, type NodeOutcome, type NodeTask, type Purpose, type Task, type TaskOutcome } from '../cells/task.ts'
import type { Diverged } from '../system/errors.ts'

/** All searches, with the name that a verdict prints for each. */
export const searchNames = {
  straight: 'the straight way',
  race: 'walks towards races',
  late: 'walks towards races on slow links or late in a run',
  weighted: 'weighted walks',
  priority: 'walks by priorities',
  patient: 'walks that wait for long between conversations',
  interrupted: 'walks in which one thing interrupts the straight way',
  timely: 'walks that keep time on a network with delays',
  fruitful: 'walks from where something new was met',
  bounded: 'the bounded search',
  local: 'the local search',
  consequence: 'consequence prediction',
  deviations: 'the search by deviations',
} as const
export type SearchName = keyof typeof searchNames

/**
 * A strategy to look for violations: it requests executions and learns their outcomes. Several executions may be under
 * way at once; outcomes are reported in the order in which they were requested.
 */
export interface Search {
  readonly name: SearchName
  /** The next execution; `undefined` if the search must first learn the outcomes of those under way. */
  next(): RequestedExecution | NodeExecution | undefined
  /** Learns the outcome of an execution that it requested, or why that could not be done or does not count. */
  learn(execution: RequestedExecution, came: TaskOutcome | Diverged): void
  /** Learns the outcome of an execution of a single node; absent if the search requests none. */
  learnAlone?(execution: NodeExecution, came: NodeOutcome | Diverged): void
  coverage(): SearchCoverage
}

/** An execution that a search requests. */
export interface RequestedExecution {
  readonly search: SearchName
  /** Which random numbers the nodes draw. */
  readonly variant: number
  /** Length of walks to a live state, in steps. */
  readonly walkLength: number
  readonly task: Task
  /** What it is for; `search` by default. */
  readonly purpose?: Purpose
  /** Whether its schedule is only a guess. If a guess cannot be executed, that says nothing about the system. */
  readonly isGuess?: boolean
}

/** An execution of a single node that a search requests. */
export interface NodeExecution {
  readonly search: SearchName
  readonly variant: number
  readonly task: NodeTask
}

export const isAlone = (execution: RequestedExecution | NodeExecution): execution is NodeExecution =>
  isOfNode(execution.task)

/** What one search has covered, in the same words for each. */
export interface SearchCoverage {
  readonly name: SearchName
  readonly executions: number
  readonly steps: number
  /** Distinct states that it was the first to meet; 0 if states have no fingerprints. */
  readonly states: number
  /** Steps of its longest execution. */
  readonly longest: number
}

/** What a local search has done, in the figures of its paper. */
export interface LocalCoverage {
  /** Inputs of states of single nodes. */
  readonly transitions: number
  /** Inputs that processes were given. What the others lead to is known from a state that looks the same. */
  readonly executed: number
  /** Distinct states of single nodes. */
  readonly localStates: number
  /** Combinations of them for which a property was evaluated. */
  readonly systemStates: number
  /** Combinations that violate a property and for which an order of events was looked for. */
  readonly soundnessChecks: number
  /** Whether every input was given to every state and no combination was left out. */
  readonly exhausted: boolean
}

/** What a search has done that puts states of single nodes together. */
export interface ExploredCoverage {
  /** Steps of nodes that were taken in memory, in states of the system. */
  readonly transitions: number
  /** Inputs that processes were given for that. */
  readonly executed: number
  /** Distinct states of single nodes. */
  readonly localStates: number
  /** Distinct states of the system that were put together of them. */
  readonly states: number
  /** Steps of the longest way. */
  readonly depth: number
  /** Whether every way was followed, and nothing was left out. */
  readonly exhausted: boolean
}

/** What a search by deviations has done. */
export interface DeviationCoverage extends ExploredCoverage {
  /** By how many deviations from what a prompt network does the latest ways differ. */
  readonly deviations: number
}

/** Counts what a search has covered. */
export class Counted {
  #executions = 0
  #steps = 0
  #states = 0
  #longest = 0
  readonly #name: SearchName
  /** States that any search has met. */
  readonly #met: MetStates

  constructor(name: SearchName, met: MetStates) {
    this.#name = name
    this.#met = met
  }

  count({ schedule, fingerprints }: Pick<TaskOutcome, 'schedule' | 'fingerprints'>): void {
    const before = this.#met.size
    this.#met.add(fingerprints)
    this.#executions += 1
    this.#steps += schedule.length
    this.#states += this.#met.size - before
    this.#longest = Math.max(this.#longest, schedule.length)
  }

  get coverage(): SearchCoverage {
    return {
      name: this.#name,
      executions: this.#executions,
      steps: this.#steps,
      states: this.#states,
      longest: this.#longest,
    }
  }
}
