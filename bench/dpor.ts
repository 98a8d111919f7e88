import type { Choice, System } from '../checker/system/system.ts'

/** A step of the present execution. */
interface Step {
  readonly choice: Choice
  /** Indices of the steps that it depends on: those of its node, and the one that enabled it. */
  readonly past: ReadonlySet<number>
  /** The visible state of its node after it. */
  readonly shown: string
}

export interface DporOptions<State> {
  readonly depth: number
  /** The part of a node's state that a property may read. */
  readonly show: (state: State, node: string) => string
  readonly nodes: readonly string[]
  /**
   * Whether no visible state of the system within the depth may be lost. Then every consistent cut of an execution is
   * evaluated, and the last steps depend on what the bound left out.
   */
  readonly isComplete: boolean
}

/**
 * Dynamic partial-order reduction (Flanagan, Godefroid, POPL 2005, figure 3) to a depth, where steps
 * of one node depend on each other. It is only here to be compared with the checker's own search.
 */
export class Dpor<State> {
  executions = 0
  /** The visible states of the system. */
  readonly seen = new Set<string>()
  readonly #system: System<State>
  readonly #options: DporOptions<State>
  /** The visible state of each node at the start. */
  #shown: readonly string[] = []
  readonly #trace: Step[] = []
  /** By index of a step: the choices enabled before it, and those of them that are to be executed. */
  readonly #states: { readonly enabled: readonly Choice[]; readonly backtrack: Set<string> }[] = []

  constructor(system: System<State>, options: DporOptions<State>) {
    this.#system = system
    this.#options = options
  }

  /** @param madeBy by label of what was ever enabled, the step that made it so; -1 for the start */
  async explore(madeBy: ReadonlyMap<string, number> = new Map()): Promise<void> {
    await this.#goBack()
    const enabled = this.#system.enabled()
    const made = new Map(madeBy)
    for (const { label } of enabled) if (!made.has(label)) made.set(label, this.#trace.length - 1)
    this.#seeStates([this.#trace.map((_, index) => index)])
    const isCut = this.#trace.length === this.#options.depth
    for (const choice of enabled) {
      const cause = this.#causeOf(choice, made)
      this.#race(choice, cause)
      if (isCut && this.#options.isComplete) this.#raceWithBound(choice, cause)
    }
    if (isCut || enabled.length === 0) return this.#end()
    const backtrack = new Set([enabled[0]!.label])
    this.#states.push({ enabled, backtrack })
    // The loop also takes choices that are added while it runs.
    for (const label of backtrack) await this.#step(enabled.find(choice => choice.label === label)!, made)
    this.#states.pop()
  }

  async #step(choice: Choice, made: ReadonlyMap<string, number>): Promise<void> {
    await this.#goBack()
    await this.#system.execute(choice)
    const past = this.#causeOf(choice, made)
    for (const [index, step] of this.#trace.entries()) if (step.choice.node === choice.node) this.#add(past, index)
    this.#trace.push({ choice, past, shown: this.#options.show(this.#system.state(), choice.node) })
    await this.explore(made)
    this.#trace.pop()
  }

  async #goBack(): Promise<void> {
    await this.#system.reset()
    this.#shown = this.#options.nodes.map(node => this.#options.show(this.#system.state(), node))
    for (const { choice } of this.#trace) await this.#system.execute(choice)
  }

  #causeOf({ label }: Choice, made: ReadonlyMap<string, number>): Set<number> {
    const cause = new Set<number>()
    this.#add(cause, made.get(label)!)
    return cause
  }

  #add(past: Set<number>, index: number): void {
    if (index < 0) return
    past.add(index)
    for (const earlier of this.#trace[index]!.past) past.add(earlier)
  }

  /** The last step of its node that did not make it possible might come after it. */
  #race({ label, node }: Choice, cause: ReadonlySet<number>): void {
    const index = this.#trace.findLastIndex((step, at) => step.choice.node === node && !cause.has(at))
    if (index < 0) return
    const { enabled, backtrack } = this.#states[index]!
    const isOnTheWay = (other: Choice) =>
      this.#trace.some((step, at) => at >= index && step.choice.label === other.label && cause.has(at))
    const first = enabled.find(other => other.label === label) ?? enabled.find(isOnTheWay)
    for (const other of first ? [first] : enabled) backtrack.add(other.label)
  }

  /** Any step on which no other depends could be replaced by it. */
  #raceWithBound({ label }: Choice, cause: ReadonlySet<number>): void {
    for (const index of this.#trace.keys())
      if (!cause.has(index) && !this.#trace.some(({ past }) => past.has(index)))
        this.#states[index]!.backtrack.add(this.#trace[index + 1]?.choice.label ?? label)
  }

  #end(): void {
    this.executions += 1
    if (this.#options.isComplete) this.#seeStates(this.#cuts())
  }

  /** The sets of steps that hold with each step all that it depends on. */
  #cuts(): (readonly number[])[] {
    let cuts: (readonly number[])[] = [[]]
    for (const [index, { past }] of this.#trace.entries())
      cuts = cuts.flatMap(cut => ([...past].every(step => cut.includes(step)) ? [cut, [...cut, index]] : [cut]))
    return cuts
  }

  #seeStates(cuts: readonly (readonly number[])[]): void {
    for (const cut of cuts) {
      const last = (node: string) => cut.findLast(index => this.#trace[index]!.choice.node === node)
      const shown = this.#options.nodes.map((node, i) => this.#trace[last(node) ?? -1]?.shown ?? this.#shown[i])
      this.seen.add(shown.join(' '))
    }
  }
}
