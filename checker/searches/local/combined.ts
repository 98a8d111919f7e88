import { Undecided } from '../../system/errors.ts'
import type { Nodes } from '../../system/node-system.ts'
import { evaluate, type Property } from '../../system/property.ts'
import { combinations, take } from './order.ts'
import { Reads } from './reads.ts'
import { merge, type SpaceState, type StateCut } from './space.ts'

/**
 * Which states of single nodes are combined into states of the system. `all`: each with each (LMC-GEN). `differing`:
 * states that look the same to a property, by its `of` or by what it reads, are combined once (LMC-OPT).
 */
export type Combining = 'all' | 'differing'

export interface CombinedOptions<State> {
  readonly name: string
  readonly property: Property<State>
  readonly nodes: Nodes<State>
  readonly combining: Combining
  /** At most this many combinations with one state, or one kind of states, are evaluated. */
  readonly evaluationsMax: number
  readonly isPossible: IsPossible
}

/** States of one node that look the same to a property. */
interface Kind {
  readonly key: string
  readonly states: Set<SpaceState>
}

/** Kinds, one for each node, for which a property does not hold. */
interface Suspicion {
  readonly kinds: readonly Kind[]
  checksLeft: number
}

/** Limits on the combinations of states examined for one suspicion: for each new state, and in all. Larger ones make the search slower; smaller ones miss violations, which `left` counts. */
const checksPerStateMax = 64
const checksMax = 20_000

/** One safety property, evaluated over combined states of single nodes. */
export class Combined<State> {
  /** Combinations for which the property was evaluated. */
  evaluations = 0
  /** Combinations that were skipped because there were too many. */
  left = 0
  /** Why the property could not be decided. */
  undecided: string | undefined
  readonly #options: CombinedOptions<State>
  /** For each node, what the property reads of its states; undefined if that does not matter or cannot be watched. */
  #reads: readonly Reads[] | undefined
  #kinds: readonly Map<string, Kind>[]
  #suspicions: Suspicion[] = []
  /** How many fields had been read when the kinds were made. */
  #readBefore = 0
  readonly #states: SpaceState[] = []

  constructor(options: CombinedOptions<State>) {
    const { nodes, property, combining } = options
    this.#options = options
    this.#kinds = nodes.names.map(() => new Map())
    this.#reads = combining === 'all' || property.of ? undefined : nodes.names.map(() => new Reads())
  }

