import { Solo } from '../../checker/cells/alone.ts'
import { Executor, type Mark } from '../../checker/cells/executor.ts'
import { attempt } from '../../checker/cells/schedule.ts'
import type { Violation } from '../../checker/cells/violation.ts'
import type { ExplorerOrder } from '../../checker/searches/deviations/explorer.ts'
import { type Prediction, predict } from '../../checker/searches/deviations/predict.ts'
import type { Table } from '../../checker/searches/local/table.ts'
import { Budget } from '../../checker/system/budget.ts'
import { MarkLost } from '../../checker/system/errors.ts'
import { giveBackMemory } from '../../linux/libc.ts'
import type { Cluster } from '../cluster.ts'
import type { GlobalState, ResolvedSystem } from '../config/config.ts'
import { type Beside, CannotBegin } from '../execution/beside.ts'
import type { ClusterMark } from '../execution/mark.ts'
import type { TimedHappening } from '../timed/timing.ts'
import { withoutBroken } from './without-broken.ts'

/** A violation to which a way from a state leads. */
export interface Foreseen extends Pick<Violation, 'kind' | 'property'> {
  /** From that state. */
  readonly labels: readonly string[]
  /** How it was searched for. */
  readonly order: ExplorerOrder
  /** By deviations: from what a prompt network does next. By consequence: steps. */
  readonly cost: number
}

/** How a prediction is limited. */
export interface OutlookLimits {
  readonly order: ExplorerOrder
  readonly inputsMax: number
  readonly transitionsMax: number
  /** By `performance.now()`. */
  readonly untilMs: number
  readonly suspicionsMax: number
  readonly costMax?: number
  readonly prevented?: ReadonlySet<string>
  readonly within?: ReadonlySet<string> | undefined
}

/**
 * Messages that may be lost, and connections that may be reset, additionally while a way is executed in which something
 * is prevented.
 */
const preventedMax = 3

/**
 * What may come from one state of a run, found with the run's own processes. Nothing else may use them until `end`; then the run is
 * in that state again.
 */
export class Outlook {
  readonly #cluster: Cluster
  /** Without the properties that are violated in the state of the mark. */
  readonly #system: ResolvedSystem
  readonly #mark: ClusterMark
  readonly #nodes: ReturnType<Cluster['nodesBeside']>
  readonly #solo: Solo
  readonly #beside: Beside
  readonly #executor: Executor<GlobalState>
  readonly #requested: readonly TimedHappening[]
  readonly #state: Mark
  readonly #signal: AbortSignal

  /** @param state what is known of the run in the state of the mark */
  constructor(
    cluster: Cluster,
    system: ResolvedSystem,
    { mark, state, signal }: { readonly mark: ClusterMark; readonly state: Mark; readonly signal: AbortSignal },
  ) {
    this.#cluster = cluster
    this.#system = { ...system, properties: withoutBroken(system.properties, cluster, state) }
    this.#mark = mark
    this.#state = state
    this.#signal = signal
    this.#requested = cluster.running.time!.requested
    const { faults } = system
    this.#nodes = cluster.nodesBeside({ ...system, faults: { ...faults, reset: Math.max(1, faults.reset) } })
    this.#solo = new Solo(this.#nodes, async () => {
      if (mark.isLost) throw new MarkLost('a node could not be brought back to the mark')
      return mark
    })
    const more = { drop: faults.drop + preventedMax, reset: faults.reset + preventedMax }
    this.#beside = cluster.beside({ ...system, faults: { ...faults, ...more } })
    this.#executor = new Executor(this.#beside, this.#system.properties)
    this.#executor.budget = new Budget({ signal })
  }

  /**
   * @param round its number: states of single nodes begin anew with each
   *
   * @throws MarkLost if no node can be brought back to it
   */
  predict(table: Table, round: number, { costMax, ...limits }: OutlookLimits): Promise<Prediction> {
    return predict({
      nodes: { ...this.#nodes, faults: this.#system.faults },
      properties: this.#system.properties,
      table,
      solo: this.#solo,
      begin: { after: [`round ${round}`], variant: 0 },
      budget: new Budget({ signal: this.#signal }),
      ...(costMax !== undefined && { deviationsMax: costMax }),
      ...limits,
    })
  }

  /** Executes a way on the whole system, as far as it is possible. Gives what it violates there. */
  async execute({ labels, order, cost }: Pick<Foreseen, 'labels' | 'order' | 'cost'>): Promise<Foreseen | undefined> {
    this.#solo.forget()
    try {
      await this.#executor.restore(this.#mark, this.#state)
      await attempt(this.#executor, labels)
    } catch (error) {
      if (error instanceof CannotBegin) return undefined
      throw error
    } finally {
      this.#beside.end()
    }
    const { violation } = this.#executor
    const executed = this.#executor.labels().slice(this.#state.schedule.length)
    return violation && { kind: violation.kind, property: violation.property, labels: executed, order, cost }
  }

  /** Brings the run back, as if nothing had been done. */
  async end(): Promise<void> {
    await this.#cluster.restore(this.#mark)
    this.#cluster.running.time!.takeUp({ requested: this.#requested })
    this.#cluster.running.lookAgain()
    await this.#solo.end()
    if (!this.#mark.isLost) await this.#mark.discard()
    this.#cluster.running.endParkedLives()
    giveBackMemory()
  }
}
