import { Undecided } from '../../errors.ts'
import { faultKinds, isFault } from '../../happening/kinds.ts'
import { readLabel } from '../../labels.ts'
import { saidBy } from '../../likeness.ts'
import { connectionOf, type NodeInput, type NodeSight, type Nodes } from '../../node-system.ts'
import { evaluate, type Property } from '../../property.ts'
import type { Choice } from '../../system.ts'
import { Buckets } from '../local/buckets.ts'
import type { Before } from '../local/order.ts'
import { labelsOfSteps, stepsTo } from './order.ts'
import { isFirst, keyOfLocals, keyOfPoint, type Point, type Step } from './point.ts'
import { type Flying, inputKey, type LocalState, type Outcome, type Table } from './table.ts'

/** An input of a node alone, whose outcome is not known. */
export interface Ask {
  readonly state: LocalState
  readonly input: NodeInput
}

/** A way to something that looks wrong. Only the whole system can tell whether it is. */
export interface Suspicion {
  /** A property, or what happens to a node. */
  readonly what: string
  /** `dead`: nothing but faults can happen, and a liveness property does not hold. */
  readonly kind: 'violation' | 'finding' | 'dead'
  /** From the state in which the search began. */
  readonly labels: readonly string[]
  /** By how many deviations from what a prompt network does next. */
  readonly deviations: number
}

export interface ExplorerOptions<State> {
  readonly nodes: Pick<Nodes<State>, 'names' | 'join' | 'faults'>
  readonly properties: Readonly<Record<string, Property<State>>>
  readonly table: Table
  /** Steps are not followed further than that from where the search begins. */
  readonly depthMax?: number | undefined
  /** Ways that would cost more deviations are left out. */
  readonly deviationsMax?: number | undefined
  /** Whether nodes that end or do not become quiescent are suspicious; true by default. */
  readonly allowFindings?: boolean | undefined
  /**
   * What is kept from happening, by `saidBy`: such a message is lost with its connection, and such a timer or call does not
   * come.
   */
  readonly prevented?: ReadonlySet<string> | undefined
}

/**
 * What a node does by itself is followed at once in the first state of the system in which the node has this state
 * (CrystalBall, figure 8). In others that counts as so many deviations: it leads to chains that are mostly known.
 */
const knownOwnCost = 2
/** At most this many ways to one combination of states are suspected: the others fail mostly for the same reason. */
const suspicionsPerLocalsMax = 3
/** Connections being opened in one step; a bound in case that requests and answers never end. */
const openingsMax = 64
/** At most this many states of the system are kept. Each takes some hundred bytes. */
const pointsMax = 1_000_000

/** A state of the system to go on from. What costs more is followed later, so that no input is given for it before. */
interface Work {
  readonly point: Point
  /** The deviations of what is followed. */
  readonly cost: number
  /**
   * `prompt`: what comes next in a prompt network. `deviations`: what else may come. `again`: what nodes do by themselves in
   * states in which that was followed already.
   */
  readonly part: 'prompt' | 'deviations' | 'again'
  /** Of `again`: the nodes that act by themselves, and those that faults befall. */
  readonly again?: Befallen
}

interface Befallen {
  readonly acting: readonly number[]
  readonly failing: readonly number[]
}

/** Work whose outcomes are not all known. */
interface Pending {
  readonly work: Work
  readonly answers: Map<string, Outcome>
  waiting: number
}

interface Draft {
  locals: readonly LocalState[]
  inFlight: readonly Flying[]
  readonly steps: Step[]
  finding?: string
}

/** What lies behind a piece of work. */
interface Successor {
  readonly draft: Draft
  readonly spent: number
}

/**
 * A search by deviations: over states of the system that are put together of states of single nodes and messages in flight, in
 * the order of their deviations from what a prompt network would do next. It delivers what was sent first, and fires timers
 * only when nothing is in flight; each fault, each message that overtakes another, and each earlier timer is a deviation
 * (delay-bounded scheduling: Emmi, Qadeer, Rakamarić, POPL 2011). It knows what single nodes do from a table, and asks for what
 * is not in it.
 */
