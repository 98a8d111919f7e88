import { beginCall, endCall } from '../../checker/system/guest.ts'
import { thrown } from '../../checker/system/show.ts'
import type { Sight } from '../../checker/system/system.ts'
import { ConfigError, type ResolvedSystem } from '../config/config.ts'
import type { Node } from '../node/node.ts'
import { toJson } from './as-json.ts'
import type { Handles } from './handles.ts'
import { Past, type PastMark } from './past.ts'
import { sightOf } from './sights.ts'

/** Owner of the observer's handles, and its name in messages. */
export const observerOwner = 'state'

/** The states in which the nodes were seen. Plain data. */
export interface ObserverMark {
  readonly states: readonly (readonly [node: string, state: unknown])[]
  readonly past: PastMark
}

/** Observes the nodes by the configuration's function, and keeps their states. */
export class StateObserver {
  readonly #observe: ResolvedSystem['observe']
  readonly #handles: Handles
  readonly #states: Map<string, unknown>
  readonly #past: Past
  /** Objects that the function returned as states. */
  readonly #given = new WeakSet<object>()

  /** @param mark of an execution that continues here */
  constructor(observe: ResolvedSystem['observe'], handles: Handles, mark?: ObserverMark) {
    this.#observe = observe
    this.#handles = handles
    this.#states = new Map(mark?.states)
    this.#past = new Past(mark?.past)
  }

  mark(): ObserverMark {
    return { states: [...this.#states], past: this.#past.mark() }
  }

  stateOf(node: string): unknown {
    return this.#states.get(node)
  }

  /** Earlier states of a node, the latest first. The list stays the same object while there is nothing new. */
  pastOf(node: string): readonly unknown[] {
    return this.#past.of(node)
  }

  /** Which nodes were seen to have a state. */
  sights(): Sight[] {
    const states = [...this.#states].filter(([, state]) => state !== undefined)
    return states.map(([node]) => ({ what: sightOf.state(node), count: 1 }))
  }

  /** Looks at the nodes that are alive and not paused. Returns the looks that take several turns. */
  look(nodes: readonly Node[]): Look[] {
    if (this.#observe === undefined) return []
    return nodes
      .filter(node => node.isAlive && !node.isPaused)
      .flatMap(node => {
        const seen = this.#lookAt(node)
        return seen instanceof Promise ? [new Look(node, seen)] : []
      })
  }

  see(node: Node, state: unknown): void {
    const text = toJson(`state of ${node.name}`, state)
    // The function may return the same object again and change it, so the state is copied.
    const isGiven = typeof state === 'object' && state !== null
    const seen = isGiven && this.#given.has(state) ? JSON.parse(text!) : state
    if (isGiven) this.#given.add(state)
    this.#past.see(node.name, seen, text)
    this.#states.set(node.name, seen)
  }

  #lookAt(node: Node): unknown {
    const failed = (error: unknown): never => {
      if (error instanceof ConfigError) throw error
      const what = `state: the observer of ${node.name} threw ${thrown(error)}`
      throw new ConfigError([what], { cause: error })
    }
    beginCall(observerOwner)
    try {
      const seen = this.#observe!(this.#handles.for(observerOwner)[node.name]!)
      if (seen instanceof Promise) return seen.catch(failed)
      this.see(node, seen)
      return undefined
    } catch (error) {
      return failed(error)
    } finally {
      endCall()
    }
  }
}

/** Observes the state of a node over several turns. */
class Look {
  readonly node: Node
  readonly seen: Promise<unknown>
  isDone = false

  constructor(node: Node, seen: Promise<unknown>) {
    this.node = node
    this.seen = seen
    const end = () => {
      this.isDone = true
    }
    seen.then(end, end)
  }

  /** Whether nothing more can come of it. */
  get isOver(): boolean {
    return this.isDone || !this.node.isAlive
  }
}
