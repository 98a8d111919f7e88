import { faultKinds, isFault } from '../../happening/kinds.ts'
import { readLabel } from '../../system/labels.ts'
import { saidBy } from '../../system/likeness.ts'
import { connectionOf, type NodeEntry, type NodeInput, type Nodes } from '../../system/node-system.ts'
import type { Choice } from '../../system/system.ts'
import type { Flying, InputOutcome, LocalState } from '../local/table.ts'
import { isFirst, type JointStep, orderingOf, type Point } from './point.ts'

/** What an input of a local state leads to; undefined if that has still to be learned. */
export type KnownOutcome = (state: LocalState, input: NodeEntry) => InputOutcome | undefined

/** What may happen next: the states and messages after it, and the faults until then. */
export interface Move {
  readonly locals: readonly LocalState[]
  readonly inFlight: readonly Flying[]
  readonly steps: readonly JointStep[]
  readonly spent: number
  /** If it changes what is held back. */
  readonly held?: readonly string[]
  /** What happens to a node that ends or does not become quiescent. */
  readonly finding?: string | undefined
}

/** A move that is being made. */
interface Draft {
  locals: readonly LocalState[]
  inFlight: readonly Flying[]
  readonly steps: JointStep[]
  finding?: string
}

interface Limits {
  /** What is kept from happening, by `saidBy`. */
  readonly prevented?: ReadonlySet<string> | undefined
  /** The only nodes that do something; by default all. */
  readonly within?: ReadonlySet<string> | undefined
}

/** Kinds of steps with a budget. How many of each happened is a digit of `spent`. */
const spendable: readonly Choice['kind'][] = [...faultKinds, 'overlap']
/** More than any `spent`. */
export const spentEnd = 10 ** spendable.length
/** Ways that are held back at once, at most. */
const heldMax = 2
/** Connections being opened in one step; a bound in case that requests and answers never end. */
const openingsMax = 64

/** What may happen in a state of the system. Outcomes that are not known are left out: they have to be learned first. */
export class Moves {
  readonly #names: readonly string[]
  /** How many faults of each kind may happen, and how often two inputs may enter a node at once. */
  readonly #budget: readonly number[]
  readonly #prevented: ReadonlySet<string>
  /** By message or choice, whether it is prevented. */
  readonly #isPreventedBefore = new Map<Flying | string, boolean>()

  /** Indexes of the nodes that act, in order. */
  readonly actors: readonly number[]
  /** By index, whether a node acts. */
  readonly #isActor: readonly boolean[]

