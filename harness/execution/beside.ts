import type { Checkpoint, Choice, Finding, Step, System } from '../../checker/system/system.ts'
import type { GlobalState, ResolvedSystem } from '../config/config.ts'
import { systemInTime } from '../timed/timed-system.ts'
import { Driver } from './driver.ts'
import { type ClusterMark, goBackTo, wholeOf } from './mark.ts'
import { Recording } from './recording.ts'
import { Stage } from './stage.ts'

/** The nodes of a run, from a mark of it, in an execution that does not belong to it. */
export class Beside implements System<GlobalState> {
  readonly #run: Driver
  readonly #stage: Stage
  readonly #driver: Driver

  /**
   * @param stage of the run, which goes on once a mark of it is restored
   *
   * @param run its driver
   *
   * @param system what may happen
   *
   * @param seed of the nodes' random numbers
   */
  constructor(stage: Stage, run: Driver, system: ResolvedSystem, seed: number) {
    const timing = stage.timing && { ...stage.timing, timesMs: undefined, isSearched: true }
    this.#run = run
    this.#stage = new Stage(systemInTime(system, timing), stage.nodes, stage.runner, { timing, shared: stage.shared })
    this.#driver = new Driver(this.#stage, seed, new Recording(this.#stage))
  }

  async reset(): Promise<readonly Finding[]> {
    throw new Error('an execution beside a run begins at a mark')
  }

  async restore(checkpoint: Checkpoint): Promise<void> {
    this.#run.stop()
    const reason = goBackTo(this.#stage, wholeOf(checkpoint as ClusterMark, this.#stage))
    if (reason !== undefined) throw new CannotBegin(reason)
    this.#driver.comeBack()
  }

  /** Leaves the nodes where they are. The run must go back to a mark before it goes on. */
  end(): void {
    this.#stage.stopExecution()
  }

  enabled(): readonly Choice[] {
    return this.#driver.enabled()
  }

  execute(choice: Choice): Promise<Step> {
    return this.#driver.execute(choice)
  }

  state(): GlobalState {
    return this.#driver.state
  }

  fingerprint(): undefined {
    return undefined
  }
}

/** An execution beside a run cannot begin at this mark. */
export class CannotBegin extends Error {}
