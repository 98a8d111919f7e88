import { Carried } from '../../checker/carried.ts'
import { Undecided } from '../../checker/errors.ts'
import { evaluate, explanationOf, type Property, type PropertyKind } from '../../checker/property.ts'
import type { RecordedStep } from '../../checker/trace/trace.ts'
import type { GlobalState, ResolvedSystem } from '../../harness/config.ts'
import { RecordedStates } from './states.ts'

/** The first time that something was not as it must be. */
export interface RecordedViolation {
  /** `null` for a crash or a divergence. */
  readonly property: string | null
  readonly step: number
  /** Milliseconds since the start; `null` where no time ran through the system. */
  readonly atMs: number | null
  /** One line, and below it what the property explains. */
  readonly message: string
  /** What each node was seen in there, by name; `null` for one that was down. */
  readonly state: Readonly<Record<string, unknown>>
}

/** A time in which a property did not hold. */
interface Outage {
  readonly fromStep: number
  readonly fromMs: number | null
  /** `null` where it did not hold any more in the end. */
  readonly untilStep: number | null
  readonly untilMs: number | null
}

/** What became of a property over a recorded execution. */
export interface VerifiedProperty {
  readonly name: string
  readonly kind: PropertyKind
  /** At the end, or where it was first violated, or whether it ever did (`sometimes`); `null` where that could not be decided. */
  readonly holds: boolean | null
  readonly outages: readonly Outage[]
}

interface Watched {
  readonly name: string
  readonly property: Property<GlobalState>
  readonly outages: Outage[]
  /** Parts of the state that the last evaluation read; undefined before the first. */
  reads: Set<string> | undefined
  holds: boolean | null
  isViolated: boolean
}

/**
 * Evaluates properties over a recorded execution, step by step, each again only where a part of the state changed that its
 * last evaluation read: its value depends on nothing else. One that carries something along is given every state.
 */
export class Verification {
  readonly violations: RecordedViolation[] = []
  /** Why a property could not be decided, a line each. */
  readonly undecided = new Map<string, string>()
  /** Predicates that were called. */
  evaluations = 0
  /** Steps after the start. */
  steps = 0
  #atMs: number | undefined
  readonly #states: RecordedStates
  readonly #carried: Carried<GlobalState>
  readonly #watched: readonly Watched[]

  constructor(system: Pick<ResolvedSystem, 'nodes' | 'properties'>) {
    this.#states = new RecordedStates(system.nodes)
    this.#carried = new Carried(system.properties)
    this.#watched = Object.entries(system.properties).map(([name, property]) => ({
      ...{ name, property, outages: [], reads: undefined, holds: null, isViolated: false },
    }))
  }

  get properties(): readonly VerifiedProperty[] {
    return this.#watched.map(({ name, property: { kind }, holds, outages }) => ({ name, kind, holds, outages }))
  }

  /** When the last step was, where time ran through the system. */
  get endMs(): number | undefined {
    return this.#atMs
  }

  /** To be called with each step, in order. @throws UsageError where a property throws */
  see(step: RecordedStep): void {
    this.steps = step.index
    this.#atMs = step.atMs
    this.#states.next(step)
    this.#carried.next(this.#states.state, () => this.#where(step))
    for (const { kind, node, message } of step.findings)
      this.#violate(step, null, `${kind} of ${node} ${this.#where(step)}: ${message}`)
    for (const watched of this.#watched) this.#watch(watched, step)
  }

  #watch(watched: Watched, step: RecordedStep): void {
    const { name, property } = watched
    if (watched.isViolated || this.undecided.has(name)) return
    const isGoal = property.kind === 'sometimes'
    // It was met.
    if (isGoal && watched.holds) return
    if (this.#mayHaveChanged(watched)) watched.holds = this.#evaluate(watched, step)
    if (watched.holds === null) return
    if (property.kind === 'eventually') return this.#follow(watched, step)
    if (watched.holds || isGoal) return
    const why = explanationOf(name, property, this.#states.state, () => this.#where(step))
    watched.isViolated = true
    this.#violate(step, name, `${name} does not hold ${this.#where(step)}${why === undefined ? '' : `: ${why}`}`)
  }

  #mayHaveChanged({ reads, property }: Watched): boolean {
    if (reads === undefined || property.fold) return true
    for (const part of this.#states.changed) if (reads.has(part)) return true
    return false
  }

  #evaluate(watched: Watched, step: RecordedStep): boolean | null {
    const { name, property } = watched
    const reads = new Set<string>()
    this.evaluations += 1
    this.#states.onRead = part => void reads.add(part)
    try {
      return evaluate(name, property, this.#states.state, () => this.#where(step), this.#carried.of(name))
    } catch (error) {
      if (!(error instanceof Undecided)) throw error
      this.undecided.set(name, `${name} could not be decided ${this.#where(step)}: ${error.message}`)
      return null
    } finally {
      this.#states.onRead = () => undefined
      watched.reads = reads
    }
  }

  /** Notes since when it does not hold, and until when. */
  #follow(watched: Watched, { index, atMs: at }: RecordedStep): void {
    const atMs = at ?? null
    const { outages, holds } = watched
    const open = outages.at(-1)
    const isOut = open !== undefined && open.untilStep === null
    if (isOut) this.#watchBound(watched, open, index, atMs)
    if (holds && isOut) outages.push({ ...outages.pop()!, untilStep: index, untilMs: atMs })
    if (!holds && !isOut) outages.push({ fromStep: index, fromMs: atMs, untilStep: null, untilMs: null })
  }

  #watchBound(
    { name, property: { withinMs } }: Watched,
    { fromMs, fromStep }: Outage,
    step: number,
    atMs: number | null,
  ) {
    if (withinMs === undefined || fromMs === null || atMs === null || atMs - fromMs <= withinMs) return
    if (this.violations.some(({ property }) => property === name)) return
    const message = `${name} did not hold from step ${fromStep} to step ${step}, for ${inSeconds(atMs - fromMs)}: expected within ${inSeconds(withinMs)}`
    this.violations.push({ property: name, step, atMs, message, state: this.#seen() })
  }

  #violate({ index, atMs }: RecordedStep, property: string | null, message: string): void {
    this.violations.push({ property, step: index, atMs: atMs ?? null, message, state: this.#seen() })
  }

  #seen(): Readonly<Record<string, unknown>> {
    return Object.fromEntries(
      this.#states.state.nodes.map(({ name, alive, state }) => [name, alive ? (state ?? null) : null]),
    )
  }

  #where({ index, choice }: RecordedStep): string {
    return choice ? `after step ${index} (${choice.label})` : 'in the initial state'
  }
}

export const inSeconds = (milliseconds: number): string => `${Number((milliseconds / 1000).toFixed(3))} s`
