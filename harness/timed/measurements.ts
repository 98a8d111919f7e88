import type { ChoiceKind } from '../../checker/happening/kinds.ts'
import { Carried } from '../../checker/system/carried.ts'
import { decided, evaluate, explanationOf, type Property, type PropertyKind } from '../../checker/system/property.ts'
import type { PropertyValue } from '../../checker/trace/trace.ts'
import type { GlobalState, NodeView, ResolvedSystem } from '../config/config.ts'
import { Observed } from '../config/observed.ts'
import { Loads } from './loads.ts'
import type { Look } from './look.ts'

/** Something that happened to the system, at milliseconds since its start. */
export interface Happened {
  readonly atMs: number
  /** `fault` takes something away, `repair` gives something back. */
  readonly kind: 'fault' | 'repair'
  readonly label: string
  /** The node concerned, if there is one. */
  readonly node: string | undefined
  /** Whether the node ended by itself. */
  readonly isCrash: boolean
  /** The kind of step that it is. */
  readonly step: ChoiceKind
}

/** Measurements of one property. */
export interface PropertyFigures {
  readonly name: string
  readonly kind: PropertyKind
  /** Milliseconds for which the property may fail to hold, if that is bounded. */
  readonly withinMs?: number | undefined
  /** Milliseconds from each time that it ceased to hold until it held again, measured between looks or steps. */
  readonly againMs: readonly number[]
  /** Number of looks in which it did not hold. */
  readonly looksWithout: number
  /** Periods in which it did not hold, from the first look without it to the next look with it. */
  readonly outages: readonly Outage[]
}

export interface Outage {
  readonly fromMs: number
  /** Undefined if it did not hold again before the end. */
  readonly untilMs: number | undefined
  readonly message: string
}

/** Whether the last outage has not ended. */
export const isOut = (outages: readonly Outage[]): boolean => {
  const last = outages.at(-1)
  return last !== undefined && last.untilMs === undefined
}

/** What followed a fault, up to the next event: a join may do harm as well. */
export interface FaultRecovery {
  readonly fault: Happened
  /** Until all properties held for good; 0 if they held all the time, `undefined` if they never did again. */
  tookMs: number | undefined
  /** Whether some property did not hold. */
  hasHarmed: boolean
}

/** Measurements of a running system, look by look. */
export class Measurements {
  readonly #properties: ResolvedSystem['properties']
  readonly #joined: ((node: NodeView) => boolean) | undefined
  readonly happenings: Happened[] = []
  readonly recoveries: FaultRecovery[] = []
  /** When a step, or where steps are not known a look, showed that a node had joined, and how long that took from its start. */
  readonly joins: { readonly atMs: number; readonly node: string; readonly tookMs: number }[] = []
  /** For each look: its time, the number of nodes up, and the number of properties that did not hold. */
  readonly looks: {
    readonly atMs: number
    readonly alive: number
    readonly without: number
    readonly stillMs: number
  }[] = []
  readonly loads = new Loads()
  unseen = 0
  readonly #figures: Map<string, { looksWithout: number; readonly outages: Outage[]; readonly againMs: number[] }>
  readonly #carried: Carried<GlobalState>
  /** When each property that does not hold ceased to hold. */
  readonly #notSince = new Map<string, number>()
  /** Recoveries still being measured. An event that follows a look removes those that are complete. */
  #open: FaultRecovery[] = []
  #hasLooked = false
  /** Properties that must hold at some time, and have held in no look so far. */
  readonly #unmet: Map<string, Property<GlobalState>>
  readonly #joining = new Map<string, number>()

  readonly observed: Observed

  /** @param joined tells from a node's state whether it has become a member */
  constructor(
    { properties, observe }: Pick<ResolvedSystem, 'properties' | 'observe'>,
    joined: ((node: NodeView) => boolean) | undefined,
  ) {
    this.observed = new Observed({ properties, observe })
    const named = Object.entries(properties)
    this.#properties = Object.fromEntries(named.filter(([, { kind }]) => kind !== 'sometimes'))
    this.#unmet = new Map(named.filter(([, { kind }]) => kind === 'sometimes'))
    this.#joined = joined
    this.#figures = new Map(
      Object.keys(this.#properties).map(name => [name, { looksWithout: 0, outages: [], againMs: [] }]),
    )
    this.#carried = new Carried(properties)
  }

  /** In milliseconds, of all joins. */
  get joinTimes(): number[] {
    return this.joins.map(({ tookMs }) => tookMs)
  }

