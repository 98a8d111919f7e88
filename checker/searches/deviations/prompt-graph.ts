import type { Point } from './point.ts'
import { stronglyConnected } from './strongly-connected.ts'

/** A state of the system, and where a prompt network leads from it. */
interface Followed {
  readonly point: Point
  /** The liveness properties that hold there. */
  readonly live: ReadonlySet<string>
  /** Keys of the states that come next; undefined for what leads to no state, because it was left out or a node ended. */
  readonly next: (number | undefined)[]
  /** Whether these are all. */
  isWhole: boolean
}

/**
 * Where a prompt network leads from states of the system, faults apart: it delivers what was sent first, and each node that can act does
 * once nothing is in flight. Where that leads to no state in which a liveness property holds, and all of it was followed, the property
 * never holds again: the strongly connected components without a way out are among these states.
 */
export class PromptGraph {
  readonly #states = new Map<number, Followed>()
  /** By property, the states that were given as hopeless. */
  readonly #given = new Map<string, Set<number>>()
  /** How often something was learned; and by property, how often it had been when a state was looked for. */
  #learned = 0
  readonly #lookedAt = new Map<string, number>()

  /** A state was reached, for the first time or more cheaply than before. */
  arrive(key: number, point: Point, live: ReadonlySet<string>): void {
    this.#learned += 1
    this.#states.set(key, { point, live, next: [], isWhole: false })
  }

  /**
   * What comes next was followed, or a part of it.
   *
   * @param isWhole whether nothing is left to follow there
   */
  follow(key: number, next: readonly (number | undefined)[], isWhole: boolean): void {
    this.#learned += 1
    const state = this.#states.get(key)!
    state.next.push(...next)
    state.isWhole = isWhole
  }

  /**
   * A state from which a prompt network reaches neither a state in which the property holds nor one whose successors
   * are unknown: the first by cost and depth within its terminal component, because before that a deviation could still
   * lead elsewhere. Each such component is returned once.
   */
  hopeless(property: string): Point | undefined {
    if (this.#lookedAt.get(property) === this.#learned) return undefined
    const given = this.#given.get(property) ?? new Set()
    this.#given.set(property, given)
    const [first] = this.#hopelessStates(property, given)
    if (first === undefined) {
      this.#lookedAt.set(property, this.#learned)
      return undefined
    }
    given.add(first)
    return this.#states.get(first)!.point
  }

  /** Keys of those of them whose component has none of the given ones, the first one first. */
  #hopelessStates(property: string, given: ReadonlySet<number>): number[] {
    const hopeful = this.#leadingTo(
      ({ live, next, isWhole }) => !isWhole || !next.every(each => this.#isKnown(each)) || live.has(property),
    )
    const keys = [...this.#states.keys()].filter(key => !hopeful.has(key))
    const components = stronglyConnected(keys, key => this.#states.get(key)!.next as readonly number[])
    const isFinal = (component: ReadonlySet<number>) =>
      [...component].every(key => this.#states.get(key)!.next.every(each => component.has(each!)))
    const others = components.filter(component => isFinal(component) && ![...component].some(key => given.has(key)))
    const pointOf = (key: number) => this.#states.get(key)!.point
    return others
      .flatMap(component => [...component])
      .sort((one, other) => pointOf(one).cost - pointOf(other).cost || pointOf(one).depth - pointOf(other).depth)
  }

  /** Nothing is followed from a state that violates another property. */
  #isKnown(key: number | undefined): boolean {
    return key !== undefined && this.#states.has(key)
  }

  /** Keys of the states from which some way leads to such a state. */
  #leadingTo(isMeant: (state: Followed) => boolean): ReadonlySet<number> {
    const before = new Map<number, number[]>()
    for (const [key, { next }] of this.#states)
      for (const each of next) {
        if (each === undefined) continue
        const known = before.get(each)
        if (known) known.push(key)
        else before.set(each, [key])
      }
    const found = new Set<number>()
    for (const [key, state] of this.#states) if (isMeant(state)) found.add(key)
    for (const key of found) for (const each of before.get(key) ?? []) found.add(each)
    return found
  }
}
