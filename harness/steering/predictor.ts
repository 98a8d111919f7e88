import { Budget } from '../../checker/budget.ts'
import { Solo } from '../../checker/cells/alone.ts'
import type { Suspicion } from '../../checker/searches/deviations/explorer.ts'
import { predict } from '../../checker/searches/deviations/predict.ts'
import { Table } from '../../checker/searches/deviations/table.ts'
import type { Cluster } from '../cluster.ts'
import type { ResolvedSystem } from '../config.ts'

export interface PredictorOptions {
  /** Inputs of nodes in each round. They take some milliseconds each, and the run stands still meanwhile. */
  readonly inputsMax: number
  /** Steps in memory in each round. A second has some ten thousand. */
  readonly transitionsMax: number
  readonly signal: AbortSignal
}

/**
 * Predicts beside a run what may come from its present state, with the run's own processes (CrystalBall, section 3.2). What it
 * learns of single nodes is kept from round to round, so that later ones reach further.
 */
export class Predictor {
  rounds = 0
  /** Inputs that nodes took, and steps in memory. */
  inputs = 0
  transitions = 0
  seconds = 0
  /** How many states could not be marked, so that nothing was predicted from them. */
  unmarked = 0
  readonly #cluster: Cluster
  readonly #system: ResolvedSystem
  readonly #options: PredictorOptions
  readonly #table: Table

  /** @param system with the faults that may happen in a prediction */
  constructor(cluster: Cluster, system: ResolvedSystem, options: PredictorOptions) {
    this.#cluster = cluster
    this.#system = system
    this.#options = options
    this.#table = new Table(system.nodes.map(({ name }) => name))
  }

  /**
   * Looks for ways from the present state to something that looks wrong. Afterwards the cluster is in that state again, and goes
   * on as without.
   */
  async look(): Promise<readonly Suspicion[]> {
    const begun = performance.now()
    const mark = await this.#cluster.mark()
    if (mark === undefined) {
      this.unmarked += 1
      return []
    }
    const requested = this.#cluster.time!.requested
    const nodes = this.#cluster.nodesBeside(this.#system)
    const solo = new Solo(nodes, async () => mark)
    try {
      return await this.#predict(solo, nodes)
    } finally {
      await this.#cluster.restore(mark)
      this.#cluster.time!.takeUp(requested)
      this.#cluster.lookAgain()
      await solo.end()
      this.seconds += (performance.now() - begun) / 1000
    }
  }

  async #predict(solo: Solo, nodes: ReturnType<Cluster['nodesBeside']>): Promise<readonly Suspicion[]> {
    const { inputsMax, transitionsMax, signal } = this.#options
    const { suspicions, inputs, transitions } = await predict({
      nodes,
      properties: this.#system.properties,
      table: this.#table,
      solo,
      begin: { after: [`round ${++this.rounds}`], variant: 0 },
      inputsMax,
      transitionsMax,
      budget: new Budget({ signal }),
    })
    this.inputs += inputs
    this.transitions += transitions
    return suspicions
  }
}