export class Explorer<State> {
  /** Steps of nodes taken in memory. */
  transitions = 0
  /** Inputs that nodes were given. */
  asked = 0
  /** Distinct states of the system. */
  points = 0
  /** The longest way, in steps. */
  depth = 0
  /** The cost of the ways that are followed now. */
  deviations = 0
  /** By property, why it was not evaluated. */
  readonly undecided = new Map<string, string>()
  /** Whether states of the system were left out because there were too many. */
  hasLeftOut = false
  readonly #options: ExplorerOptions<State>
  readonly #prevented: ReadonlySet<string>
  /** By message or choice, whether it is kept from happening. */
  readonly #isPreventedBefore = new Map<Flying | string, boolean>()
  readonly #budget: readonly number[]
  readonly #safety: [string, Property<State>][]
  readonly #liveness: [string, Property<State>][]
  readonly #waiting = new Buckets<Work>()
  /** Where something is in flight: what arrives next is followed at once, while the nodes are where it arrives. */
  readonly #urgent: Work[] = []
  readonly #pending = new Map<Ask, Pending>()
  readonly #asks: Ask[] = []
  /** By key, the least cost of a state. */
  readonly #costs = new Map<number, number>()
  readonly #keys = new WeakMap<Point, number>()
  /** States of nodes whose own actions were followed, by the faults before. */
  readonly #acted = new Set<number>()
  /** The same of faults. */
  readonly #failed = new Set<number>()
  /** By the states of all nodes, the property that does not hold there. */
  readonly #judged = new Map<number, string | undefined>()
  readonly #suspected = new Map<string, number>()
  readonly #suspicions: Suspicion[] = []
  readonly #before: Before
  readonly #root: LocalState

  /** @param roots where the nodes begin, in their order */
  constructor(options: ExplorerOptions<State>, roots: readonly LocalState[], before: Before) {
    this.#options = options
    this.#prevented = options.prevented ?? new Set()
    this.#before = before
    this.#root = roots[0]!
    const { faults = {} } = options.nodes
    this.#budget = faultKinds.map(kind => Math.min(9, faults[kind] ?? 0))
    const named = Object.entries(options.properties)
    this.#safety = named.filter(([, { kind }]) => kind === 'always')
    this.#liveness = named.filter(([, { kind, when }]) => kind === 'eventually' && when === undefined)
    const inFlight = before.inFlight.map(sent => options.table.message(sent)).filter(({ to }) => to >= 0)
    this.#arrive({ draft: { locals: roots, inFlight, steps: [] }, spent: 0 }, undefined)
  }

  /** Where the first node begins. */
  get root(): LocalState {
    return this.#root
  }

  /** Whether nothing is left to follow, and nothing is under way. */
  get isDone(): boolean {
    return this.#waiting.isEmpty && this.#urgent.length === 0 && this.#pending.size === 0
  }

  /**
   * An input whose outcome must be learned; undefined if there is none until others were learned, or enough is done for now.
   *
   * @param transitionsMax after so many steps in memory it returns, even if no input is needed
   */
  next(transitionsMax = Number.POSITIVE_INFINITY): Ask | undefined {
    const end = this.transitions + transitionsMax
    while (this.#asks.length === 0 && this.#suspicions.length === 0 && this.transitions < end) {
      const work = this.#pending.size === 0 ? this.#take() : undefined
      if (work === undefined) break
      this.#follow({ work, answers: new Map(), waiting: 0 })
    }
    return this.#asks.shift()
  }

