import type { NodeEntry, NodeSight, NodeSystem, Nodes, Sent } from '../../../checker/system/node-system.ts'
import type { Choice, ChoiceKind, Finding, System } from '../../../checker/system/system.ts'
import { choiceOf } from './model.ts'

/** A message that a handler sends. */
export interface Out {
  readonly to: string
  readonly text: string
}

/** What a handler makes of a state. */
export interface Done<Local> {
  readonly state: Local
  readonly sent?: readonly Out[]
  readonly findings?: readonly Finding[]
}

/** Something that a node does by itself. */
export interface Own<Local> {
  readonly kind?: ChoiceKind
  readonly label: string
  readonly next: () => Done<Local>
}

/** Nodes that are state machines with handlers (LMC, figure 5). States are plain data. */
export interface Handlers<Local> {
  readonly names: readonly string[]
  initial(name: string): Done<Local>
  receive(state: Local, message: { readonly from: string; readonly text: string }, name: string): Done<Local>
  own(state: Local, name: string): readonly Own<Local>[]
}

export interface Whole<Local> {
  readonly nodes: readonly Local[]
}

interface InFlight extends Out {
  readonly from: string
  readonly label: string
}

/** The whole system of such nodes: a network that loses nothing and delivers in any order. */
export class HandlerSystem<Local> implements System<Whole<Local>> {
  readonly abstraction = 'whole'
  readonly #handlers: Handlers<Local>
  #locals: Local[] = []
  #inFlight: InFlight[] = []
  #counts = new Map<string, number>()
  #isOver = false

  constructor(handlers: Handlers<Local>) {
    this.#handlers = handlers
  }

