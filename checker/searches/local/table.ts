import { keyOf, type NodeEntry, type NodeSight, type Sent } from '../../system/node-system.ts'
import type { Choice, Finding } from '../../system/system.ts'

/** A message, once for all that look the same. */
export interface Flying {
  readonly id: number
  readonly sent: Sent
  /** Index of its receiver; -1 if that is no node. */
  readonly to: number
}

/** A state of one node: one object for all states with the same fingerprint, whatever led to them. */
export interface LocalState {
  /** Index of the node. */
  readonly node: number
  /** Number among the states of all nodes. */
  readonly index: number
  /** What properties read. */
  readonly state: unknown
  /** Choices that the node has without a message. */
  readonly enabled: readonly Choice[]
  /** Resets of its connections. */
  readonly resets: readonly Choice[]
  readonly isDown: boolean
  /** How it was first reached from where its node begins now; undefined for the state in which it begins. */
  way: { readonly from: LocalState; readonly input: NodeEntry } | undefined
  /** Which beginning of its node `way` begins at. */
  since: number
  /** By the key of an input, what is remembered of it. */
  readonly out: Map<string, InputOutcome>
  /** When something of it was last remembered or looked up. */
  usedAt: number
}

/** What an input of a local state leads to. */
export interface InputOutcome {
  /** Undefined if the node cannot take the input, or ends by it. */
  readonly to: LocalState | undefined
  readonly sent: readonly Flying[]
  readonly finding?: Finding | undefined
}

export interface TableOptions {
  /** At most this many outcomes are remembered. Those that were not used for longest are forgotten. */
  readonly outcomesMax?: number | undefined
  /** At most this many states are remembered when nodes begin anew: see `beginAnew`. */
  readonly statesMax?: number | undefined
  /** Whether states are told apart by the inputs that led there, and not only by how they look. */
  readonly byHistory?: boolean | undefined
  /** For tests: whether the n-th outcome is forgotten at once. */
  readonly forgets?: ((count: number) => boolean) | undefined
}

/** Each outcome takes some hundred bytes. */
const outcomesMaxUsual = 500_000
/** Each state takes some kilobytes. */
const statesMaxUsual = 20_000

/**
 * What is known of nodes alone: `(node, local state, input) → (local state, messages sent, what it can do next, findings)`.
 * States that look the same are the same here. That may be wrong, so nothing that follows from the table counts before the
 * whole system has executed it.
 */
export class Table {
  readonly #names: readonly string[]
  readonly #outcomesMax: number
  readonly #statesMax: number
  readonly #byHistory: boolean
  readonly #forgets: (count: number) => boolean
  #states: LocalState[] = []
  #statesMade = 0
  #messagesMade = 0
  readonly #byLooks = new Map<string, LocalState>()
  readonly #messages = new Map<string, Flying>()
  /** By node, how often it began. */
  readonly #begun: number[] = []
  #outcomes = 0
  #learned = 0
  #now = 0

  constructor(
    names: readonly string[],
    {
      outcomesMax = outcomesMaxUsual,
      statesMax = statesMaxUsual,
      byHistory = false,
      forgets = () => false,
    }: TableOptions = {},
  ) {
    this.#names = names
    this.#outcomesMax = outcomesMax
    this.#statesMax = statesMax
    this.#byHistory = byHistory
    this.#forgets = forgets
  }

  /** How many states of single nodes are known. */
  get size(): number {
    return this.#states.length
  }

