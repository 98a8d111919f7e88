import type { Model } from './model.ts'
import { endOf, isOk, type Operation } from './operation.ts'

/**
 * The operations that took effect, in an order that the model allows; `none` if there is no such order, and `undecided`
 * if the search gave up.
 */
export type Order = readonly Operation[] | 'none' | 'undecided'

export const isFound = (order: Order): order is readonly Operation[] => typeof order !== 'string'

/** The operations of a lane that are not in the order yet, by invocation. */
interface Lane extends Link {
  /** When the last operation in the order was invoked. */
  latest: number
}

interface Link {
  after: Entry | undefined
}

interface Entry extends Link {
  readonly operation: Operation
  readonly lane: Lane
  /** Its number, either among the operations that returned or among those that may have taken effect. */
  readonly number: number
  before: Link
  /** `latest` of its lane before this operation was put into the order. */
  latestBefore: number
}

/** A state of the search: the last operation in the order, the state of the object, and the candidates for the next. */
interface Frame<State> {
  readonly taken: Entry | undefined
  readonly state: State
  readonly candidates: readonly Entry[]
  tried: number
}

/**
 * The search gives up after this many steps, which take some seconds. More would decide more histories, but one
 * execution could then hold up the check for minutes.
 */
const triesMax = 500_000

/**
 * Looks for an order in which each returned operation could have returned its result. It puts one operation after
 * another (Wing, Gong, "Testing and Verifying Concurrent Objects", JPDC 1993) and never continues twice from the same
 * operations and state (Lowe, "Testing for Linearizability", CCPE 2017).
 *
 * @param lanes within a lane, an operation that returned before another was invoked comes first; lanes are independent
 */
export const findOrder = <State>(
  lanes: readonly (readonly Operation[])[],
  model: Model<State>,
  limit = triesMax,
): Order => new Search(lanes, model, limit).find()

class Search<State> {
  readonly #model: Model<State>
  readonly #limit: number
  readonly #lanes: readonly Lane[]
  /** Which returned operations are in the order, as bits: 16 in each element. */
  readonly #taken: Uint16Array
  /** Pending operations that are in the order, a bit each. */
  #extra = 0n
  /** How many returned operations are not. */
  #missing: number
  /** By returned operations and state: sets of other operations with which the search has been there. */
  readonly #seen = new Map<string, bigint[]>()
  #tries = 0

  constructor(lanes: readonly (readonly Operation[])[], model: Model<State>, limit: number) {
    this.#model = model
    this.#limit = limit
    let returned = 0
    let others = 0
    this.#lanes = lanes.map(lane => laneOf(lane, operation => (isOk(operation) ? returned++ : others++)))
    this.#missing = returned
    this.#taken = new Uint16Array(Math.ceil(returned / 16))
  }

  find(): Order {
    const frames: Frame<State>[] = [this.#frame(undefined, this.#model.initial)]
    for (let frame = frames[0]; frame; frame = frames.at(-1)) {
      if (this.#missing === 0) return frames.flatMap(({ taken }) => taken?.operation ?? [])
      if (this.#tries > this.#limit) return 'undecided'
      const next = this.#next(frame)
      if (next) frames.push(next)
      else this.#putBack(frames.pop()!.taken)
    }
    return 'none'
  }

  #next(frame: Frame<State>): Frame<State> | undefined {
    while (frame.tried < frame.candidates.length) {
      const entry = frame.candidates[frame.tried++]!
      const next = this.#model.step(frame.state, entry.operation)
      if (!next) continue
      this.#take(entry)
      if (this.#isNew(next.state)) return this.#frame(entry, next.state)
      this.#putBack(entry)
    }
    return undefined
  }

  #frame(taken: Entry | undefined, state: State): Frame<State> {
    const candidates = this.#candidates()
    const read = candidates.find(({ operation }) => this.#canComeNow(operation, state, candidates))
    return { taken, state, candidates: read ? [read] : candidates, tried: 0 }
  }

  /** Operations that may come next. Those that need not have taken effect come last. */
  #candidates(): Entry[] {
    const returned: Entry[] = []
    const others: Entry[] = []
    for (const lane of this.#lanes) {
      let end = Number.POSITIVE_INFINITY
      for (let entry = lane.after; entry && entry.operation.invoked < end; entry = entry.after) {
        const { operation } = entry
        if (isOk(operation)) {
          returned.push(entry)
          end = Math.min(end, endOf(operation))
        } else if (endOf(operation) > lane.latest) others.push(entry)
      }
    }
    return [...returned, ...others]
  }

  /**
   * A read that fits the state is taken at once, for it changes nothing; not if a pending operation would then miss its
   * end.
   */
  #canComeNow(operation: Operation, state: State, candidates: readonly Entry[]): boolean {
    if (!isOk(operation) || !this.#model.reads.includes(operation.op)) return false
    const isInTime = ({ operation: other }: Entry) => isOk(other) || endOf(other) > operation.invoked
    return candidates.every(isInTime) && this.#model.step(state, operation) !== undefined
  }

  #take(entry: Entry): void {
    const { lane, operation } = entry
    entry.latestBefore = lane.latest
    lane.latest = Math.max(lane.latest, operation.invoked)
    entry.before.after = entry.after
    if (entry.after) entry.after.before = entry.before
    this.#mark(entry, -1)
  }

  #putBack(entry: Entry | undefined): void {
    if (!entry) return
    entry.lane.latest = entry.latestBefore
    entry.before.after = entry
    if (entry.after) entry.after.before = entry
    this.#mark(entry, 1)
  }

  #mark({ operation, number }: Entry, missing: 1 | -1): void {
    if (isOk(operation)) {
      this.#taken[number >> 4]! ^= 1 << (number & 15)
      this.#missing += missing
    } else this.#extra ^= 1n << BigInt(number)
  }

  /** A search from here finds nothing more than one from the same place with fewer optional operations in the order. */
  #isNew(state: State): boolean {
    this.#tries += 1
    const key = `${String.fromCharCode(...this.#taken)} ${JSON.stringify(state)}`
    const seen = this.#seen.get(key)
    if (seen?.some(extra => (extra & this.#extra) === extra)) return false
    if (seen) seen.push(this.#extra)
    else this.#seen.set(key, [this.#extra])
    return true
  }
}

const laneOf = (operations: readonly Operation[], numberOf: (operation: Operation) => number): Lane => {
  const lane: Lane = { after: undefined, latest: Number.NEGATIVE_INFINITY }
  let last: Link = lane
  for (const operation of operations.toSorted((one, other) => one.invoked - other.invoked)) {
    const number = numberOf(operation)
    const entry: Entry = { operation, lane, number, before: last, after: undefined, latestBefore: lane.latest }
    last = last.after = entry
  }
  return lane
}
