import { isFault } from '../../happening/kinds.ts'
import { atPosition, keyOf, type NodeInput, type NodeSight, type Nodes, type Sent } from '../../system/node-system.ts'
import type { Abstraction, Choice, ChoiceKind } from '../../system/system.ts'
import { Buckets } from './buckets.ts'
import type { Flying, InputOutcome, LocalState as Looks, Table } from './table.ts'

/** An input that a node took in a state, and what it sent. */
export interface Edge {
  readonly from: SpaceState
  readonly to: SpaceState
  readonly input: NodeInput
  readonly sent: readonly Sent[]
}

/** A state of one node that was executed alone. */
export interface SpaceState {
  /** Index of the node. */
  readonly node: number
  /** Index of the state among those of its node. */
  readonly index: number
  /** Equal for states that look the same, whatever inputs led there. */
  readonly looks: Looks
  readonly state: unknown
  readonly enabled: readonly Choice[]
  /** All edges that lead to it. */
  readonly edges: Edge[]
  /** The last edge of the path by which it is executed again; undefined for the state in which the node began. */
  first: Edge | undefined
  /** Of that path: its length, how much of each stream was received and sent, and the cost of its choices. */
  depth: number
  streams: ReadonlyMap<string, number>
  sentOn: ReadonlyMap<string, number>
  choices: number
  /** States of all nodes, this one included, that one possible execution reaches; undefined while none is known. */
  cut: StateCut | undefined
  /** Cost of the choices, of all nodes, in an execution that reaches it. Exact if a cut is known. */
  cost: number
  /** Facts that are true in every known execution that reaches it. */
  must: Facts
  /** Facts about its own node that are true in at least one of them. */
  readonly may: Set<Fact>
  readonly leaving: Edge[]
  /** Inputs that were already tried in it: contents of messages and labels of choices. */
  readonly taken: Set<string>
  hasChildren: boolean
}

/** Number of a fact: a node took an input, or sent something. */
type Fact = number
type Facts = ReadonlySet<Fact>

/** One state of each node, in the nodes' order. */
export type StateCut = readonly SpaceState[]

/** A message in the network, which only grows: a message once sent may arrive in every state of its receiver. */
interface Carried {
  readonly message: Sent
  readonly producers: SpaceState[]
  /** Edges that deliver it. */
  readonly deliveries: Edge[]
  /** Facts that are true in every known execution that sends it. */
  must: Facts
  /** States of its receiver for which no execution is known that also sends the message. */
  readonly lacking: Set<SpaceState>
  /**
   * States of its receiver that cannot share an execution with the message, as their node never took or sent what the
   * message requires.
   */
  readonly impossible: Set<SpaceState>
}

/** An input to give to a node in a state. */
export interface Transition {
  readonly from: SpaceState
  readonly input: NodeInput
  readonly key: string
  /**
   * States of all nodes before the input, in a possible execution that has sent the message; undefined while none is
   * known.
   */
  readonly cut: StateCut | undefined
  readonly cost: number
}

/** A node's state at the beginning of the search, and what it had received by then. */
export interface Beginning {
  readonly sight: NodeSight
  readonly received: ReadonlySet<string>
  readonly streams: ReadonlyMap<string, number>
  /** How much of each stream it had sent. */
  readonly sentOn: ReadonlyMap<string, number>
}

/**
 * Cost of a fault, in choices. Each begins another life of a node, which takes as long as some hundred inputs. A lower
 * cost would fill the search with restarts.
 */
const faultCost = 2
/**
 * At most this many senders of a message are tried when looking for an execution that also reaches its receiver's
 * state. More would cost time for each message.
 */
const producersMax = 64

/**
 * The states of each node, and the network: every message and every choice meets every state of its node (LMC, figure
 * 9). Two cases are left out. One is a state that has received the same message on every path. The other is a state
 * whose node has not yet done what every execution with that message requires: an answer does not precede its question.
 * Inputs with fewer choices, over all nodes, come first, and among these the ones with a known execution. So the bound
 * on local events rises as in section 4.2.
 */
