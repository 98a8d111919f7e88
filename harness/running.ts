import type { VisitorListener } from './clients/visitors.ts'
import { wrongNameIn } from './config/changing-names.ts'
import type { Driver } from './execution/driver.ts'
import type { Stage } from './execution/stage.ts'
import type { StepFaultKind } from './hold/held/step-faults.ts'
import type { Time } from './timed/time.ts'
import type { RunSoFar, TimedHappening } from './timed/timing.ts'
import { noPackets, type PacketCounts } from './timed/ways.ts'

/** What a run in a common time is asked and told, between two steps. */
export class Running {
  readonly #stage: Stage
  readonly #driver: Driver

  constructor(stage: Stage, driver: Driver) {
    this.#stage = stage
    this.#driver = driver
  }

  /** The time of this execution, if it has a common time. */
  get time(): Time | undefined {
    return this.#stage.execution.time
  }

  /** Sentences about the nodes that are not ready. */
  get notReady(): readonly string[] {
    return this.#stage.execution.start?.describe(this.#stage.nodes) ?? []
  }

  /** Whether a client is in the middle of a call: such a state cannot be marked. */
  get isInCall(): boolean {
    return this.#stage.execution.clients.mark() === undefined
  }

  /** Pairs of hosts that have an open connection. */
  get connected(): readonly (readonly [string, string])[] {
    return this.#stage.execution.network.faults.connections().map(({ opener, listener }) => [opener, listener])
  }

  /** The action of the last step, if it was planned or requested. */
  get happened(): TimedHappening | undefined {
    return this.time?.happened
  }

  /** Counts of packets between nodes, if there is a common time. */
  get packets(): PacketCounts {
    if (this.time === undefined) return noPackets
    return { ...this.time.counts, cut: this.#stage.execution.network.ignored().cut }
  }

  /** Receives the nodes' answers to connections through published ports. */
  set outside(listener: VisitorListener) {
    this.#stage.outside = listener
  }

  /** The run until now. Executions that repeat it from its start need it. */
  set soFar(run: RunSoFar) {
    this.#stage.soFar = run
  }

  /** Ends the lives that wait to begin again: hardly one does, for the clock goes on. Each takes some megabytes. */
  endParkedLives(): void {
    for (const node of this.#stage.nodes) node.endParkedLives()
  }

  /** Whether a node stops at the system calls at which such a fault strikes. */
  stopsFor(node: string, kind: StepFaultKind): boolean {
    return this.#stage.node(node).stopsFor(kind)
  }

  /** Why a name cannot mean a node: see `wrongNameIn`. */
  wrongNameIn(asked: { readonly name: string; readonly node: string }): string | undefined {
    return wrongNameIn(this.#stage.system, asked)
  }

  /** Computes the enabled choices again after somebody requested something. */
  lookAgain(): void {
    this.#driver.lookAgain()
  }
}
