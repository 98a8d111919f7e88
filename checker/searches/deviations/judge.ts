import { Undecided, UsageError } from '../../system/errors.ts'
import type { Nodes } from '../../system/node-system.ts'
import { evaluate, type Property } from '../../system/property.ts'
import type { LocalState } from '../local/table.ts'
import { keyOfLocals } from './point.ts'

/** Evaluates properties in states of the system that are put together of states of single nodes. */
export class Judge<State> {
  /** By property, why it was not evaluated. */
  readonly undecided = new Map<string, string>()
  readonly #join: Nodes<State>['join']
  readonly #safety: readonly [string, Property<State>][]
  readonly #liveness: readonly [string, Property<State>][]
  /** By the states of all nodes, the liveness properties that hold there. */
  readonly #live = new Map<number, ReadonlySet<string>>()
  /** By the states of all nodes, the property that does not hold there. */
  readonly #judged = new Map<number, string | undefined>()

  constructor({ join }: Pick<Nodes<State>, 'join'>, properties: Readonly<Record<string, Property<State>>>) {
    this.#join = join
    const named = Object.entries(properties)
    this.#safety = named.filter(([, { kind }]) => kind === 'always')
    this.#liveness = named.filter(([, { kind, when }]) => kind === 'eventually' && when === undefined)
  }

  /** Names of the liveness properties. */
  get liveness(): readonly string[] {
    return this.#liveness.map(([name]) => name)
  }

  /** The liveness properties that hold in these states of all nodes, or of which that cannot be said. */
  liveIn(locals: readonly LocalState[]): ReadonlySet<string> {
    const key = keyOfLocals(locals)
    const known = this.#live.get(key)
    if (known) return known
    const state = this.#join(locals.map(each => each.state))
    const live = this.#liveness.filter(([name, property]) => this.#holds(name, property, state) !== false)
    const names = new Set(live.map(([name]) => name))
    this.#live.set(key, names)
    return names
  }

  /** Whether states in which nothing can happen any more are of interest. */
  get hasLiveness(): boolean {
    return this.#liveness.length > 0
  }

  /** The safety property that does not hold in these states of all nodes. */
  violatedIn(locals: readonly LocalState[]): string | undefined {
    const key = keyOfLocals(locals)
    if (!this.#judged.has(key)) this.#judged.set(key, this.#firstFalse(this.#safety, locals))
    return this.#judged.get(key)
  }

  /** The liveness property that does not hold in these states of all nodes. */
  notLiveIn(locals: readonly LocalState[]): string | undefined {
    return this.#firstFalse(this.#liveness, locals)
  }

  #firstFalse(properties: readonly [string, Property<State>][], locals: readonly LocalState[]): string | undefined {
    const state = this.#join(locals.map(each => each.state))
    return properties.find(([name, property]) => this.#holds(name, property, state) === false)?.[0]
  }

  #holds(name: string, property: Property<State>, state: State): boolean | undefined {
    if (this.undecided.has(name)) return undefined
    try {
      return evaluate(name, property, state, () => 'in states of single nodes')
    } catch (error) {
      // The property may throw in a combined state that the system never reaches. If it reaches one, the property
      // throws there too.
      if (error instanceof UsageError) return false
      if (!(error instanceof Undecided)) throw error
      this.undecided.set(name, error.message)
      return undefined
    }
  }
}