  async reset() {
    const { names } = this.#handlers
    this.#locals = []
    this.#inFlight = []
    this.#counts = new Map()
    this.#isOver = false
    return names.flatMap((name, index) => this.#take(index, this.#handlers.initial(name)))
  }

  enabled(): readonly (Choice & { readonly take: () => readonly Finding[] })[] {
    if (this.#isOver) return []
    const { names } = this.#handlers
    const deliveries = this.#inFlight.map(message => ({
      ...choiceOf({ kind: 'deliver', node: message.to, label: message.label }),
      take: () => {
        this.#inFlight = this.#inFlight.filter(each => each !== message)
        const index = names.indexOf(message.to)
        return this.#take(index, this.#handlers.receive(this.#locals[index]!, message, message.to))
      },
    }))
    const own = names.flatMap((name, index) =>
      this.#handlers.own(this.#locals[index]!, name).map(({ kind = 'timer', label, next }) => ({
        ...{ ...choiceOf({ kind, node: name, label }), take: () => this.#take(index, next()) },
      })),
    )
    return [...deliveries, ...own]
  }

  async execute(choice: Choice) {
    const findings = this.enabled()
      .find(({ label }) => label === choice.label)!
      .take()
    this.#isOver = findings.length > 0
    return { choice, findings }
  }

  state() {
    return { nodes: [...this.#locals] }
  }

  fingerprint() {
    const messages = this.#inFlight.map(({ from, to, text }) => `${from}→${to} ${text}`).sort()
    return JSON.stringify([this.#locals, messages])
  }

  parts() {
    const states = this.#handlers.names.map((name, index) => [`state of ${name}`, JSON.stringify(this.#locals[index])])
    return { ...Object.fromEntries(states), all: this.fingerprint() }
  }

  #take(index: number, { state, sent = [], findings = [] }: Done<Local>): readonly Finding[] {
    const from = this.#handlers.names[index]!
    this.#locals[index] = state
    for (const out of sent) this.#inFlight.push({ ...out, from, label: labelOf(from, out, this.#counts) })
    return findings
  }
}

/** The same nodes alone. */
export const nodesOf = <Local>(handlers: Handlers<Local>): Nodes<Whole<Local>> & { inputs: number } => {
  const nodes = {
    names: handlers.names,
    abstraction: 'whole' as const,
    /** How many inputs were given to nodes, to reach states again among them. */
    inputs: 0,
    alone: (name: string): NodeSystem => new HandlerNode(handlers, name, () => (nodes.inputs += 1)),
    join: (states: readonly unknown[]) => ({ nodes: states as readonly Local[] }),
    viewOf: (state: unknown) => state,
  }
  return nodes
}

class HandlerNode<Local> implements NodeSystem {
  readonly #handlers: Handlers<Local>
  readonly #name: string
  readonly #onInput: () => void
  #state: Local | undefined
  #counts = new Map<string, number>()

  constructor(handlers: Handlers<Local>, name: string, onInput: () => void) {
    this.#handlers = handlers
    this.#name = name
    this.#onInput = onInput
  }

  async reset() {
    this.#counts = new Map()
    return this.#see(this.#handlers.initial(this.#name))
  }

  async enter(input: NodeEntry) {
    if ('overlap' in input) return undefined
    this.#onInput()
    if ('choice' in input) {
      const own = this.#handlers.own(this.#state!, this.#name).find(({ label }) => label === input.choice)
      return own && this.#see(own.next())
    }
    const { from, body } = input.deliver
    return this.#see(this.#handlers.receive(this.#state!, { from, text: body as string }, this.#name))
  }

  #see({ state, sent = [], findings = [] }: Done<Local>): NodeSight {
    this.#state = state
    const from = this.#name
    return {
      state,
      fingerprint: JSON.stringify(state),
      sent: sent.map((out): Sent => {
        const { to, text } = out
        return { from, to, label: labelOf(from, out, this.#counts), content: `${from}→${to} ${text}`, body: text }
      }),
      enabled:
        findings.length > 0
          ? []
          : this.#handlers.own(state, from).map(({ kind = 'timer', label }) => choiceOf({ kind, node: from, label })),
      findings,
    }
  }
}

const labelOf = (from: string, { to, text }: Out, counts: Map<string, number>): string => {
  const way = `${from}→${to}`
  const ordinal = (counts.get(way) ?? 0) + 1
  counts.set(way, ordinal)
  return `${way} #${ordinal} ${text}`
}

interface Point<Local> {
  readonly states: readonly Local[]
  readonly inFlight: readonly (Out & { readonly from: string })[]
}

/** What depth-first search comes to that goes on from each state of the whole system once. */
export const searchDepthFirst = <Local>(
  handlers: Handlers<Local>,
  visit: (states: readonly Local[]) => void = () => undefined,
): { transitions: number; states: number } => {
  const { names } = handlers
  const met = new Set<string>()
  const waiting: Point<Local>[] = []
  let transitions = 0
  const arrive = (point: Point<Local>) => {
    const messages = point.inFlight.map(({ from, to, text }) => `${from}→${to} ${text}`).sort()
    const key = JSON.stringify([point.states, messages])
    if (met.has(key)) return
    met.add(key)
    visit(point.states)
    waiting.push(point)
  }
  const goOn = ({ states, inFlight }: Point<Local>, index: number, done: Done<Local>, taken?: Out) => {
    transitions += 1
    const sent = (done.sent ?? []).map(out => ({ ...out, from: names[index]! }))
    arrive({ states: states.with(index, done.state), inFlight: [...inFlight.filter(each => each !== taken), ...sent] })
  }
  const begun = names.map(name => handlers.initial(name))
  arrive({
    states: begun.map(({ state }) => state),
    inFlight: begun.flatMap(({ sent = [] }, index) => sent.map(out => ({ ...out, from: names[index]! }))),
  })
  for (let point = waiting.pop(); point; point = waiting.pop()) {
    for (const message of point.inFlight) {
      const index = names.indexOf(message.to)
      goOn(point, index, handlers.receive(point.states[index]!, message, message.to), message)
    }
    for (const [index, name] of names.entries())
      for (const { next } of handlers.own(point.states[index]!, name)) goOn(point, index, next())
  }
  return { transitions, states: met.size }
}
