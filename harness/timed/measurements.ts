import { Carried } from '../../checker/carried.ts'
import { decided, evaluate, explanationOf, type Property, type PropertyKind } from '../../checker/property.ts'
import type { PropertyValue } from '../../checker/trace/trace.ts'
import type { GlobalState, NodeView, ResolvedSystem } from '../config.ts'
import type { Look } from './look.ts'

/** Something that happened to the system, at milliseconds since its start. */
export interface Happened {
  readonly atMs: number
  /** `fault` takes something away, `repair` gives something back. */
  readonly kind: 'fault' | 'repair'
  readonly label: string
  /** The node that it happened to, where it is one. */
  readonly node: string | undefined
  /** Whether it ended of itself. */
  readonly isCrash: boolean
}

/** What was seen of a property. */
export interface PropertyFigures {
  readonly name: string
  readonly kind: PropertyKind
  /** For how many milliseconds at most it may not hold, where that is bounded. */
  readonly withinMs?: number | undefined
  /** Milliseconds from each time that it ceased to hold until it held again: from look to look, or step to step. */
  readonly againMs: readonly number[]
  /** Looks in which it did not hold. */
  readonly looksWithout: number
  /** Times in which it did not hold, from the first look without it to the next with it. */
  readonly outages: readonly Outage[]
}

export interface Outage {
  readonly fromMs: number
  /** Undefined where it did not hold any more in the end. */
  readonly untilMs: number | undefined
  readonly message: string
}

/** Whether the last of these has no end. */
export const isOut = (outages: readonly Outage[]): boolean => {
  const last = outages.at(-1)
  return last !== undefined && last.untilMs === undefined
}

/** What came after a fault, up to what happened next: a join may do harm as well. */
export interface Recovery {
  readonly fault: Happened
  /** Until all properties held for good; 0 where each look found that they did, `undefined` where none has. */
  tookMs: number | undefined
  /** Whether a look found that some did not. */
  hasHarmed: boolean
}

/** What was seen while a system ran, look by look. */
export class Measurements {
  readonly #properties: ResolvedSystem['properties']
  readonly #joined: ((node: NodeView) => boolean) | undefined
  readonly happenings: Happened[] = []
  readonly recoveries: Recovery[] = []
  /** From the start of a node until it was seen to have joined, in milliseconds. */
  readonly joinTimes: number[] = []
  /** Of each look: when, and how many nodes were up, and how many properties did not hold. */
  readonly looks: {
    readonly atMs: number
    readonly alive: number
    readonly without: number
    readonly stillMs: number
  }[] = []
  unseen = 0
  readonly #figures: Map<string, { looksWithout: number; readonly outages: Outage[]; readonly againMs: number[] }>
  readonly #carried: Carried<GlobalState>
  /** Since when a property does not hold. */
  readonly #notSince = new Map<string, number>()
  /** Of the last faults, since which nothing else happened after a look, and of those without a recovery yet. */
  #open: Recovery[] = []
  #hasLooked = false
  /** What is to hold at some time, and has in no look so far. */
  readonly #unmet: Map<string, Property<GlobalState>>
  readonly #joining = new Map<string, number>()

  /** @param joined whether a node has become a member, by what is seen of it */
  constructor(properties: ResolvedSystem['properties'], joined: ((node: NodeView) => boolean) | undefined) {
    const named = Object.entries(properties)
    this.#properties = Object.fromEntries(named.filter(([, { kind }]) => kind !== 'sometimes'))
    this.#unmet = new Map(named.filter(([, { kind }]) => kind === 'sometimes'))
    this.#joined = joined
    this.#figures = new Map(
      Object.keys(this.#properties).map(name => [name, { looksWithout: 0, outages: [], againMs: [] }]),
    )
    this.#carried = new Carried(properties)
  }

  /** A node has been started. */
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

  /**
   * Which properties held in a look.
   *
   * @param known what is known of that already, from the step before it; else the look is evaluated
   */
  looked(look: Look, atMs: number, known?: ReadonlyMap<string, boolean>): Readonly<Record<string, boolean>> {
    const { state, stillMs, unseen } = look
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
    for (const each of this.#open) {
      each.hasHarmed ||= without > 0
      if (without > 0) each.tookMs = undefined
      else each.tookMs ??= each.hasHarmed ? atMs - each.fault.atMs : 0
    }
    return values
  }

  /** Names of properties `sometimes` that held in no look. */
  get unmet(): string[] {
    return [...this.#unmet.keys()]
  }

  get properties(): PropertyFigures[] {
    return Object.entries(this.#properties).map(([name, { kind, withinMs }]) => ({
      ...{ name, kind, ...(withinMs !== undefined && { withinMs }) },
      ...this.#figures.get(name)!,
    }))
  }

  /** Those that must hold; of the others it is noted that they did. */
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

  #noteJoins(nodes: readonly NodeView[], atMs: number): void {
    for (const node of nodes) {
      const since = this.#joining.get(node.name)
      if (since === undefined || !node.alive || !this.#joined!(node)) continue
      this.#joining.delete(node.name)
      this.joinTimes.push(atMs - since)
    }
  }
}
