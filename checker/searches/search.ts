import type { Task, TaskOutcome } from '../cells/task.ts'
import type { Diverged } from '../errors.ts'
import type { NodeOutcome, NodeTask } from '../node-system.ts'

/** The searches that there are, each as a verdict names it. */
export const searchNames = {
  straight: 'the way that the system is built for',
  race: 'walks towards races',
  late: 'walks towards races with slow ways, or late in a run',
  weighted: 'weighted walks',
  priority: 'walks by priorities',
  fruitful: 'walks from where something new was met',
  bounded: 'the bounded search',
  local: 'the local search',
  consequence: 'consequence prediction',
} as const
export type SearchName = keyof typeof searchNames

/**
 * One way to look for violations. It says which execution is to be done next, and learns what came of it. Several may be
 * under way at once; it learns of them in the order in which it asked for them.
 */
export interface Search {
  readonly name: SearchName
  /** The next execution; `undefined` where there is none as long as it learns of no other. */
  next(): Execution | NodeExecution | undefined
  /** Learns what came of an execution that it asked for: an outcome, or why it could not be done or does not count. */
  learn(execution: Execution, came: TaskOutcome | Diverged): void
  /** The same of an execution of a node alone; absent where it asks for none. */
  learnAlone?(execution: NodeExecution, came: NodeOutcome | Diverged): void
  /** What it has looked at so far. */
  coverage(): SearchCoverage
}

/** An execution that a search asks for. */
export interface Execution {
  readonly search: SearchName
  /** Which random numbers the nodes draw. */
  readonly variant: number
  /** Of walks to a live state, in steps. */
  readonly walkLength: number
  readonly task: Task
  /** Whether its schedule may turn out to be none: that it cannot be executed says nothing of the system. */
  readonly isGuess?: boolean
}

/** An execution of a node alone that a search asks for. */
export interface NodeExecution {
  readonly search: SearchName
  readonly variant: number
  readonly alone: NodeTask
}

/** What one search has looked at: the same words for each. */
export interface SearchCoverage {
  readonly name: SearchName
  readonly executions: number
  readonly steps: number
  /** Distinct states that it was the first to meet; 0 where states have no fingerprints. */
  readonly states: number
}

/** What a local search has done: the figures of the paper. */
export interface LocalCoverage {
  /** Inputs that were given to states of single nodes. */
  readonly transitions: number
  /** Distinct states of single nodes. */
  readonly localStates: number
  /** States of the system, combined of them, in which a property was evaluated. */
  readonly systemStates: number
  /** Of those in which one does not hold, combinations of local states for which an order of events was looked for. */
  readonly soundnessChecks: number
  /** Whether every input was given to every state, and no combination was left out. */
  readonly exhausted: boolean
}

/** Counts what a search has looked at. */
export class Counted {
  #executions = 0
  #steps = 0
  #states = 0
  readonly #name: SearchName
  /** Fingerprints that any search has met. */
  readonly #met: Set<string>

  constructor(name: SearchName, met: Set<string>) {
    this.#name = name
    this.#met = met
  }

  count({ schedule, fingerprints }: Pick<TaskOutcome, 'schedule' | 'fingerprints'>): void {
    const before = this.#met.size
    for (const fingerprint of fingerprints) if (fingerprint !== undefined) this.#met.add(fingerprint)
    this.#executions += 1
    this.#steps += schedule.length
    this.#states += this.#met.size - before
  }

  get coverage(): SearchCoverage {
    return { name: this.#name, executions: this.#executions, steps: this.#steps, states: this.#states }
  }
}
