import { type Described, labelsOf } from '../../checker/system/labels.ts'
import type { Choice, Sight } from '../../checker/system/system.ts'
import type { Message } from '../../proxy/message.ts'
import type { Network, NetworkMark } from '../../proxy/network.ts'
import type { Clients, ClientsMark } from '../clients/clients.ts'
import { sightOf } from '../clients/sights.ts'
import type { ResolvedSystem } from '../config/config.ts'
import type { Time } from '../timed/time.ts'
import type { Evidence } from './audit.ts'
import type { Input } from './choices/action.ts'
import { type ClockReadings, type DelaysMark, TimesInFlight } from './choices/delays.ts'
import type { Healthy } from './choices/healthy.ts'
import { Inputs, type InputsMark } from './choices/inputs.ts'
import type { HeldBack } from './choices/timers.ts'
import type { TimedStart } from './timed-start.ts'

/** The schedule of a state, by which it can always be reached again. */
export interface WayThere {
  readonly variant: number
  readonly schedule: readonly string[]
}

/** An execution at one quiescent instant, without its processes. */
export interface ExecutionMark {
  readonly clients: ClientsMark
  readonly network: NetworkMark
  readonly budget: readonly (readonly [kind: string, left: number])[]
  readonly cutAt: ClockReadings | undefined
  readonly healthy: Healthy | undefined
  readonly delays: DelaysMark
  readonly history: readonly (readonly [node: string, inputs: InputsMark])[]
  readonly started: readonly string[]
  /** A copy. */
  readonly time: Time | undefined
  /** A copy. */
  readonly start: TimedStart | undefined
}

/** An execution: what is in flight, what was done so far, and what is left of its budgets. */
export class Execution {
  readonly network: Network
  readonly clients: Clients
  readonly variant: number
  /** Labels of the executed steps. */
  readonly schedule: string[]
  readonly delays: TimesInFlight
  /** Labels of what happened in its start, where nodes waited for each other; usually empty. */
  readonly started: string[]
  /** Present in a system with a common time. */
  readonly time: Time | undefined
  /** In a system with a common time: its start. */
  start: TimedStart | undefined
  /** Whether a finding has ended it. */
  isOver = false
  /** The clocks when the network was cut; undefined if it is whole. */
  cutAt: ClockReadings | undefined
  /** Present once the network is healthy. */
  healthy: Healthy | undefined
  /** Age of the oldest message in flight when this step fired a timer, ms of that node's clock; undefined if none was. */
  delayMs: number | undefined
  /** Clock skew of this step, ms: fired deadline minus the earliest deadline of any node; undefined if that fired. */
  skewMs: number | undefined
  /** The results of each step, if the execution is being audited. */
  evidence: Evidence[] | undefined
  /** Whether any of its nodes was rewound when it began. */
  beganInPlace = false
  /** Index of the first step with evidence. It is later than 0 if the execution began at a mark. */
  evidenceFrom = 0
  /** The states in which a bound held a timer back, by the name of the sight. */
  readonly heldBack = new Map<string, Sight>()
  readonly #budget: Map<string, number>
  readonly #history: Map<string, Inputs>
  /** Labels of what was in flight after the last step. */
  #inFlight: ReadonlySet<string> = new Set()

  /** @param mark of an execution with this schedule, to continue from there */
  constructor(
    { faults, overlap, divide }: Pick<ResolvedSystem, 'faults' | 'overlap' | 'divide'>,
    { variant, schedule }: WayThere,
    { network, clients, time }: Pick<Execution, 'network' | 'clients' | 'time'>,
    mark?: ExecutionMark,
  ) {
    this.network = network
    this.clients = clients
    this.time = time
    this.variant = variant
    this.schedule = [...schedule]
    this.cutAt = mark?.cutAt
    this.healthy = mark?.healthy
    this.start = mark?.start?.copy()
    this.delays = new TimesInFlight(mark?.delays)
    this.started = [...(mark?.started ?? [])]
    this.#budget = new Map(mark?.budget ?? Object.entries({ ...faults, overlap, divide }))
    this.#history = new Map(mark?.history.map(([node, inputs]) => [node, new Inputs(inputs)]))
  }

  noteHeldBack({ node, by, afterMs }: HeldBack): void {
    const what = sightOf.heldBack(by, node)
    const count = 1 + (this.heldBack.get(what)?.count ?? 0)
    const example = this.heldBack.get(what)?.example ?? `+${afterMs}ms`
    this.heldBack.set(what, { what, count, example })
  }

  mark(clients: ClientsMark): ExecutionMark {
    return {
      clients,
      network: this.network.mark(),
      budget: [...this.#budget],
      cutAt: this.cutAt,
      healthy: this.healthy,
      delays: this.delays.mark(),
      started: [...this.started],
      history: [...this.#history].map(([node, inputs]) => [node, inputs.mark()]),
      time: this.time?.copy(),
      start: this.start?.copy(),
    }
  }

  /** What is in flight now was sent in the start, which ends next. */
  endStart(): void {
    this.#inFlight = new Set()
  }

  /** What is in flight now belongs to the time before the next step. */
  goOn(): void {
    this.#inFlight = new Set(labelsOf(this.network.messages.all()))
  }

  get way(): WayThere {
    return { variant: this.variant, schedule: [...this.schedule] }
  }

  /** Number of steps so far. */
  get stepIndex(): number {
    return this.schedule.length
  }

  /** What is left of each budget, including `overlap` and `divide`. */
  get budget(): ReadonlyMap<string, number> {
    return this.#budget
  }

  /** By node, all its inputs. */
  get history(): ReadonlyMap<string, Inputs> {
    return this.#history
  }

  /** A choice that is due happens by itself and spends nothing. */
  spend({ kind, due }: Choice): void {
    if (due !== undefined) return
    const left = this.#budget.get(kind)
    if (left !== undefined) this.#budget.set(kind, left - 1)
  }

  /** Adds an input or fault to a node's history. */
  remember(node: string, what: Described, inputs: readonly Input[] = []): void {
    const known = this.#history.get(node) ?? new Inputs()
    this.#history.set(node, known)
    known.add(what, inputs)
  }

  /**
   * How a step changed what is in flight: new messages, and labels of those that disappeared without being taken by it. Call
   * it once a step, because it compares with the step before. No label comes again.
   */
  changesInFlight(
    inFlight: readonly Message[],
    taken: readonly string[],
  ): { readonly messages: readonly Message[]; readonly lost: readonly string[] } {
    const before = this.#inFlight
    this.#inFlight = new Set(labelsOf(inFlight))
    const accounted = new Set([...this.#inFlight, ...taken])
    return {
      messages: inFlight.filter(({ label }) => !before.has(label)),
      lost: [...before].filter(label => !accounted.has(label)),
    }
  }
}
