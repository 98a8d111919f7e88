import type { TaskOutcome } from '../cells/task.ts'
import { Diverged } from '../errors.ts'
import { after } from '../start.ts'
import type { Choice } from '../system.ts'
import type { Experience } from './experience.ts'
import { Counted, type Execution, type Search } from './search.ts'

/** At most this many ways wait. Each takes some hundred bytes. */
const waitingMax = 1_000_000
/** A schedule is given up after this many failed attempts, although it could be executed before. */
const triesMax = 3

/** The way to a state from where the search begins; ways that begin alike share what they have in common. */
interface Way {
  readonly before: Way | undefined
  readonly label: string
}

const labelsOn = (way: Way | undefined): string[] => {
  const labels: string[] = []
  for (let at = way; at; at = at.before) labels.push(at.label)
  return labels.reverse()
}

/**
 * Consequence prediction ("Predicting and Preventing Inconsistencies in Deployed Distributed Systems", Yabandeh and
 * others, 2010, figure 8): a breadth-first search that follows every message that may arrive. It follows what a node
 * does by itself (a timer, a client's call, a fault) only in states of that node that are new. So it follows chains of
 * cause and effect deep into the future and skips most interleavings.
 */
export class ConsequenceSearch implements Search {
  readonly name = 'consequence'
  /** Schedules that could be executed once and never again. */
  givenUp = 0
  readonly #experience: Experience
  readonly #counted: Counted
  readonly #depthMax: number
  /** At first the empty way. */
  #waiting: (Way | undefined)[] = [undefined]
  #taken = 0
  /** Fingerprints of states whose choices were followed. */
  readonly #explored = new Set<string>()
  /** States of single nodes in which the node's own actions were followed. */
  readonly #localExplored = new Set<string>()
  /** Each label once, though every outcome brings its own copy. */
  readonly #labels = new Map<string, string>()
  /** Of the executions that are under way. */
  readonly #ways = new Map<Execution, Way | undefined>()
  readonly #tries = new Map<Execution, number>()
  readonly #again: Execution[] = []

  constructor(experience: Experience, depthMax = Number.POSITIVE_INFINITY) {
    this.#experience = experience
    this.#depthMax = depthMax
    this.#counted = new Counted('consequence', experience.met)
  }

  next(): Execution | undefined {
    const again = this.#again.shift()
    if (again) return again
    if (this.#taken === this.#waiting.length) return undefined
    const way = this.#waiting[this.#taken]
    this.#taken += 1
    if (this.#taken > 10_000) this.#waiting = this.#waiting.slice(this.#taken)
    if (this.#taken > 10_000) this.#taken = 0
    const start = after(this.#experience.begin, labelsOn(way))
    const { task, ...rest } = this.#experience.executionOf({ search: 'consequence', start, walks: () => [] })
    const { untilLive: _, surprises: __, ...own } = task
    const execution = { ...rest, task: { ...own, isWatched: true } }
    this.#ways.set(execution, way)
    return execution
  }

  learn(execution: Execution, came: TaskOutcome | Diverged): void {
    if (came instanceof Diverged) return this.#fail(execution)
    const before = this.#ways.get(execution)
    this.#ways.delete(execution)
    this.#counted.count(came)
    const fingerprint = came.fingerprints[came.arrival.steps]
    if (came.violation || came.arrival.broken || (fingerprint !== undefined && this.#explored.has(fingerprint))) return
    if (fingerprint !== undefined) this.#explored.add(fingerprint)
    if (came.arrival.steps >= this.#depthMax) return
    for (const { label } of this.#followed(came))
      if (this.#waiting.length - this.#taken < waitingMax) this.#waiting.push({ before, label: this.#once(label) })
  }

  coverage() {
    return this.#counted.coverage
  }

  #once(label: string): string {
    const known = this.#labels.get(label) ?? label
    this.#labels.set(label, known)
    return known
  }

  /** The choices to follow: all messages, and what nodes in a new state do by themselves. */
  #followed({ arrival, watched }: TaskOutcome): Choice[] {
    const parts = watched?.[0]?.parts ?? {}
    const isNew = new Map<string, boolean>()
    return arrival.enabled.filter(({ kind, node }) => {
      if (kind === 'deliver') return true
      if (!isNew.has(node)) isNew.set(node, this.#isNewState(node, parts))
      return isNew.get(node)!
    })
  }

  /**
   * Whether a node's state is new. A node's state is all parts named for it; for anything else, it is all parts of the
   * system.
   */
  #isNewState(node: string, parts: Readonly<Record<string, string>>): boolean {
    const own = Object.entries(parts).filter(([name]) => name.endsWith(` of ${node}`))
    const key = JSON.stringify([node, own.length > 0 ? own : parts])
    if (this.#localExplored.has(key)) return false
    this.#localExplored.add(key)
    return true
  }

  #fail(execution: Execution): void {
    const tries = (this.#tries.get(execution) ?? 0) + 1
    this.#tries.set(execution, tries)
    if (tries < triesMax) return void this.#again.push(execution)
    this.#ways.delete(execution)
    this.givenUp += 1
  }
}