  /** A node was started. */
  started(node: string, atMs: number): void {
    if (this.#joined) this.#joining.set(node, atMs)
  }

  happened(happening: Happened): void {
    this.happenings.push(happening)
    if (happening.node !== undefined && happening.kind === 'fault') this.#joining.delete(happening.node)
    if (this.#hasLooked) this.#open = this.#open.filter(({ tookMs }) => tookMs === undefined)
    this.#hasLooked = false
    if (happening.kind !== 'fault') return
    const recovery = { fault: happening, tookMs: undefined, hasHarmed: false }
    this.recoveries.push(recovery)
    this.#open.push(recovery)
  }

  /** A property begins or ceases to hold. */
  changed({ name, holds }: PropertyValue, atMs: number): void {
    if (!(name in this.#properties)) return
    const since = this.#notSince.get(name)
    if (!holds) this.#notSince.set(name, since ?? atMs)
    else if (since !== undefined) {
      this.#figures.get(name)!.againMs.push(atMs - since)
      this.#notSince.delete(name)
    }
  }

  /** A step was executed, which led to these states. What it changed was told before. */
  stepped(nodes: readonly NodeView[], atMs: number): void {
    if (this.#joining.size > 0) this.#noteJoins(nodes, atMs)
    this.#noteRecoveries(this.#notSince.size > 0, atMs)
  }

  /**
   * Evaluates which properties hold in a look.
   *
   * @param known values from the step before the look, if available; otherwise the look is evaluated
   */
  looked(look: Look, atMs: number, known?: ReadonlyMap<string, boolean>): Readonly<Record<string, boolean>> {
    const { state, stillMs, unseen } = look
    this.observed.see(state)
    const where = () => `after ${(atMs / 1000).toFixed(2)} s`
    const values = Object.fromEntries(this.#musts(known ?? this.#evaluate(state, atMs, where)))
    for (const [name, isHeld] of Object.entries(values))
      this.#count(
        ...([name, isHeld, atMs] as const),
        isHeld ? '' : (explanationOf(name, this.#properties[name]!, state, where) ?? ''),
      )
    const without = Object.values(values).filter(holds => !holds).length
    this.looks.push({ atMs, alive: state.nodes.filter(({ alive }) => alive).length, without, stillMs })
    this.unseen += unseen.length
    this.#noteJoins(state.nodes, atMs)
    this.#hasLooked = true
    this.#noteRecoveries(without > 0, atMs)
    if (without === 0) for (const each of this.#open) each.tookMs ??= 0
    return values
  }

  /** Names of `sometimes` properties that held in no look. */
  get unmet(): string[] {
    return [...this.#unmet.keys()]
  }

  get properties(): PropertyFigures[] {
    return Object.entries(this.#properties).map(([name, { kind, withinMs, when }]) => ({
      // A run has faults, so it says nothing of a property that is judged without any.
      ...{ name, kind, ...(withinMs !== undefined && when === undefined && { withinMs }) },
      ...this.#figures.get(name)!,
    }))
  }

  /** Keeps the properties that must hold, and notes that the others did. */
  #musts(values: Iterable<readonly [string, boolean]>): (readonly [string, boolean])[] {
    return [...values].filter(([name, holds]) => {
      if (holds) this.#unmet.delete(name)
      return name in this.#properties
    })
  }

  #evaluate(state: GlobalState, atMs: number, where: () => string): (readonly [string, boolean])[] {
    this.#carried.next(state, where)
    const all = { ...this.#properties, ...Object.fromEntries(this.#unmet) }
    const values = Object.entries(all).flatMap(([name, property]) => {
      const holds = decided(() => evaluate(name, property, state, where, this.#carried.of(name)))
      return holds === undefined ? [] : [[name, holds] as const]
    })
    for (const [name, holds] of values) this.changed({ name, holds }, atMs)
    return values
  }

  #count(name: string, isHeld: boolean, atMs: number, message: string): void {
    const figures = this.#figures.get(name)!
    const wasOut = isOut(figures.outages)
    if (isHeld && wasOut) figures.outages.push({ ...figures.outages.pop()!, untilMs: atMs })
    if (isHeld) return
    figures.looksWithout += 1
    if (!wasOut) figures.outages.push({ fromMs: atMs, untilMs: undefined, message })
  }

  #noteRecoveries(isOut: boolean, atMs: number): void {
    for (const each of this.#open) {
      if (isOut) Object.assign(each, { hasHarmed: true, tookMs: undefined })
      else if (each.hasHarmed) each.tookMs ??= atMs - each.fault.atMs
    }
  }

  #noteJoins(nodes: readonly NodeView[], atMs: number): void {
    for (const node of nodes) {
      const since = this.#joining.get(node.name)
      if (since === undefined || !node.alive || !this.#joined!(node)) continue
      this.#joining.delete(node.name)
      this.joins.push({ atMs, node: node.name, tookMs: atMs - since })
    }
  }
}