export class Space {
  readonly states: readonly SpaceState[][]
  /** Inputs that were executed, including those that led to nothing new. */
  transitions = 0
  /** Inputs after which a node ended, did not become quiescent, or could do nothing. */
  discarded = 0
  readonly #abstraction: Abstraction
  /** How many faults of each kind may befall each node; any number without. */
  readonly #faults: Nodes<never>['faults']
  readonly #known: readonly Map<string, SpaceState>[]
  readonly #messages = new Map<string, Carried>()
  readonly #to: readonly Carried[][]
  readonly #names: readonly string[]
  readonly #facts = new Map<string, Fact>()
  /** The node that each fact is about. */
  readonly #factNodes: number[] = []
  readonly #waiting = new Buckets<Transition>()
  /** States to which another path was found since the last `takeGrown`. */
  readonly #grown = new Set<SpaceState>()

  /**
   * @param table knows how the nodes look
   *
   * @param inFlight messages that were sent and not yet received
   */
  constructor(
    { names, abstraction, faults }: Pick<Nodes<never>, 'names' | 'abstraction' | 'faults'>,
    table: Pick<Table, 'begin'>,
    begin: readonly Beginning[],
    inFlight: readonly Sent[],
  ) {
    this.#names = names
    this.#abstraction = abstraction
    this.#faults = faults
    this.#known = names.map(() => new Map())
    this.#to = names.map(() => [])
    this.states = names.map(() => [])
    const roots = begin.map((each, node) => this.#root(node, each, table.begin(node, each.sight)))
    for (const root of roots) root.cut = roots
    for (const message of inFlight) this.#carryFirst(message, roots[this.#names.indexOf(message.from)]!)
    for (const root of roots) this.#offer(root)
  }

  get roots(): StateCut {
    return this.states.map(([root]) => root!)
  }

  /** Whether every input was given to every state. */
  get isDone(): boolean {
    return this.#waiting.isEmpty
  }

  next(): Transition | undefined {
    for (;;) {
      const transition = this.#waiting.shift()
      if (transition === undefined) return undefined
      const { taken } = transition.from
      // The same input may have been offered twice, with a cut and without.
      if (taken.has(transition.key)) continue
      taken.add(transition.key)
      return transition
    }
  }

  /** Adds the outcome of an input. Returns the state if it is new. */
  arrive({ from, input, cut, cost }: Transition, { to, sent: sentAs }: InputOutcome): SpaceState | undefined {
    this.transitions += 1
    if (to === undefined) {
      this.discarded += 1
      return undefined
    }
    const known = this.#find(from, input, to)
    const state = known ?? this.#add(from, input, to)
    const sent = positioned(sentAs, from.sentOn)
    const edge: Edge = { from, to: state, input, sent }
    state.edges.push(edge)
    from.leaving.push(edge)
    if (known && known !== from) this.#grown.add(known)
    if (known === undefined || (known !== from && !known.cut && cut && !known.hasChildren)) {
      this.#lead(state, edge)
      state.cut = cut?.with(from.node, state)
      state.cost = cost
    }
    from.hasChildren ||= state !== from
    if ('deliver' in input) this.#messages.get(input.deliver.content)!.deliveries.push(edge)
    if (known) this.#loosen(edge)
    else this.#takeFacts(edge)
    for (const message of sent) this.#carry(message, edge)
    if (state.first === edge) this.#offer(state)
    return known ? undefined : state
  }

  /** States to which other paths were found since the last call, and all states after them. */
  takeGrown(): SpaceState[] {
    // Iterating over a set includes items that are added meanwhile.
    for (const { leaving } of this.#grown) for (const { to } of leaving) this.#grown.add(to)
    const grown = [...this.#grown]
    this.#grown.clear()
    return grown
  }

  #root(node: number, { received, streams, sentOn }: Beginning, looks: Looks): SpaceState {
    const { state, enabled } = looks
    const facts = new Set([...received].map(content => this.#factOf(node, content)))
    const root: SpaceState = {
      ...{ node, index: 0, looks, state, enabled, edges: [], first: undefined, depth: 0, streams, sentOn },
      ...{ choices: 0, cut: undefined, cost: 0, taken: new Set(), hasChildren: false },
      ...{ must: facts, may: new Set(facts), leaving: [] },
    }
    this.states[node]!.push(root)
    this.#known[node]!.set(this.#identity(looks, []), root)
    return root
  }

  #find(from: SpaceState, input: NodeInput, looks: Looks): SpaceState | undefined {
    return this.#known[from.node]!.get(this.#identity(looks, [...inputsOf(from), keyOf(input)]))
  }

  #add(from: SpaceState, input: NodeInput, looks: Looks): SpaceState {
    const { state, enabled } = looks
    const all = this.states[from.node]!
    const added: SpaceState = {
      ...{ node: from.node, index: all.length, looks, state, enabled, edges: [], first: undefined, depth: 0 },
      ...{ streams: from.streams, sentOn: from.sentOn, choices: 0, cut: undefined, cost: 0, taken: new Set() },
      ...{ hasChildren: false, must: new Set(), may: new Set(), leaving: [] },
    }
    all.push(added)
    this.#known[from.node]!.set(this.#identity(looks, [...inputsOf(from), keyOf(input)]), added)
    return added
  }

  /** Makes this edge the last one of the path by which the state is executed again. */
  #lead(state: SpaceState, edge: Edge): void {
    const { from, input, sent } = edge
    state.first = edge
    state.depth = from.depth + 1
    state.streams = afterInput(from.streams, input)
    state.sentOn = afterSending(from.sentOn, sent)
    const choice = 'choice' in input ? from.enabled.find(({ label }) => label === input.choice) : undefined
    state.choices = from.choices + (choice === undefined ? 0 : isFault(choice.kind) ? faultCost : 1)
  }

  /**
   * Equal observations may hide different states. Adding the set of inputs tells more of them apart; adding their order
   * tells all apart.
   */
  #identity({ index }: Looks, inputs: readonly string[]): string {
    if (this.#abstraction === 'whole') return String(index)
    if (this.#abstraction === 'observed') return [index, ...inputs.toSorted()].join('\n')
    return inputs.join('\n')
  }

  /** A new message meets all states of its receiver. */
  #carry(message: Sent, edge: Edge): void {
    const known = this.#messages.get(message.content)
    if (known === undefined) {
      this.#carryFirst(message, edge.to, this.#factsOf(edge))
      return
    }
    known.producers.push(edge.to)
    this.#loosenMessage(known, this.#factsOf(edge))
    for (const state of known.lacking) this.#offerWith(state, known, [edge.to])
  }

  #carryFirst(message: Sent, producer: SpaceState, must: Facts = new Set()): void {
    const receiver = this.#names.indexOf(message.to)
    if (receiver < 0) return
    const sets = { lacking: new Set<SpaceState>(), impossible: new Set<SpaceState>() }
    const carried = { message, producers: [producer], deliveries: [], must, ...sets }
    this.#messages.set(message.content, carried)
    this.#to[receiver]!.push(carried)
    for (const state of this.states[receiver]!) this.#offerMessage(state, carried)
  }

