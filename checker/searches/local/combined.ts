import { Undecided } from '../../errors.ts'
import type { Nodes } from '../../node-system.ts'
import { evaluate, type Property } from '../../property.ts'
import { combinations, take } from './order.ts'
import { Reads } from './reads.ts'
import { type Cut, type LocalState, merge } from './space.ts'

/**
 * Which states of single nodes are combined into states of the system. `all`: each with each (LMC-GEN). `differing`: those
 * that are the same to a property, by its `of` or by what it reads, are combined once (LMC-OPT).
 */
export type Combining = 'all' | 'differing'

export interface CombinedOptions<State> {
  readonly name: string
  readonly property: Property<State>
  readonly nodes: Nodes<State>
  readonly combining: Combining
  /** Of combinations with one state, or one kind of states, so many are evaluated. */
  readonly evaluationsMax: number
  readonly isPossible: IsPossible
}

/** States of one node that are the same to a property. */
interface Kind {
  readonly key: string
  readonly states: Set<LocalState>
}

/** Kinds, one of each node, in which a property does not hold. */
interface Suspicion {
  readonly kinds: readonly Kind[]
  checksLeft: number
}

/** For one suspicion so many combinations of its states are looked at for each that is new, and so many in all. */
const checksPerStateMax = 64
const checksMax = 20_000

/** One safety property over the states of single nodes. */
export class Combined<State> {
  /** States of the system in which the property was evaluated. */
  evaluations = 0
  /** Combinations that were not looked at, for there were too many. */
  left = 0
  /** Why nothing can be said of the property. */
  undecided: string | undefined
  readonly #options: CombinedOptions<State>
  /** By node, what the property reads of its states; undefined where that does not matter, or cannot be told. */
  #reads: readonly Reads[] | undefined
  #kinds: readonly Map<string, Kind>[]
  #suspicions: Suspicion[] = []
  /** How much had been read when the kinds were made. */
  #readBefore = 0
  readonly #states: LocalState[] = []

  constructor(options: CombinedOptions<State>) {
    const { nodes, property, combining } = options
    this.#options = options
    this.#kinds = nodes.names.map(() => new Map())
    this.#reads = combining === 'all' || property.of ? undefined : nodes.names.map(() => new Reads())
  }

  /** Takes in a new state. Gives combinations with it in which the property does not hold, the likeliest first. */
  *add(state: LocalState): Generator<Cut, void> {
    if (this.undecided !== undefined) return
    this.#states.push(state)
    this.#classify(state)
    // Where more was read than before, what was the same may not be.
    while (this.#isStale) this.#classifyAnew()
    yield* this.suspectsWith(state)
  }

  /** The same of a state that was taken in: by other ways to it, other combinations may have an execution in common. */
  *suspectsWith(state: LocalState): Generator<Cut, void> {
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

  #classify(state: LocalState): void {
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

  /** Combinations of kinds, first that of the states to which an execution is known: it was one of the whole system. */
  *#inOrder({ cut }: LocalState, kinds: readonly (readonly Kind[])[]): Generator<readonly Kind[], void> {
    const known = cut?.map((state, node) => this.#kinds[node]!.get(this.#keyOf(state)))
    const isKnown = known?.every((kind, node) => kind !== undefined && kinds[node]!.includes(kind))
    if (isKnown) yield known as Kind[]
    for (const each of combinations(kinds)) if (!isKnown || each.some((kind, node) => kind !== known![node])) yield each
  }

  get #readCount(): number {
    return this.#reads?.reduce((sum, { count }) => sum + count, 0) ?? 0
  }

  #keyOf({ node, index, state }: LocalState): string {
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
        this.undecided = `${name} was not looked at: ${error.message}`
        return undefined
      }
      if (this.#reads === undefined) throw error
      // Something in it cannot be watched, as a Map: each state is a kind of its own.
      this.#reads = undefined
      this.#readBefore = Number.NaN
      return evaluateOf(states)
    }
  }
}

/** Whether two states of different nodes may be met in one execution, as far as it is known. */
type IsPossible = (one: LocalState, other: LocalState) => boolean

/** States of the kinds, this one among them, each two of which may be met in one execution: first those known to be. */
function* candidates(kinds: readonly Kind[], state: LocalState, isPossible: IsPossible): Generator<Cut, void> {
  if (state.cut) yield* consistent(kinds, state, state.cut)
  yield* possible(kinds, state, isPossible, [])
}

/** The same, of states that have an execution in common with one. */
function* consistent(kinds: readonly Kind[], one: LocalState, cut: Cut, node = 0): Generator<Cut, void> {
  const kind = kinds[node]
  if (kind === undefined) {
    if (cut[one.node] === one && cut.every((state, index) => kinds[index]!.states.has(state))) yield cut
    return
  }
  // Where the execution has come to such a state already, nothing has to be added.
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
  one: LocalState,
  isPossible: IsPossible,
  chosen: readonly LocalState[],
): Generator<Cut, void> {
  const kind = kinds[chosen.length]
  if (kind === undefined) {
    yield chosen
    return
  }
  for (const state of chosen.length === one.node ? [one] : kind.states)
    if ([...chosen, one].every(other => other === state || other.node === state.node || isPossible(state, other)))
      yield* possible(kinds, one, isPossible, [...chosen, state])
}
