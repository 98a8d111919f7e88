import { Carried } from '../../checker/system/carried.ts'
import { Undecided } from '../../checker/system/errors.ts'
import { evaluate, explanationOf, type Property, type PropertyKind } from '../../checker/system/property.ts'
import { inSeconds } from '../../checker/system/show.ts'
import type { RecordedStep } from '../../checker/trace/trace.ts'
import type { GlobalState, ResolvedSystem } from '../../harness/config/config.ts'
import { Observed } from '../../harness/config/observed.ts'
import { RecordedStates } from './states.ts'

/** The first violation of a property, or a crash or divergence. */
export interface RecordedViolation {
  /** `null` for a crash or divergence. */
  readonly property: string | null
  readonly step: number
  /** Milliseconds since the start; `null` if the trace has no times. */
  readonly atMs: number | null
  /** One line, followed by the property's explanation. */
  readonly message: string
  /** The observed state of each node, by name; `null` for a node that was down. */
  readonly state: Readonly<Record<string, unknown>>
}

/** A period in which a property did not hold. */
interface Outage {
  readonly fromStep: number
  readonly fromMs: number | null
  /** `null` if it did not hold at the end. */
  readonly untilStep: number | null
  readonly untilMs: number | null
}

/** The result of a property over a recorded execution. */
export interface VerifiedProperty {
  readonly name: string
  readonly kind: PropertyKind
  /** Whether it held at the end, or where it was first violated, or at any time (`sometimes`); `null` if undecided. */
  readonly holds: boolean | null
  readonly outages: readonly Outage[]
}

interface Watched {
  readonly name: string
  readonly property: Property<GlobalState>
  readonly outages: Outage[]
  /** Parts of the state that its last evaluation read; undefined before the first. */
  reads: Set<string> | undefined
  holds: boolean | null
  isViolated: boolean
}

/**
 * Evaluates properties over a recorded execution, step by step. A property is evaluated again only if a part of the
 * state changed that its last evaluation read, because its value depends on nothing else. A property that carries a
 * value receives every state.
 */
export class Verification {
  readonly violations: RecordedViolation[] = []
  /** Why properties could not be decided, one line each. */
  readonly undecided = new Map<string, string>()
  /** Number of calls of predicates. */
  evaluations = 0
  /** Number of steps after the start. */
  steps = 0
  /** The first step after which everything is known; before it, properties were not evaluated. */
  from = 0
  #atMs: number | undefined
  readonly #states: RecordedStates
  readonly #carried: Carried<GlobalState>
  readonly #observed: Observed
  readonly #watched: readonly Watched[]

  constructor(system: Pick<ResolvedSystem, 'nodes' | 'properties' | 'observe'>) {
    this.#observed = new Observed(system)
    this.#states = new RecordedStates(system.nodes)
    this.#carried = new Carried(system.properties)
    this.#watched = Object.entries(system.properties).map(([name, property]) => ({
      ...{ name, property, outages: [], reads: undefined, holds: null, isViolated: false },
    }))
  }

  get properties(): readonly VerifiedProperty[] {
    return this.#watched.map(({ name, property: { kind }, holds, outages }) => ({ name, kind, holds, outages }))
  }

  /** Time of the last step, if the trace has times. */
  get endMs(): number | undefined {
    return this.#atMs
  }

  /** Properties whose bound was not judged, because the trace has no times or they are judged in a search alone, one line each. */
  get unbounded(): readonly string[] {
    return this.#watched.flatMap(({ name, property: { withinMs, when } }) => {
      if (withinMs === undefined || (when === undefined && this.#atMs !== undefined)) return []
      const why = when === undefined ? 'the trace has no times' : 'only a search makes the network healthy'
      return [`${name} was checked without its bound of ${inSeconds(withinMs)}, because ${why}`]
    })
  }

  /** A note that no state of any node was recorded although properties read states. */
  get nothingSeen(): string | undefined {
    return this.#observed.nothing
  }

  /** Must be called with each step in order. @throws UsageError if a property throws */
  see(step: RecordedStep): void {
    this.steps = step.index
    this.#atMs = step.atMs
    this.#states.next(step)
    for (const { kind, node, message } of step.findings)
      this.#violate(step, null, `${kind} of ${node} ${this.#where(step)}: ${message}`)
    if (step.keeps) this.from = step.index
    if (step.keeps === 'choice') return
    this.#observed.see(this.#states.state)
    this.#carried.next(this.#states.state, () => this.#where(step))
    for (const watched of this.#watched) this.#watch(watched, step)
  }

  #watch(watched: Watched, step: RecordedStep): void {
    const { name, property } = watched
    if (watched.isViolated || this.undecided.has(name)) return
    if (property.fold && this.from > 0) {
      this.undecided.set(name, `${name} carries a value from the start, of which only an outline is kept`)
      return
    }
    const isGoal = property.kind === 'sometimes'
    // A `sometimes` property that was met needs no further evaluation.
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

  /** Notes when it stopped holding, and when it held again. */
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
    { name, property: { withinMs, when } }: Watched,
    { fromMs, fromStep }: Outage,
    step: number,
    atMs: number | null,
  ) {
    if (withinMs === undefined || when !== undefined || fromMs === null || atMs === null || atMs - fromMs <= withinMs)
      return
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