  /**
   * Call it between two searches: forgets half of the states if there are too many, those that were not used for longest, with what
   * leads to them, and the messages that no other state sends. Nothing that was got before may be used afterwards.
   */
  beginAnew(): void {
    if (this.#states.length <= this.#statesMax) return
    const byUse = this.#states.toSorted((one, other) => other.usedAt - one.usedAt)
    const kept = new Set(byUse.slice(0, this.#statesMax / 2))
    this.#states = this.#states.filter(state => kept.has(state))
    for (const [looks, state] of this.#byLooks) if (!kept.has(state)) this.#byLooks.delete(looks)
    const sent = new Set<Flying>()
    this.#outcomes = 0
    for (const state of kept) {
      const { out } = state
      state.way = undefined
      for (const [key, outcome] of out)
        if (outcome.to && !kept.has(outcome.to)) out.delete(key)
        else for (const message of outcome.sent) sent.add(message)
      this.#outcomes += out.size
    }
    for (const [key, message] of this.#messages) if (!sent.has(message)) this.#messages.delete(key)
  }

  /** The state in which a node begins now. Ways to its other states are no longer of use, until they are reached from here. */
  begin(node: number, sight: NodeSight): LocalState {
    this.#begun[node] = this.#sinceOf(node) + 1
    const state = this.#stateOf(node, sight)
    state.way = undefined
    state.since = this.#sinceOf(node)
    return state
  }

  #sinceOf(node: number): number {
    return this.#begun[node] ?? 0
  }

  message(sent: Sent): Flying {
    const key = sent.alike ?? sent.content
    const known = this.#messages.get(key)
    if (known) return known
    const made = { id: this.#messagesMade++, sent, to: this.#names.indexOf(sent.to) }
    this.#messages.set(key, made)
    return made
  }

  /** @param state one that is reached from where its node begins now */
  get(state: LocalState, input: NodeEntry): InputOutcome | undefined {
    state.usedAt = ++this.#now
    const outcome = state.out.get(inputKey(input))
    if (outcome?.to) this.#reach(outcome.to, state, input)
    return outcome
  }

  #reach(to: LocalState, from: LocalState, input: NodeEntry): void {
    if (to.since === this.#sinceOf(to.node)) return
    to.since = this.#sinceOf(to.node)
    to.way = { from, input }
  }

  /** Learns what an input led to; `sight` is undefined if the node could not take it. */
  learn(from: LocalState, input: NodeEntry, sight: NodeSight | undefined): InputOutcome {
    const outcome = this.#outcomeOf(from, input, sight)
    this.#learned += 1
    if (this.#forgets(this.#learned)) return outcome
    const key = inputKey(input)
    if (!from.out.has(key)) this.#outcomes += 1
    from.out.set(key, outcome)
    from.usedAt = ++this.#now
    if (this.#outcomes > this.#outcomesMax) this.#forgetHalf()
    return outcome
  }

  /** Inputs by which a state is reached from where its node begins. */
  inputsTo(state: LocalState): NodeEntry[] {
    const inputs: NodeEntry[] = []
    for (let { way } = state; way; way = way.from.way) inputs.push(way.input)
    return inputs.reverse()
  }

  #outcomeOf(from: LocalState, input: NodeEntry, sight: NodeSight | undefined): InputOutcome {
    if (sight === undefined) return { to: undefined, sent: [] }
    const sent = sight.sent.map(each => this.message(each))
    const [finding] = sight.findings
    if (finding) return { to: undefined, sent, finding }
    const to = this.#stateOf(from.node, sight, this.#byHistory ? ` ${from.index} ${inputKey(input)}` : '')
    this.#reach(to, from, input)
    return { to, sent }
  }

  #stateOf(
    node: number,
    { fingerprint, state, enabled, resets = [], isDown = false }: NodeSight,
    history = '',
  ): LocalState {
    const looks = `${node} ${fingerprint}${history}`
    const known = this.#byLooks.get(looks)
    if (known) return known
    const index = this.#statesMade++
    const [way, since, out] = [undefined, Number.NaN, new Map()]
    const made = { node, index, state, enabled, resets, isDown, way, since, out, usedAt: ++this.#now }
    this.#states.push(made)
    this.#byLooks.set(looks, made)
    return made
  }

  /** Forgets the outcomes of the states that were not used for longest. */
  #forgetHalf(): void {
    for (const state of this.#states.toSorted((one, other) => one.usedAt - other.usedAt)) {
      if (this.#outcomes <= this.#outcomesMax / 2) return
      this.#outcomes -= state.out.size
      state.out.clear()
    }
  }
}

/** Messages that look the same have the same effect. */
export const inputKey = (entry: NodeEntry): string => {
  if ('overlap' in entry) return `overlap ${entry.overlap.map(inputKey).join(' & ')}`
  return 'deliver' in entry ? (entry.deliver.alike ?? entry.deliver.content) : keyOf(entry)
}
