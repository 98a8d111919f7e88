import type { NodeEntry, NodeSight, Nodes } from '../../system/node-system.ts'
import type { Property } from '../../system/property.ts'
import { Buckets } from '../local/buckets.ts'
import type { Before } from '../local/order.ts'
import { type InputOutcome, inputKey, type LocalState, type Table } from '../local/table.ts'
import { Judge } from './judge.ts'
import { deliverable, type KnownOutcome, type Move, Moves, spentEnd } from './moves.ts'
import { labelsOfSteps, stepsTo } from './order.ts'
import { isMessageHeld, keyOfLocals, keyOfPoint, orderingOf, type Point } from './point.ts'
import { PromptGraph } from './prompt-graph.ts'

/** An input of a node alone, whose outcome is not known. */
export interface Ask {
  readonly state: LocalState
  readonly input: NodeEntry
}

/** A way to something that looks wrong. Only the whole system can tell whether it is. */
export interface Suspicion {
  /** A property, or what happens to a node. */
  readonly what: string
  /** `dead`: a liveness property does not hold, and nothing but faults can happen, or a prompt network leads to no state in which it does. */
  readonly kind: 'violation' | 'finding' | 'dead'
  /** From the state in which the search began. */
  readonly labels: readonly string[]
  /** By how many deviations from what a prompt network does next; breadth first, by how many steps. */
  readonly deviations: number
}

/** In which order states of the system are followed: see `Explorer`. */
export type ExplorerOrder = 'deviations' | 'consequence'

export interface ExplorerOptions<State> {
  readonly nodes: Pick<Nodes<State>, 'names' | 'join' | 'faults' | 'overlaps'>
  readonly properties: Readonly<Record<string, Property<State>>>
  readonly table: Table
  /** `deviations` by default. */
  readonly order?: ExplorerOrder | undefined
  /** Steps are not followed further than that from where the search begins. */
  readonly depthMax?: number | undefined
  /** Ways that would cost more deviations are left out. */
  readonly deviationsMax?: number | undefined
  /** Whether nodes that end or do not become quiescent are suspicious; true by default. */
  readonly allowFindings?: boolean | undefined
  /**
   * Inputs that are prevented, by `saidBy`: such a message is lost with its connection, such a timer or call does not
   * occur.
   */
  readonly prevented?: ReadonlySet<string> | undefined
  /** Names of the nodes that act; messages to other nodes do not arrive. All nodes by default. */
  readonly within?: ReadonlySet<string> | undefined
}

/**
 * What a node does by itself is followed at once in the first state of the system in which the node has this state
 * (CrystalBall, figure 8). In later states the same action costs this many deviations, because it mostly leads to known
 * chains.
 */
const knownOwnCost = 2
/** Deviations that two inputs at once cost: their pairs grow with the square of the inputs. */
const overlapCost = 2
/** At most this many ways to one combination of states are suspected: the others fail mostly for the same reason. */
const suspicionsPerLocalsMax = 3
/**
 * States at most that are suspected for one property, because a prompt network leads to no good one. Each takes up to
 * minutes to examine.
 */
const hopelessMax = 3
/** At most this many states of the system are kept. Each takes some hundred bytes. */
const pointsMax = 1_000_000

/** A state of the system to go on from. What costs more is followed later, so that no input is given for it before. */
interface Work {
  readonly point: Point
  /** The cost of what is followed. */
  readonly cost: number
  /**
   * `prompt`: what comes next in a prompt network. `deviations`: what else may come. `again`: what nodes do by themselves in
   * states in which that was followed already. `overlaps`: two inputs at once. `all`: all messages, and what nodes in new states do by themselves.
   */
  readonly part: 'prompt' | 'deviations' | 'again' | 'overlaps' | 'all'
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
  readonly answers: Map<string, InputOutcome>
  waiting: number
}