  /** Adds a new state. Yields the combinations with it for which the property does not hold, the most likely first. */
  *add(state: SpaceState): Generator<StateCut, void> {
    if (this.undecided !== undefined) return
    this.#states.push(state)
    this.#classify(state)
    // If the property read a field for the first time, states that looked the same may now differ.
    while (this.#isStale) this.#classifyAnew()
    yield* this.suspectsWith(state)
  }

  /** Yields the combinations with a known state. After a new path to it was found, it may share an execution with other states. */
  *suspectsWith(state: SpaceState): Generator<StateCut, void> {
    if (this.undecided !== undefined) return
    const key = this.#keyOf(state)
    for (const suspicion of this.#suspicions) {
      if (suspicion.kinds[state.node]!.key !== key) continue
      for (const cut of take(candidates(suspicion.kinds, state, this.#options.isPossible), checksPerStateMax)) {
        if (suspicion.checksLeft === 0) this.left += 1
        else {
          suspicion.checksLeft -= 1
          yield cut
        }
      }
    }
  }

  #classifyAnew(): void {
    this.#readBefore = this.#readCount
    this.#kinds = this.#kinds.map(() => new Map())
    this.#suspicions = []
    this.left = 0
    for (const state of this.#states) this.#classify(state)
  }

  get #isStale(): boolean {
    return this.#readBefore !== this.#readCount
  }

  #classify(state: SpaceState): void {
    const key = this.#keyOf(state)
    const kinds = this.#kinds[state.node]!
    const known = kinds.get(key)
    if (known) {
      known.states.add(state)
      return
    }
    const kind = { key, states: new Set([state]) }
    kinds.set(key, kind)
    const others = this.#kinds.map((all, node) => (node === state.node ? [kind] : [...all.values()]))
    const count = others.reduce((product, each) => product * each.length, 1)
    const { evaluationsMax } = this.#options
    for (const each of take(this.#inOrder(state, others), evaluationsMax)) this.#evaluate(each)
    this.left += Math.max(0, count - evaluationsMax)
  }

  /** Combinations of kinds. The one with a known execution comes first, because it is a state of the whole system. */
  *#inOrder({ cut }: SpaceState, kinds: readonly (readonly Kind[])[]): Generator<readonly Kind[], void> {
    const known = cut?.map((state, node) => this.#kinds[node]!.get(this.#keyOf(state)))
    const isKnown = known?.every((kind, node) => kind !== undefined && kinds[node]!.includes(kind))
    if (isKnown) yield known as Kind[]
    for (const each of combinations(kinds)) if (!isKnown || each.some((kind, node) => kind !== known![node])) yield each
  }

  get #readCount(): number {
    return this.#reads?.reduce((sum, { count }) => sum + count, 0) ?? 0
  }

  #keyOf({ node, index, state }: SpaceState): string {
    const { property, nodes, combining } = this.#options
    if (combining === 'all') return String(index)
    if (property.of) return JSON.stringify(property.of(nodes.viewOf(state) as never)) ?? 'undefined'
    return this.#reads ? this.#reads[node]!.keyOf(state) : String(index)
  }

  #evaluate(kinds: readonly Kind[]): void {
    const states = kinds.map(({ states: [first] }) => first!.state)
    this.evaluations += 1
    if (this.#holds(states) === false) this.#suspicions.push({ kinds, checksLeft: checksMax })
  }

  #holds(states: readonly unknown[]): boolean | undefined {
    const { name, property, nodes } = this.#options
    const evaluateOf = (parts: readonly unknown[]) =>
      evaluate(name, property, nodes.join(parts), () => 'in states of single nodes')
    try {
      return evaluateOf(this.#reads ? states.map((state, node) => this.#reads![node]!.watch(state)) : states)
    } catch (error) {
      if (error instanceof Undecided) {
        this.undecided = `${name} was not evaluated: ${error.message}`
        return undefined
      }
      if (this.#reads === undefined) throw error
      // Some value cannot be watched, for example a Map. From now on, each state is a kind of its own.
      this.#reads = undefined
      this.#readBefore = Number.NaN
      return evaluateOf(states)
    }
  }
}

/** Whether one execution may contain both states (of different nodes), as far as is known. */
type IsPossible = (one: SpaceState, other: SpaceState) => boolean

/**
 * Combinations of states of these kinds, with `state` among them, in which every two may occur in one execution. Those
 * with a known execution come first.
 */
function* candidates(kinds: readonly Kind[], state: SpaceState, isPossible: IsPossible): Generator<StateCut, void> {
  if (state.cut) yield* consistent(kinds, state, state.cut)
  yield* possible(kinds, state, isPossible, [])
}

/** Combinations that share a known execution with `one`. */
function* consistent(kinds: readonly Kind[], one: SpaceState, cut: StateCut, node = 0): Generator<StateCut, void> {
  const kind = kinds[node]
  if (kind === undefined) {
    if (cut[one.node] === one && cut.every((state, index) => kinds[index]!.states.has(state))) yield cut
    return
  }
  // If the execution already reaches such a state, no other has to be merged into it.
  const here = cut[node]!
  if (kind.states.has(here)) yield* consistent(kinds, one, cut, node + 1)
  if (node === one.node) return
  for (const state of kind.states) {
    if (state === here || !state.cut) continue
    const merged = merge(cut, state.cut)
    if (merged?.[node] === state) yield* consistent(kinds, one, merged, node + 1)
  }
}

function* possible(
  kinds: readonly Kind[],
  one: SpaceState,
  isPossible: IsPossible,
  chosen: readonly SpaceState[],
): Generator<StateCut, void> {
  const kind = kinds[chosen.length]
  if (kind === undefined) {
    yield chosen
    return
  }
  for (const state of chosen.length === one.node ? [one] : kind.states)
    if ([...chosen, one].every(other => other === state || other.node === state.node || isPossible(state, other)))
      yield* possible(kinds, one, isPossible, [...chosen, state])
}