  /** Learns the outcome of an input that it asked for; `sight` is undefined if the node could not take it. */
  learn(ask: Ask, sight: NodeSight | undefined): void {
    const pending = this.#pending.get(ask)!
    this.#pending.delete(ask)
    this.asked += 1
    pending.answers.set(answerKey(ask), this.#options.table.learn(ask.state, ask.input, sight))
    pending.waiting -= 1
    if (pending.waiting === 0) this.#follow(pending)
  }

  /** What was found since the last call. */
  takeSuspicions(): Suspicion[] {
    return this.#suspicions.splice(0)
  }

  #take(): Work | undefined {
    const next = () => this.#urgent.pop() ?? this.#waiting.shift()
    for (let work = next(); work; work = next()) {
      // It may have been reached more cheaply since.
      if (this.#costs.get(this.#keys.get(work.point)!)! < work.point.cost) continue
      this.deviations = work.cost
      return work
    }
    return undefined
  }

  /** Follows a piece of work, once all outcomes are known. */
  #follow(pending: Pending): void {
    const { work, answers } = pending
    const asks = new Map<string, Ask>()
    const known = (state: LocalState, input: NodeInput): Outcome | undefined => {
      const key = answerKey({ state, input })
      const outcome = answers.get(key) ?? this.#options.table.get(state, input)
      if (outcome === undefined) asks.set(key, { state, input })
      else answers.set(key, outcome)
      return outcome
    }
    const { point, part, again } = work
    const fresh = again ?? this.#freshOf(point)
    const successors = [
      ...(part === 'prompt' ? this.#promptly(point, fresh, known) : this.#deviating(work, fresh, known)),
    ]
    pending.waiting = asks.size
    for (const ask of asks.values()) {
      this.#asks.push(ask)
      this.#pending.set(ask, pending)
    }
    if (asks.size > 0) return
    for (const successor of successors) this.#arrive(successor, work)
    if (part === 'prompt') this.#wait({ point, cost: point.cost + 1, part: 'deviations' })
    if (part !== 'again') this.#followed(point, part, fresh)
  }

  #wait(work: Work): void {
    if (work.cost > (this.#options.deviationsMax ?? Number.POSITIVE_INFINITY)) return
    if (work.part === 'prompt' && !isQuiet(work.point)) this.#urgent.push(work)
    else this.#waiting.push(work, work.cost)
  }

  /** The nodes whose states are new, for what they do by themselves and for faults. */
  #freshOf({ locals, spent }: Point): Befallen {
    const [acting, failing]: [number[], number[]] = [[], []]
    for (const [node, { index }] of locals.entries()) {
      if (!this.#acted.has(keyOfLocal(index, spent))) acting.push(node)
      if (!this.#failed.has(keyOfLocal(index, spent))) failing.push(node)
    }
    return { acting, failing }
  }

  /** Notes what was followed. What nodes do by themselves in other states comes later. */
  #followed(point: Point, part: Work['part'], fresh: Befallen): void {
    const { locals, spent, cost } = point
    const isPrompt = part === 'prompt'
    const acts = isPrompt === isQuiet(point)
    if (acts) for (const node of fresh.acting) this.#acted.add(keyOfLocal(locals[node]!.index, spent))
    if (!isPrompt) for (const node of fresh.failing) this.#failed.add(keyOfLocal(locals[node]!.index, spent))
    const all = [...locals.keys()]
    const acting = acts ? all.filter(node => !fresh.acting.includes(node) && this.#canAct(locals[node]!)) : []
    const failing = isPrompt
      ? []
      : all.filter(node => !fresh.failing.includes(node) && this.#canFail(locals[node]!, spent))
    if (acting.length + failing.length > 0)
      this.#wait({ point, cost: cost + (isPrompt ? 0 : 1) + knownOwnCost, part: 'again', again: { acting, failing } })
  }

  #canAct({ enabled }: LocalState): boolean {
    return enabled.some(({ kind }) => !isFault(kind))
  }

  #canFail({ enabled, resets }: LocalState, spent: number): boolean {
    return [...enabled, ...resets].some(({ kind }) => isFault(kind) && this.#mayHappen(spent, kind))
  }

  /** What was sent first arrives; or if nothing is in flight, a node does something by itself. */
  *#promptly(point: Point, { acting }: Befallen, known: Known): Generator<Successor, void> {
    const { spent } = point
    const [first] = deliverable(point)
    if (first === undefined) {
      yield* this.#acting(point, acting, known)
      return
    }
    const draft = this.#deliver(draftOf(point), first, known)
    if (draft && this.#open(draft, known)) yield { draft, spent }
  }

  *#deviating({ point, part }: Work, { acting, failing }: Befallen, known: Known): Generator<Successor, void> {
    const [first, ...others] = deliverable(point)
    if (part !== 'again') {
      for (const place of others) {
        const draft = this.#deliver(draftOf(point), place, known)
        if (draft && this.#open(draft, known)) yield { draft, spent: point.spent }
      }
      for (const place of first === undefined ? [] : [first, ...others])
        if (point.inFlight[place]!.sent.isDatagram) yield* this.#faultsOf(point, place)
    }
    if (part === 'again' || first !== undefined) yield* this.#acting(point, acting, known)
    yield* this.#failing(point, failing, known)
  }

  /** A datagram is lost, or arrives twice. */
  *#faultsOf(point: Point, place: number): Generator<Successor, void> {
    const message = point.inFlight[place]!
    for (const kind of ['drop', 'duplicate'] as const) {
      if (!this.#mayHappen(point.spent, kind)) continue
      const draft = draftOf(point)
      draft.steps.push({ does: message, prefix: `${kind} `, sent: kind === 'drop' ? [] : [message] })
      draft.inFlight = kind === 'drop' ? without(point.inFlight, place) : [...point.inFlight, message]
      yield { draft, spent: spentWith(point.spent, kind) }
    }
  }

  /** What these nodes do by themselves. */
  *#acting(point: Point, nodes: readonly number[], known: Known): Generator<Successor, void> {
    const { spent, locals } = point
    for (const node of nodes)
      for (const { kind, label } of locals[node]!.enabled) {
        const draft =
          isFault(kind) || this.#isPrevented(label)
            ? undefined
            : this.#enter(draftOf(point), node, { choice: label }, label, known)
        if (draft && this.#open(draft, known)) yield { draft, spent }
      }
  }

  /** What may befall these nodes. */
  *#failing(point: Point, nodes: readonly number[], known: Known): Generator<Successor, void> {
    const { spent, locals } = point
    for (const node of nodes) {
      const { enabled, resets } = locals[node]!
      for (const { kind, label } of enabled) {
        if (!isFault(kind) || !this.#mayHappen(spent, kind)) continue
        const draft = this.#enter(draftOf(point), node, { choice: label }, label, known)
        if (draft && this.#open(draft, known)) yield { draft, spent: spentWith(spent, kind) }
      }
      for (const choice of resets) {
        const draft = this.#mayHappen(spent, 'reset') ? this.#reset(point, node, choice, known) : undefined
        if (draft && this.#open(draft, known)) yield { draft, spent: spentWith(spent, 'reset') }
      }
    }
  }

  /** A connection is reset at both ends, and what is in flight on it is lost. */
  #reset(point: Point, node: number, choice: Choice, known: Known): Draft | undefined {
    const { names } = this.#options.nodes
    // Once for both ends.
    if (choice.from !== names[node]) return undefined
    const other = names.indexOf(choice.to!)
    if (!point.locals[other]?.resets.some(({ label }) => label === choice.label)) return undefined
    return this.#disconnect(draftOf(point), choice, [node, other], known)
  }

  #disconnect(draft: Draft, choice: Choice, [one, other]: readonly [number, number], known: Known): Draft | undefined {
    const connection = connectionOf(choice)
    draft.inFlight = draft.inFlight.filter(({ sent }) => sent.stream?.connection !== connection)
    const input = { choice: choice.label }
    const first = this.#enter(draft, one, input, choice.label, known)
    const second = this.#enter(draft, other, input, undefined, known)
    return first && second
  }

  #deliver(draft: Draft, place: number, known: Known): Draft | undefined {
    const message = draft.inFlight[place]!
    if (this.#isPrevented(message)) return this.#prevent(draft, place, known)
    draft.inFlight = without(draft.inFlight, place)
    return this.#enter(draft, message.to, { deliver: message.sent }, message, known, true)
  }

  /**
   * @param does undefined for the second half of a step
   *
   * @param mayVanish whether an input that the node cannot take changes nothing; otherwise there is no such step
   *
   * @returns undefined if the outcome is not known, or there is none
   */
  #enter(
    draft: Draft,
    node: number,
    input: NodeInput,
    does: string | Flying | undefined,
    known: Known,
    mayVanish = false,
  ): Draft | undefined {
    const outcome = known(draft.locals[node]!, input)
    if (outcome === undefined) return undefined
    const { to, finding } = outcome
    if (to === undefined && finding === undefined && !mayVanish) return undefined
    const sent = outcome.sent.filter(each => each.to >= 0)
    const half = does === undefined ? draft.steps.pop() : undefined
    draft.steps.push(half ? { ...half, sent: [...half.sent, ...sent] } : { does: does!, sent })
    if (finding) draft.finding = `${finding.kind} of ${finding.node}`
    if (to && to !== draft.locals[node]) draft.locals = draft.locals.with(node, to)
    if (sent.length > 0) draft.inFlight = [...draft.inFlight, ...sent]
    return draft
  }

  #isPrevented(does: Flying | string): boolean {
    if (this.#prevented.size === 0) return false
    const before = this.#isPreventedBefore.get(does)
    if (before !== undefined) return before
    const is = this.#prevented.has(saidBy(readLabel(typeof does === 'string' ? does : does.sent.label)))
    this.#isPreventedBefore.set(does, is)
    return is
  }

  /** In place of the arrival of a message: it is lost, and both ends of its connection learn that this was reset. */
  #prevent(draft: Draft, place: number, known: Known): Draft | undefined {
    const message = draft.inFlight[place]!
    const connection = message.sent.stream?.connection
    const choice = draft.locals[message.to]!.resets.find(each => connectionOf(each) === connection)
    if (connection === undefined || choice === undefined) {
      draft.inFlight = without(draft.inFlight, place)
      draft.steps.push({ does: message, prefix: 'drop ', sent: [] })
      return draft
    }
    const ends = [choice.from!, choice.to!].map(name => this.#options.nodes.names.indexOf(name))
    const open = ends.filter(node => draft.locals[node]?.resets.some(({ label }) => label === choice.label))
    if (open.length === 2) return this.#disconnect(draft, choice, [open[0]!, open[1]!], known)
    draft.inFlight = draft.inFlight.filter(({ sent }) => sent.stream?.connection !== connection)
    return this.#enter(draft, message.to, { choice: choice.label }, choice.label, known)
  }

  /** Delivers requests for connections, and the answers, as part of the step. Returns whether the outcomes are known. */
  #open(draft: Draft, known: Known): boolean {
    for (let opened = 0; opened < openingsMax; opened++) {
      const place = draft.inFlight.findIndex(
        (message, at) =>
          message.sent.isOfOpening && !draft.locals[message.to]!.isDown && isFirst(message, at, draft.inFlight),
      )
      if (place < 0) return true
      if (this.#deliver(draft, place, known) === undefined) return false
    }
    return true
  }

  #mayHappen(spent: number, kind: Choice['kind']): boolean {
    const place = faultKinds.indexOf(kind)
    return Math.floor(spent / 10 ** place) % 10 < this.#budget[place]!
  }

  #arrive({ draft, spent }: Successor, work: Work | undefined): void {
    const { locals, inFlight, steps, finding } = draft
    const { depthMax = Number.POSITIVE_INFINITY } = this.#options
    const { cost = 0, point: before } = work ?? {}
    this.transitions += steps.length
    const depth = (before?.depth ?? 0) + steps.length
    const point: Point = { locals, inFlight, spent, cost, depth, before, steps }
    if (finding !== undefined) {
      if (!this.#options.allowFindings) this.#suspect('finding', finding, point)
      return
    }
    const key = keyOfPoint(point)
    const least = this.#costs.get(key)
    if (least !== undefined && least <= cost) return
    if (least === undefined) {
      if (this.points >= pointsMax) this.hasLeftOut = true
      if (this.hasLeftOut) return
      this.points += 1
      const violated = this.#violatedIn(locals)
      if (violated !== undefined) {
        this.#costs.set(key, cost)
        this.#suspect('violation', violated, point)
        return
      }
      if (this.#isDead(point)) this.#lookAtEnd(point)
    }
    this.#costs.set(key, cost)
    this.depth = Math.max(this.depth, depth)
    if (depth >= depthMax) return
    this.#keys.set(point, key)
    this.#wait({ point, cost, part: 'prompt' })
  }

  #violatedIn(locals: readonly LocalState[]): string | undefined {
    const key = keyOfLocals(locals)
    if (this.#judged.has(key)) return this.#judged.get(key)
    const state = this.#options.nodes.join(locals.map(each => each.state))
    const violated = this.#safety.find(([name, property]) => this.#holds(name, property, state) === false)?.[0]
    this.#judged.set(key, violated)
    return violated
  }

  #holds(name: string, property: Property<State>, state: State): boolean | undefined {
    if (this.undecided.has(name)) return undefined
    try {
      return evaluate(name, property, state, () => 'in states of single nodes')
    } catch (error) {
      if (!(error instanceof Undecided)) throw error
      this.undecided.set(name, error.message)
      return undefined
    }
  }

  /** Whether nothing but faults can happen. */
  #isDead(point: Point): boolean {
    return this.#liveness.length > 0 && isQuiet(point) && !point.locals.some(local => this.#canAct(local))
  }