  // Facts

  #factOf(node: number, key: string): Fact {
    const name = `${node} ${key}`
    const known = this.#facts.get(name)
    if (known !== undefined) return known
    const fact = this.#factNodes.length
    this.#facts.set(name, fact)
    this.#factNodes.push(node)
    return fact
  }

  /** Facts about the edge's own node: its input and what it sent. */
  #ownFactsOf({ from, input, sent }: Edge): Fact[] {
    const facts = [keyOf(input), ...sent.map(({ content }) => `sends ${content}`)]
    return facts.map(each => this.#factOf(from.node, each))
  }

  /** Facts that are true in every execution that takes the edge. */
  #factsOf(edge: Edge): Facts {
    const { from, input } = edge
    const message = 'deliver' in input ? this.#messages.get(input.deliver.content)!.must : []
    return new Set([...from.must, ...message, ...this.#ownFactsOf(edge)])
  }

  #takeFacts(edge: Edge): void {
    const { from, to } = edge
    to.must = this.#factsOf(edge)
    for (const fact of [...from.may, ...this.#ownFactsOf(edge)]) to.may.add(fact)
  }

  /**
   * Updates a state after another path to it was found, or after less became certain about one. Fewer facts are then
   * true on all paths, and more may be true on some.
   */
  #loosen(edge: Edge): void {
    const { from, to } = edge
    const must = intersection(to.must, this.#factsOf(edge))
    const before = to.may.size
    for (const fact of [...from.may, ...this.#ownFactsOf(edge)]) to.may.add(fact)
    const hasMore = to.may.size > before
    const hasLess = must.size < to.must.size
    if (!hasMore && !hasLess) return
    to.must = must
    // Inputs that were left out as impossible may be possible now.
    for (const carried of this.#to[to.node]!)
      if (carried.impossible.delete(to) || hasLess) this.#offerMessage(to, carried)
    for (const next of to.leaving) {
      this.#loosen(next)
      for (const { content } of next.sent) this.#loosenMessage(this.#messages.get(content), this.#factsOf(next))
    }
  }

  #loosenMessage(carried: Carried | undefined, facts: Facts): void {
    if (carried === undefined) return
    const must = intersection(carried.must, facts)
    if (must.size === carried.must.size) return
    carried.must = must
    const impossible = [...carried.impossible]
    carried.impossible.clear()
    for (const state of impossible) this.#offerMessage(state, carried)
    for (const edge of carried.deliveries) {
      this.#loosen(edge)
      for (const { content } of edge.sent) this.#loosenMessage(this.#messages.get(content), this.#factsOf(edge))
    }
  }

  /** Whether the message was received on every path to the state. */
  #hasReceived({ node, must }: SpaceState, { content }: Sent): boolean {
    return must.has(this.#factOf(node, content))
  }

  /** Whether the facts that are certain for one state are possible for the other. */
  isPossible(one: SpaceState, other: SpaceState): boolean {
    return this.#may(other, one.must) && this.#may(one, other.must)
  }

  /** Whether all facts about this state's node are true on some path to it. */
  #may({ node, may }: SpaceState, must: Facts): boolean {
    for (const fact of must) if (this.#factNodes[fact] === node && !may.has(fact)) return false
    return true
  }

  #offer(state: SpaceState): void {
    for (const { label, kind } of state.enabled) {
      if (this.#hadAll(state, kind)) continue
      const cost = state.cost + (isFault(kind) ? faultCost : 1)
      this.#put({ from: state, input: { choice: label }, key: label, cut: state.cut, cost })
    }
    for (const carried of this.#to[state.node]!) this.#offerMessage(state, carried)
  }

  /** Whether all faults of this kind that a node may have befell it on the way to a state. */
  #hadAll(state: SpaceState, kind: ChoiceKind): boolean {
    if (this.#faults === undefined || !isFault(kind)) return false
    const had = wayTo(state).filter(
      ({ from, input }) =>
        'choice' in input && from.enabled.some(choice => choice.label === input.choice && choice.kind === kind),
    )
    return had.length >= (this.#faults[kind] ?? 0)
  }

  #offerMessage(state: SpaceState, carried: Carried): void {
    const { message, producers } = carried
    if (this.#hasReceived(state, message) || state.taken.has(message.content) || !isNext(state, message)) return
    if (!this.#may(state, carried.must)) {
      carried.impossible.add(state)
      return
    }
    if (this.#offerWith(state, carried, producers.slice(0, producersMax))) return
    carried.lacking.add(state)
    const cost = Math.max(state.cost, Math.min(...producers.map(each => each.cost)))
    this.#put({ from: state, input: { deliver: message }, key: message.content, cut: undefined, cost })
  }

  /**
   * Whether a known execution reaches both this state and a state in which one of these producers has sent the message.
   */
  #offerWith(state: SpaceState, { message, lacking }: Carried, producers: readonly SpaceState[]): boolean {
    const usable: StateCut[] = []
    for (const { cut } of producers) {
      const merged = cut && state.cut ? merge(state.cut, cut) : undefined
      if (merged?.[state.node] === state) usable.push(merged)
    }
    if (usable.length === 0) return false
    const cut = usable.reduce((best, each) => (costOf(each) < costOf(best) ? each : best))
    lacking.delete(state)
    this.#put({ from: state, input: { deliver: message }, key: message.content, cut, cost: costOf(cut) })
    return true
  }

  #put(transition: Transition): void {
    // An input without a known execution comes after one with a known execution that costs one choice more.
    this.#waiting.push(transition, transition.cut ? 2 * transition.cost : 2 * transition.cost + 3)
  }
}

/** Edges on the path to a state. */
export const wayTo = (state: SpaceState): Edge[] => {
  const way: Edge[] = []
  for (let edge = state.first; edge !== undefined; edge = edge.from.first) way.push(edge)
  return way.reverse()
}

/** The later state of each node, if one execution contains both cuts; undefined if none is known. */
export const merge = (one: StateCut, other: StateCut): StateCut | undefined => {
  const merged: SpaceState[] = []
  for (const [node, here] of one.entries()) {
    const later = laterOf(here, other[node]!)
    if (later === undefined) return undefined
    merged.push(later)
  }
  return merged
}

/** The later of two states of a node, if one lies on the path to the other. */
const laterOf = (one: SpaceState, other: SpaceState): SpaceState | undefined => {
  const [early, late] = one.depth <= other.depth ? [one, other] : [other, one]
  let state = late
  while (state.depth > early.depth) state = state.first!.from
  return state === early ? late : undefined
}

const intersection = (some: Facts, others: Facts): Facts => new Set([...some].filter(fact => others.has(fact)))

const costOf = (cut: StateCut): number => cut.reduce((sum, { choices }) => sum + choices, 0)

const inputsOf = (state: SpaceState): string[] => wayTo(state).map(({ input }) => keyOf(input))

/** Whether the message is the next one of its stream. */
const isNext = ({ streams }: SpaceState, { stream }: Sent): boolean =>
  stream === undefined || (streams.get(stream.name) ?? 0) === stream.index

/** These messages, at their positions in streams that already have a number of others. */
const positioned = (sent: readonly Flying[], before: ReadonlyMap<string, number>): Sent[] => {
  const next = new Map(before)
  return sent.map(({ sent: message }) => {
    const { stream } = message
    if (stream === undefined) return message
    const index = next.get(stream.name) ?? 0
    next.set(stream.name, index + 1)
    return atPosition(message, index)
  })
}

/** How many messages of each stream were sent, after some more. */
export const afterSending = (
  streams: ReadonlyMap<string, number>,
  sent: readonly Sent[],
): ReadonlyMap<string, number> => {
  if (!sent.some(({ stream }) => stream)) return streams
  const after = new Map(streams)
  for (const { stream } of sent) if (stream) after.set(stream.name, stream.index + 1)
  return after
}

/** How many messages of each stream were received, after one more input. */
export const afterInput = (streams: ReadonlyMap<string, number>, input: NodeInput): ReadonlyMap<string, number> => {
  const stream = 'deliver' in input ? input.deliver.stream : undefined
  return stream ? new Map(streams).set(stream.name, stream.index + 1) : streams
}
