import { countUpTo } from '../config/notes.ts'
import { createRunDirectory, removeRunDirectory } from '../files/run-directory.ts'
import { ClusterCheckpoint, checkpointReasonOf } from './cluster-checkpoint.ts'
import type { Driver } from './driver.ts'
import type { WayThere } from './execution.ts'
import { ClusterMark, goBackTo, markCluster, whyNot } from './mark.ts'
import { bringBack, saveInto } from './save.ts'
import type { Stage } from './stage.ts'

/** At most this many reasons are reported for states that could not be marked. More would hide the other notes. */
const reasonsMax = 3

/** Keeps states of a stage and returns to them: in place, from files, or by their schedule. */
export class StageMarks {
  readonly #stage: Stage
  readonly #driver: Driver
  /** By reason, how often a state could not be marked or restored in place. Only the first few reasons are kept. */
  readonly #whyNot = new Map<string, number>()

  constructor(stage: Stage, driver: Driver) {
    this.#stage = stage
    this.#driver = driver
  }

  /** Why states could not be marked or restored in place, and how often. */
  get reasons(): ReadonlyMap<string, number> {
    return this.#whyNot
  }

  /** Marks the present state in place, or saves it; undefined if neither is possible. */
  async take(): Promise<ClusterMark | ClusterCheckpoint | undefined> {
    const marked = await this.mark()
    if (marked) return marked
    const saved = await this.save()
    return saved.lacking === undefined ? saved : undefined
  }

  async restore(checkpoint: ClusterMark | ClusterCheckpoint): Promise<void> {
    if (checkpoint instanceof ClusterCheckpoint) {
      await this.goBack(checkpoint)
      return
    }
    const reason = goBackTo(this.#stage, checkpoint)
    if (reason === undefined) {
      this.#driver.comeBack()
      this.#driver.keepEvidence(this.#stage.execution.stepIndex + 1)
      return
    }
    countUpTo(reasonsMax, this.#whyNot, reason)
    await this.#driver.follow(checkpoint.way)
  }

  /** Marks the present state in place, quiescent and without a finding; `undefined` if that is not possible. */
  async mark(): Promise<ClusterMark | undefined> {
    const marked = await this.#mark()
    if (marked instanceof ClusterMark) return marked
    countUpTo(reasonsMax, this.#whyNot, marked)
    return undefined
  }

  /**
   * Saves the present quiescent state, which must be without a finding: its processes, if possible, otherwise its
   * schedule.
   *
   * @throws Diverged if processes were lost in saving, and the schedule now leads elsewhere
   */
  async save(): Promise<ClusterCheckpoint> {
    const { way, clients: calls, isOver } = this.#stage.execution
    const clients = calls.mark()
    if (isOver) return new ClusterCheckpoint(way, undefined, 'its execution has ended')
    if (clients === undefined) return new ClusterCheckpoint(way, undefined, 'a client is in the middle of a call')
    const outline = this.#stage.outline()
    const directory = createRunDirectory()
    try {
      return new ClusterCheckpoint(way, saveInto(directory, this.#stage, { clients, outline }), undefined)
    } catch (error) {
      removeRunDirectory(directory)
      const lacking = checkpointReasonOf(error)
      await this.#returnUnlessThere(way, outline)
      return new ClusterCheckpoint(way, undefined, lacking)
    }
  }

  /**
   * Restores a saved state, of this stage or another one of the same system, any number of times.
   *
   * @returns why the schedule was executed instead; undefined if it was not
   *
   * @throws Diverged if the schedule leads elsewhere
   */
  async goBack({ saved, way, lacking }: ClusterCheckpoint): Promise<string | undefined> {
    this.#driver.endExecution()
    const reason = saved === undefined ? (lacking ?? 'it was discarded') : bringBack(this.#stage, saved, way)
    if (reason !== undefined) await this.#driver.follow(way)
    else this.#driver.comeBack()
    return reason
  }

  /** Marks the present state in place, or returns why that is not possible. @throws Diverged like `save` */
  async #mark(): Promise<ClusterMark | string> {
    const { way, clients: calls, isOver } = this.#stage.execution
    const clients = calls.mark()
    if (isOver) return 'its execution has ended'
    if (clients === undefined) return 'a client is in the middle of a call'
    const outline = this.#stage.outline()
    try {
      return markCluster(this.#stage, clients, outline)
    } catch (error) {
      const reason = whyNot(error)
      await this.#returnUnlessThere(way, outline)
      return reason
    }
  }

  /** Executes the schedule again if a failed attempt has cost the present state. */
  async #returnUnlessThere(way: WayThere, outline: string): Promise<void> {
    if (this.#stage.settleAlive().length > 0 || this.#stage.outline() !== outline) await this.#driver.follow(way)
  }
}
