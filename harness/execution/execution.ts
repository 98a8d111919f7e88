import { type Described, labelsOf } from '../../checker/labels.ts'
import type { Choice } from '../../checker/system.ts'
import type { Message } from '../../proxy/message.ts'
import type { Network, NetworkMark } from '../../proxy/network.ts'
import type { Clients, ClientsMark } from '../clients/clients.ts'
import type { ResolvedSystem } from '../config.ts'
import type { Time } from '../timed/time.ts'
import type { Evidence } from './audit.ts'
import type { Input } from './choices.ts'
import { type Clocks, Delays, type DelaysMark } from './delays.ts'
import { inputHash } from './fingerprint.ts'

/** How an execution came to a state: what it can always be reached by again. */
export interface WayThere {
  readonly variant: number
  readonly schedule: readonly string[]
}

/** An execution at one quiescent instant, without its processes. Plain data. */
export interface ExecutionMark {
  readonly clients: ClientsMark
  readonly network: NetworkMark
  readonly budget: readonly (readonly [kind: string, left: number])[]
  readonly cutAt: Clocks | undefined
  readonly delays: DelaysMark
  readonly history: readonly (readonly [node: string, hash: string])[]
  /** Labels of messages that were seen. */
  readonly known: readonly string[]
}

/** What is on its way in an execution, what was done in it so far, and what is left of its budgets. */
export class Execution {
  readonly network: Network
  readonly clients: Clients
  readonly variant: number
  /** Labels of what was executed. */
  readonly schedule: string[]
  readonly delays: Delays
  /** Where time runs through the system. */
  readonly time: Time | undefined
  /** Whether a finding has ended it. */
  isOver = false
  /** What the clocks showed when the network was cut; undefined where it is whole. */
  cutAt: Clocks | undefined
  /** How long a message was on its way for the step that is being executed, where one was. */
  delayMs: number | undefined
  /** By step, what it came to, where it is to be done again or is done again. */
  evidence: Evidence[] | undefined
  /** The first step that it is of: a later one, where the execution began at a mark. */
  evidenceFrom = 0
  readonly #budget: Map<string, number>
  readonly #history: Map<string, string>
  readonly #seen: Set<string>
  #inFlight: readonly string[] = []

  /** @param mark of an execution that came this way, where it goes on from there */
  constructor(
    { faults, overlap }: Pick<ResolvedSystem, 'faults' | 'overlap'>,
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
    this.delays = new Delays(mark?.delays)
    this.#budget = new Map(mark?.budget ?? Object.entries({ ...faults, overlap }))
    this.#history = new Map(mark?.history)
    this.#seen = new Set(mark?.known)
  }

  mark(clients: ClientsMark): ExecutionMark {
    return {
      clients,
      network: this.network.mark(),
      budget: [...this.#budget],
      cutAt: this.cutAt,
      delays: this.delays.mark(),
      history: [...this.#history],
      known: [...this.#seen],
    }
  }

  /** What is on its way now was there before the step that comes. */
  goOn(): void {
    this.#inFlight = labelsOf(this.network.inFlight())
  }

  get way(): WayThere {
    return { variant: this.variant, schedule: [...this.schedule] }
  }

  /** Steps so far. */
  get stepIndex(): number {
    return this.schedule.length
  }

  /** What is left of each budget, `overlap` among them. */
  get budget(): ReadonlyMap<string, number> {
    return this.#budget
  }

  /** By node, a hash of all that it was given. */
  get history(): ReadonlyMap<string, string> {
    return this.#history
  }

  /** A choice that is due happens by itself, and spends nothing. */
  spend({ kind, due }: Choice): void {
    if (due !== undefined) return
    const left = this.#budget.get(kind)
    if (left !== undefined) this.#budget.set(kind, left - 1)
  }

  /** Takes note of what a node was given, or what befell it. */
  remember(node: string, what: Described, inputs: readonly Input[] = []): void {
    this.#history.set(node, inputHash(this.#history.get(node), what, inputs))
  }

  /** Messages that were not on their way at any earlier step. To be asked once a step. */
  newMessages(inFlight: readonly Message[]): Message[] {
    return inFlight.filter(message => {
      const isNew = !this.#seen.has(message.label)
      this.#seen.add(message.label)
      return isNew
    })
  }

  /** Labels of messages that are gone, though the step took none of them. To be asked once a step: it compares with the step before. */
  lostMessages(inFlight: readonly string[], taken: readonly string[]): string[] {
    const accounted = new Set([...inFlight, ...taken])
    const lost = this.#inFlight.filter(label => !accounted.has(label))
    this.#inFlight = inFlight
    return lost
  }
}