  /** @param limits as those of an `Explorer` */
  constructor(
    { names, faults = {}, overlaps = 0 }: Pick<Nodes<never>, 'names' | 'faults' | 'overlaps'>,
    { prevented = new Set(), within }: Limits,
  ) {
    this.#names = names
    this.#isActor = names.map(name => within?.has(name) ?? true)
    this.actors = [...names.keys()].filter(node => this.#isActor[node])
    this.#budget = spendable.map(kind => Math.min(9, kind === 'overlap' ? overlaps : (faults[kind] ?? 0)))
    this.#prevented = prevented
  }

  /** The messages whose receivers do something. */
  arriving(sent: readonly Flying[]): readonly Flying[] {
    return sent.every(({ to }) => this.#isActor[to]) ? sent : sent.filter(({ to }) => this.#isActor[to])
  }

  /** Whether a node does something by itself in this state. */
  canAct({ enabled }: LocalState): boolean {
    return enabled.some(({ kind }) => !isFault(kind))
  }

  /** Whether a fault may befall a node in this state. */
  canFail({ enabled, resets }: LocalState, spent: number): boolean {
    return [...enabled, ...resets].some(({ kind }) => isFault(kind) && this.#mayHappen(spent, kind))
  }

  /** The message at this place arrives. */
  *delivering(point: Point, place: number, known: KnownOutcome): Generator<Move, void> {
    const draft = this.#deliver(draftOf(point), place, known)
    yield* this.#opened(draft, point.spent, known)
  }

  /** From now on the message at this place is held back, with all that comes the same way. */
  *holding({ locals, inFlight, held, spent }: Point, place: number): Generator<Move, void> {
    if (held.length >= heldMax) return
    yield { locals, inFlight, steps: [], spent, held: [...held, orderingOf(inFlight[place]!)].sort() }
  }

  /** What was held back on a way arrives: its first message now. */
  *releasing(point: Point, place: number, known: KnownOutcome): Generator<Move, void> {
    const way = orderingOf(point.inFlight[place]!)
    const held = point.held.filter(each => each !== way)
    for (const move of this.delivering(point, place, known)) yield { ...move, held }
  }

  /** The datagram at this place is lost, or arrives twice. */
  *losing(point: Point, place: number): Generator<Move, void> {
    const message = point.inFlight[place]!
    if (!message.sent.isDatagram) return
    for (const kind of ['drop', 'duplicate'] as const) {
      if (!this.#mayHappen(point.spent, kind)) continue
      const step = { does: message, prefix: `${kind} `, sent: kind === 'drop' ? [] : [message] }
      const inFlight = kind === 'drop' ? point.inFlight.toSpliced(place, 1) : [...point.inFlight, message]
      yield { locals: point.locals, inFlight, steps: [step], spent: spentWith(point.spent, kind) }
    }
  }

  /** Whether two inputs may enter a node at once. */
  canOverlap({ spent }: Point): boolean {
    return this.#mayHappen(spent, 'overlap')
  }

  /** Two of the messages at these places, or one and a timer, enter a node at once, in either order. */
  *overlapping(point: Point, places: readonly number[], known: KnownOutcome): Generator<Move, void> {
    const { inFlight, locals } = point
    const spent = spentWith(point.spent, 'overlap')
    for (const node of this.actors) {
      const { enabled } = locals[node]!
      const messages = places.flatMap(place => (inFlight[place]!.to === node ? [inFlight[place]!] : []))
      if (messages.length === 0) continue
      const timers = enabled.flatMap(({ kind, label }) => (kind === 'timer' ? [label] : []))
      const inputs = [...messages, ...timers].filter(does => !this.#isPrevented(does))
      for (const first of inputs)
        for (const second of inputs) {
          if (first === second || (typeof first === 'string' && typeof second === 'string')) continue
          const draft = draftOf(point)
          draft.inFlight = inFlight.filter(message => message !== first && message !== second)
          const overlap = [inputOf(first), inputOf(second)] as const
          const entered = this.#enter(draft, node, { overlap }, [first, second], known)
          yield* this.#opened(entered, spent, known)
        }
    }
  }

  /** Moves that these nodes make without a message. */
  *acting(point: Point, nodes: readonly number[], known: KnownOutcome): Generator<Move, void> {
    for (const node of nodes)
      for (const { kind, label } of point.locals[node]!.enabled) {
        if (isFault(kind) || this.#isPrevented(label)) continue
        const draft = this.#enter(draftOf(point), node, { choice: label }, label, known)
        yield* this.#opened(draft, point.spent, known)
      }
  }

  /** What may befall these nodes. */
  *failing(point: Point, nodes: readonly number[], known: KnownOutcome): Generator<Move, void> {
    const { spent, locals } = point
    for (const node of nodes) {
      const { enabled, resets } = locals[node]!
      for (const { kind, label } of enabled) {
        if (!isFault(kind) || !this.#mayHappen(spent, kind)) continue
        const draft = this.#enter(draftOf(point), node, { choice: label }, label, known)
        yield* this.#opened(draft, spentWith(spent, kind), known)
      }
      for (const choice of this.#mayHappen(spent, 'reset') ? resets : [])
        yield* this.#opened(this.#reset(point, node, choice, known), spentWith(spent, 'reset'), known)
    }
  }

  /** The move, once what it opens is open; nothing if an outcome is not known. */
  *#opened(draft: Draft | undefined, spent: number, known: KnownOutcome): Generator<Move, void> {
    if (draft && this.#open(draft, known)) yield { ...draft, spent }
  }

  /** A connection is reset at both ends, and what is in flight on it is lost. */
  #reset(point: Point, node: number, choice: Choice, known: KnownOutcome): Draft | undefined {
    // Once for both ends.
    if (choice.from !== this.#names[node]) return undefined
    const other = this.#names.indexOf(choice.to!)
    if (!this.#isActor[other]) return undefined
    if (!point.locals[other]?.resets.some(({ label }) => label === choice.label)) return undefined
    return this.#disconnect(draftOf(point), choice, [node, other], known)
  }

  #disconnect(
    draft: Draft,
    choice: Choice,
    [one, other]: readonly [number, number],
    known: KnownOutcome,
  ): Draft | undefined {
    const connection = connectionOf(choice)
    draft.inFlight = draft.inFlight.filter(({ sent }) => sent.stream?.connection !== connection)
    const input = { choice: choice.label }
    const first = this.#enter(draft, one, input, choice.label, known)
    const second = this.#enter(draft, other, input, undefined, known)
    return first && second
  }

  #deliver(draft: Draft, place: number, known: KnownOutcome): Draft | undefined {
    const message = draft.inFlight[place]!
    if (this.#isPrevented(message)) return this.#prevent(draft, place, known)
    draft.inFlight = draft.inFlight.toSpliced(place, 1)
    return this.#enter(draft, message.to, { deliver: message.sent }, message, known, true)
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
  #prevent(draft: Draft, place: number, known: KnownOutcome): Draft | undefined {
    const message = draft.inFlight[place]!
    const connection = message.sent.stream?.connection
    const choice = draft.locals[message.to]!.resets.find(each => connectionOf(each) === connection)
    if (connection === undefined || choice === undefined) {
      draft.inFlight = draft.inFlight.toSpliced(place, 1)
      draft.steps.push({ does: message, prefix: 'drop ', sent: [] })
      return draft
    }
    const ends = [choice.from!, choice.to!].map(name => this.#names.indexOf(name))
    const open = ends.filter(node => draft.locals[node]?.resets.some(({ label }) => label === choice.label))
    if (open.length === 2) return this.#disconnect(draft, choice, [open[0]!, open[1]!], known)
    draft.inFlight = draft.inFlight.filter(({ sent }) => sent.stream?.connection !== connection)
    return this.#enter(draft, message.to, { choice: choice.label }, choice.label, known)
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
    input: NodeEntry,
    does: JointStep['does'] | undefined,
    known: KnownOutcome,
    mayVanish = false,
  ): Draft | undefined {
    const outcome = known(draft.locals[node]!, input)
    if (outcome === undefined) return undefined
    const { to, finding } = outcome
    if (to === undefined && finding === undefined && !mayVanish) return undefined
    const sent = this.arriving(outcome.sent)
    const half = does === undefined ? draft.steps.pop() : undefined
    draft.steps.push(half ? { ...half, sent: [...half.sent, ...sent] } : { does: does!, sent })
    if (finding) draft.finding = `${finding.kind} of ${finding.node}`
    if (to && to !== draft.locals[node]) draft.locals = draft.locals.with(node, to)
    if (sent.length > 0) draft.inFlight = [...draft.inFlight, ...sent]
    return draft
  }

  /** Delivers requests for connections, and the answers, as part of the step. Returns whether the outcomes are known. */
  #open(draft: Draft, known: KnownOutcome): boolean {
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
    const place = spendable.indexOf(kind)
    return Math.floor(spent / 10 ** place) % 10 < this.#budget[place]!
  }
}

/** Places of the messages that may be delivered, in the order in which they were sent. */
export const deliverable = ({ inFlight, locals }: Point): number[] => {
  const places: number[] = []
  for (const [place, message] of inFlight.entries())
    if (!locals[message.to]!.isDown && isFirst(message, place, inFlight)) places.push(place)
  return places
}

const inputOf = (does: Flying | string): NodeInput =>
  typeof does === 'string' ? { choice: does } : { deliver: does.sent }

const draftOf = ({ locals, inFlight }: Point): Draft => ({ locals, inFlight, steps: [] })

const spentWith = (spent: number, kind: Choice['kind']): number => spent + 10 ** spendable.indexOf(kind)