/**
 * A search over states of the system that are put together of states of single nodes and messages in flight. It knows
 * what single nodes do from a table, and asks for what is not in it.
 *
 * By deviations: in the order of deviations from what a prompt network would do next. That delivers what was sent
 * first, and fires timers only when nothing is in flight; each fault, each message that overtakes another, and each
 * earlier timer is a deviation (delay-bounded scheduling: Emmi, Qadeer, Rakamarić, POPL 2011). A way that is held back
 * is one deviation, however much passes meanwhile and whatever fires, until what it holds arrives.
 *
 * By consequence: breadth first. It follows every message that may arrive. Timers, calls and faults of a node are
 * followed only in states of that node that are new ("Predicting and Preventing Inconsistencies in Deployed Distributed
 * Systems", Yabandeh and others, 2010, figure 8). So it follows chains of cause and effect, and skips most
 * interleavings.
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
  /** Whether states of the system were left out because there were too many. */
  hasLeftOut = false
  readonly #options: ExplorerOptions<State>
  readonly #first: 'prompt' | 'all'
  readonly #moves: Moves
  readonly #judge: Judge<State>
  /** Absent if no state without a future is looked for. */
  readonly #graph: PromptGraph | undefined
  readonly #waiting = new Buckets<Work>()
  /** Where something is in flight: what arrives next is followed at once, while the nodes are where it arrives. */
  readonly #urgent: Work[] = []
  readonly #pending = new Map<Ask, Pending>()
  readonly #asks: Ask[] = []
  /** By key, the least cost of a state. */
  readonly #costs = new Map<number, number>()
  readonly #keys = new WeakMap<Point, number>()
  /** States of nodes whose own actions were followed, by what was held back and the faults before. */
  readonly #acted = new Map<string, Set<number>>()
  /** States of nodes whose faults were followed, by what was held back and the faults before. */
  readonly #failed = new Map<string, Set<number>>()
  /** By property, how often a state was suspected in this way. */
  readonly #hopeless = new Map<string, number>()
  readonly #suspected = new Map<string, number>()
  readonly #suspicions: Suspicion[] = []
  readonly #before: Before
  readonly #root: LocalState

  /** @param roots where the nodes begin, in their order */
  constructor(options: ExplorerOptions<State>, roots: readonly LocalState[], before: Before) {
    const { nodes, properties, table, order = 'deviations' } = options
    this.#options = options
    this.#first = order === 'deviations' ? 'prompt' : 'all'
    this.#before = before
    this.#root = roots[0]!
    this.#moves = new Moves(nodes, options)
    this.#judge = new Judge(nodes, properties)
    // Within a neighbourhood, others could still do something.
    const looksForHopeless = this.#judge.hasLiveness && order === 'deviations' && options.within === undefined
    this.#graph = looksForHopeless ? new PromptGraph() : undefined
    const inFlight = this.#moves.arriving(before.inFlight.map(sent => table.message(sent)))
    this.#arrive({ locals: roots, inFlight, steps: [], spent: 0 }, undefined)
  }

  /** Where the first node begins. */
  get root(): LocalState {
    return this.#root
  }

  /** By property, why it was not evaluated. */
  get undecided(): ReadonlyMap<string, string> {
    return this.#judge.undecided
  }

  /** Whether nothing is left to follow, and nothing is under way. */
  get isFollowed(): boolean {
    return this.#waiting.isEmpty && this.#urgent.length === 0 && this.#pending.size === 0
  }

  /** Whether nothing is left to be taken either. */
  get isDone(): boolean {
    return this.isFollowed && this.#suspicions.length === 0
  }

  /**
   * An input whose outcome must be learned; undefined if there is none until others were learned, or enough is done for
   * now.
   *
   * @param transitionsMax steps in memory after which it returns, even if no input is needed
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
    const known = (state: LocalState, input: NodeEntry): InputOutcome | undefined => {
      const key = answerKey({ state, input })
      const outcome = answers.get(key) ?? this.#options.table.get(state, input)
      if (outcome === undefined) asks.set(key, { state, input })
      else answers.set(key, outcome)
      return outcome
    }
    const { point, part } = work
    const befallen = work.again ?? this.#freshOf(point)
    const moves = [...this.#movesOf(work, befallen, known)]
    pending.waiting = asks.size
    for (const ask of asks.values()) {
      this.#asks.push(ask)
      this.#pending.set(ask, pending)
    }
    if (asks.size > 0) return
    const next = moves.map(move => this.#arrive(move, work))
    if (part === 'prompt') {
      this.#wait({ point, cost: point.cost + 1, part: 'deviations' })
      if (!isQuiet(point) && this.#moves.canOverlap(point))
        this.#wait({ point, cost: point.cost + overlapCost, part: 'overlaps' })
    }
    const isLeft = part !== 'again' && part !== 'overlaps' && this.#followed(work, befallen)
    const isOfPrompt = part === 'prompt' || (part === 'again' && isQuiet(point) && befallen.acting.length > 0)
    if (isOfPrompt) this.#graph?.follow(this.#keys.get(point)!, next, !isLeft)
  }

  /**
   * For each liveness property, suspects a state from which a prompt network leads to no state in which the property
   * holds. Costs as much as some steps from each known state.
   */
  lookForHopeless(): void {
    if (this.#graph === undefined) return
    for (const name of this.#judge.liveness) {
      const times = this.#hopeless.get(name) ?? 0
      const point = times < hopelessMax ? this.#graph.hopeless(name) : undefined
      if (point === undefined) continue
      this.#hopeless.set(name, times + 1)
      this.#suspect('dead', name, point)
    }
  }

  #wait(work: Work): void {
    if (work.cost > (this.#options.deviationsMax ?? Number.POSITIVE_INFINITY)) return
    if (work.part === 'prompt' && !isQuiet(work.point)) this.#urgent.push(work)
    else this.#waiting.push(work, work.cost)
  }

  /** The nodes whose states are new, for what they do by themselves and for faults. */
  #freshOf({ locals, held, spent }: Point): Befallen {
    const [acting, failing]: [number[], number[]] = [[], []]
    const [acted, failed] = [among(this.#acted, held), among(this.#failed, held)]
    for (const node of this.#moves.actors) {
      const { index } = locals[node]!
      if (!acted.has(keyOfLocal(index, spent))) acting.push(node)
      if (!failed.has(keyOfLocal(index, spent))) failing.push(node)
    }
    return { acting, failing }
  }

  /**
   * Notes what was followed. By deviations, what nodes do by themselves in other states comes later. Returns whether they do anything
   * there.
   */
  #followed({ point, part }: Work, fresh: Befallen): boolean {
    const { locals, held, spent, cost } = point
    const [acted, failed] = [among(this.#acted, held), among(this.#failed, held)]
    const isPrompt = part === 'prompt'
    const acts = part === 'all' || isPrompt === isQuiet(point)
    if (acts) for (const node of fresh.acting) acted.add(keyOfLocal(locals[node]!.index, spent))
    if (!isPrompt) for (const node of fresh.failing) failed.add(keyOfLocal(locals[node]!.index, spent))
    if (part === 'all') return false
    const all = this.#moves.actors
    const acting = acts ? all.filter(node => !fresh.acting.includes(node) && this.#moves.canAct(locals[node]!)) : []
    const failing = isPrompt
      ? []
      : all.filter(node => !fresh.failing.includes(node) && this.#moves.canFail(locals[node]!, spent))
    if (acting.length + failing.length > 0)
      this.#wait({ point, cost: cost + (isPrompt ? 0 : 1) + knownOwnCost, part: 'again', again: { acting, failing } })
    return acting.length > 0
  }

  *#movesOf({ point, part }: Work, { acting, failing }: Befallen, known: KnownOutcome): Generator<Move, void> {
    const moves = this.#moves
    const all = deliverable(point)
    const places = all.filter(place => !isMessageHeld(point, point.inFlight[place]!))
    if (part === 'overlaps') {
      yield* moves.overlapping(point, all, known)
      return
    }
    const isNow = (index: number) => (part === 'prompt' ? index === 0 : part === 'deviations' ? index > 0 : true)
    if (part !== 'again')
      for (const [index, place] of places.entries()) if (isNow(index)) yield* moves.delivering(point, place, known)
    const acts = part === 'prompt' ? places.length === 0 : part === 'deviations' ? places.length > 0 : true
    if (part === 'prompt' && places.length === 0) for (const place of all) yield* moves.releasing(point, place, known)
    if (part === 'deviations' && places.length > 0) yield* moves.holding(point, places[0]!)
    if (part === 'deviations' || part === 'all') for (const place of all) yield* moves.losing(point, place)
    if (acts) yield* moves.acting(point, acting, known)
    if (part !== 'prompt') yield* moves.failing(point, failing, known)
  }

  /** Returns the key of the state; undefined if it is none, or was left out. */
  #arrive(move: Move, work: Work | undefined): number | undefined {
    const { locals, inFlight, steps, spent, finding } = move
    const { depthMax = Number.POSITIVE_INFINITY } = this.#options
    const before = work?.point
    const cost = work ? work.cost + (work.part === 'all' ? 1 : 0) : 0
    this.transitions += steps.length
    const depth = (before?.depth ?? 0) + steps.length
    const held = (move.held ?? before?.held ?? []).filter(way => inFlight.some(message => orderingOf(message) === way))
    const point: Point = { locals, inFlight, held, spent, cost, depth, before, steps }
    if (finding !== undefined) {
      if (!this.#options.allowFindings) this.#suspect('finding', finding, point)
      return undefined
    }
    const key = keyOfPoint(point)
    const least = this.#costs.get(key)
    if (least !== undefined && least <= cost) return key
    if (least === undefined) {
      if (this.#costs.size >= pointsMax) this.hasLeftOut = true
      if (this.hasLeftOut) return undefined
      if (held.length === 0) this.points += 1
      const violated = this.#judge.violatedIn(locals)
      if (violated !== undefined) {
        this.#costs.set(key, cost)
        this.#suspect('violation', violated, point)
        return undefined
      }
      if (this.#isDead(point)) this.#lookAtEnd(point)
    }
    this.#costs.set(key, cost)
    this.depth = Math.max(this.depth, depth)
    this.#graph?.arrive(key, point, this.#judge.liveIn(locals))
    if (depth >= depthMax) return key
    this.#keys.set(point, key)
    this.#wait({ point, cost, part: this.#first })
    return key
  }

  /** Whether nothing but faults can happen. */
  #isDead(point: Point): boolean {
    // Others could still do something.
    if (this.#options.within) return false
    return (
      this.#judge.hasLiveness &&
      isQuiet({ ...point, held: [] }) &&
      !point.locals.some(local => this.#moves.canAct(local))
    )
  }

  #lookAtEnd(point: Point): void {
    const starved = this.#judge.notLiveIn(point.locals)
    if (starved !== undefined) this.#suspect('dead', starved, point)
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

/** Whether nothing is on its way to a node that is up, besides what is held back. */
const isQuiet = (point: Point): boolean =>
  !point.inFlight.some(message => !point.locals[message.to]!.isDown && !isMessageHeld(point, message))

const among = (sets: Map<string, Set<number>>, held: readonly string[]): Set<number> => {
  const key = held.join()
  const known = sets.get(key)
  if (known) return known
  const made = new Set<number>()
  sets.set(key, made)
  return made
}

const keyOfLocal = (index: number, spent: number): number => index * spentEnd + spent

const answerKey = ({ state, input }: Ask): string => `${state.index} ${inputKey(input)}`