  #lookAtEnd(point: Point): void {
    const state = this.#options.nodes.join(point.locals.map(each => each.state))
    const starved = this.#liveness.find(([name, property]) => this.#holds(name, property, state) === false)
    if (starved) this.#suspect('dead', starved[0], point)
  }

  #suspect(kind: Suspicion['kind'], what: string, point: Point): void {
    const key = `${kind} ${what} ${kind === 'finding' ? '' : keyOfLocals(point.locals)}`
    const times = this.#suspected.get(key) ?? 0
    if (times === suspicionsPerLocalsMax) return
    this.#suspected.set(key, times + 1)
    const labels = labelsOfSteps(stepsTo(point), this.#before, sent => this.#options.table.message(sent))
    this.#suspicions.push({ what, kind, labels, deviations: point.cost })
  }
}

type Known = (state: LocalState, input: NodeInput) => Outcome | undefined

/** Places of the messages that may be delivered, in the order in which they were sent. */
const deliverable = ({ inFlight, locals }: Point): number[] => {
  const places: number[] = []
  for (const [place, message] of inFlight.entries())
    if (!locals[message.to]!.isDown && isFirst(message, place, inFlight)) places.push(place)
  return places
}

/** Whether nothing is on its way to a node that is up. */
const isQuiet = ({ inFlight, locals }: Point): boolean => !inFlight.some(({ to }) => !locals[to]!.isDown)

const keyOfLocal = (index: number, spent: number): number => index * 100_000 + spent

const answerKey = ({ state, input }: Ask): string => `${state.index} ${inputKey(input)}`

const draftOf = ({ locals, inFlight }: Point): Draft => ({ locals, inFlight, steps: [] })

const without = <Item>(items: readonly Item[], place: number): Item[] => items.toSpliced(place, 1)

const spentWith = (spent: number, kind: Choice['kind']): number => spent + 10 ** faultKinds.indexOf(kind)
