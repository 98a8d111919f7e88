import { type ExecutionObserver, Executor, type Mark } from '../../checker/cells/executor.ts'
import type { Violation } from '../../checker/cells/violation.ts'
import { labelOf } from '../../checker/happening/happenings.ts'
import { Diverged } from '../../checker/system/errors.ts'
import { labelsOf } from '../../checker/system/labels.ts'
import type { Checkpoint, Choice } from '../../checker/system/system.ts'
import type { RecordedStep } from '../../checker/trace/trace.ts'
import type { VisitorListener } from '../clients/visitors.ts'
import type { Cluster } from '../cluster.ts'
import type { GlobalState, ResolvedSystem } from '../config/config.ts'
import type { RunSoFar, Steer } from '../timed/timing.ts'
import { HeldAnswers } from './held-answers.ts'

/** Turns what the cluster does into recorded steps. */
export interface Reader {
  /** By property, whether it holds after the last step. */
  readonly values: ReadonlyMap<string, boolean>
  observer(see: (step: RecordedStep) => void): ExecutionObserver<GlobalState>
  /** One that continues from the same step. */
  copy(): Reader
}

export interface LiveOptions {
  readonly reader: Reader
  /** Is told of each step that belongs to the run. */
  readonly tell: (step: RecordedStep) => void
  /** Receives what nodes answer to visitors. */
  readonly outside: VisitorListener | undefined
  /** When states are marked, so that steps can be taken back. */
  readonly marks: 'never' | 'regularly' | 'on request'
}

/** A state of the run to which it can return. */
interface Place {
  readonly checkpoint: Checkpoint
  readonly mark: Mark
  readonly reader: Reader
}

/**
 * Steps from one mark to the next. More make going back longer, for the steps since the mark are executed again; fewer
 * make each step dearer.
 */
const stepsBetweenMarks = 200
/** After a state could not be marked, because a client was in a call, say. Fewer would try too often in vain. */
const stepsUntilTriedAgain = 20

/**
 * Milliseconds of a node's clock between the beginning of a standstill and the step in place of which it is. Programs wait for whole
 * milliseconds: in the last one their timers are due already, although nothing wakes them.
 */
const beforeMs = 10

/** The execution of a run. Its last step can be taken back as long as nobody was told of it. */
export class LiveExecution {
  readonly #cluster: Cluster
  readonly #executor: Executor<GlobalState>
  readonly #tell: (step: RecordedStep) => void
  readonly #marks: LiveOptions['marks']
  readonly #answers: HeldAnswers | undefined
  /** One that has read nothing. */
  readonly #newReader: Reader
  #reader: Reader
  /** The step that was executed and nobody was told of. */
  #untold: RecordedStep | undefined
  #violation: Violation | undefined
  #place: Place | undefined
  readonly #timesMs: number[] = []
  /** The number of steps from which on the next state is marked. */
  #nextPlaceAt = 0
  /** Whether the execution is going back to a mark. */
  #isReturning = false

  constructor(cluster: Cluster, { properties }: ResolvedSystem, { reader, tell, outside, marks }: LiveOptions) {
    this.#cluster = cluster
    this.#newReader = reader
    this.#reader = reader.copy()
    this.#tell = tell
    this.#marks = marks
    this.#answers = outside && marks !== 'never' ? new HeldAnswers(outside) : undefined
    const listener = this.#answers ?? outside
    if (listener) cluster.running.outside = listener
    // It goes on with another reader after a step was taken back.
    const seeing = () => this.#reader.observer(step => (this.#untold = step))
    this.#executor = new Executor(cluster, properties, {
      observer: {
        onReset: (...start) => {
          if (!this.#isReturning) seeing().onReset?.(...start)
        },
        onStep: (step, state) => seeing().onStep?.(step, state),
      },
    })
  }

  get steps(): number {
    return this.#executor.schedule.length
  }

  get labels(): readonly string[] {
    return this.#executor.labels()
  }

  /** By property, whether it holds after the last step. */
  get values(): ReadonlyMap<string, boolean> {
    return this.#reader.values
  }

  /** The first violation of the run. */
  get violation(): Violation | undefined {
    return this.#violation
  }

  /** Whether a crash or divergence has ended it. */
  get isBroken(): boolean {
    return this.#executor.broken
  }

  /** Whether a program has failed in the last step. */
  get hasCrashed(): boolean {
    return this.#executor.finding?.kind === 'crash'
  }

  enabled(): readonly Choice[] {
    return this.#executor.enabled()
  }

  /** When each step was executed, the start first, the untold one not included. */
  get timesMs(): readonly number[] {
    return this.#timesMs
  }

  /** What is needed to execute the run as it was. */
  get soFar(): RunSoFar {
    return { requested: this.#cluster.running.time!.requested, timesMs: this.#timesMs }
  }

  /** What is known in the present state, for executions beside the run that begin there. */
  mark(): Mark {
    return this.#executor.mark()
  }

  async begin(): Promise<void> {
    await this.#executor.reset()
    this.accept()
    await this.keepPlace()
  }

  /** Executes a step, of which nobody is told yet. */
  async execute(choice: Choice): Promise<void> {
    await this.#executor.execute(named(choice))
  }

  /** The last step belongs to the run. */
  accept(): void {
    const step = this.#untold
    this.#untold = undefined
    this.#violation ??= this.#executor.violation
    this.#timesMs.push(this.#cluster.running.time!.nowMs)
    this.#answers?.give()
    if (step) this.#tell(step)
  }

  /** Call between two steps: marks the present state if it is time to. */
  async keepPlace(): Promise<void> {
    if (this.#marks === 'regularly' && this.steps >= this.#nextPlaceAt) await this.markHere()
  }

  /** Marks the present state, if that is possible. */
  async markHere(): Promise<void> {
    if (this.isBroken) return
    // In vain, it may cost the state: then the run is executed again.
    this.#cluster.running.soFar = this.soFar
    const checkpoint = await this.#cluster.mark()
    this.#nextPlaceAt = this.steps + (checkpoint ? stepsBetweenMarks : stepsUntilTriedAgain)
    if (checkpoint === undefined) return
    await this.#place?.checkpoint.discard()
    this.#place = { checkpoint, mark: this.#executor.mark(), reader: this.#reader.copy() }
  }

  /**
   * Takes back the last step, of which nobody was told. The steps since the last mark are executed again, or all if no
   * state could be marked.
   *
   * @throws Diverged if the steps before it did not repeat
   */
  async takeBack(): Promise<void> {
    const schedule = this.#executor.schedule.slice(0, -1)
    const { happened, time } = this.#cluster.running
    const requested = time!.requested.filter(action => action !== happened || action.does !== 'steer')
    const soFar = { ...this.soFar, requested }
    this.#cluster.running.soFar = soFar
    await this.#goBack()
    // Later steps were not known at the mark.
    this.#cluster.running.time!.takeUp(soFar)
    this.#cluster.running.lookAgain()
    for (const choice of schedule.slice(this.steps)) await this.#repeat(choice)
    this.#untold = undefined
    this.#answers?.discard()
  }

  /**
   * Executes a steering action now. A node stands still from a moment before the step in place of which it does: so what comes to it
   * meanwhile enters it before its timer fires, and may change what that does.
   *
   * @param atMs when the step is due
   *
   * @returns false, without a step, if it is not possible
   */
  async steer(action: Steer, atMs: number): Promise<boolean> {
    const time = this.#cluster.running.time!
    time.pass(action.how === 'pause' ? atMs - beforeMs : atMs)
    const asked = time.askFirst(action)
    this.#cluster.running.lookAgain()
    const label = labelOf(action)
    const choice = this.enabled().find(each => each.label === label)
    if (choice) await this.execute(choice)
    else {
      time.withdraw(asked)
      this.#cluster.running.lookAgain()
    }
    return choice !== undefined
  }

  async #goBack(): Promise<void> {
    this.#reader = (this.#place?.reader ?? this.#newReader).copy()
    if (this.#place === undefined) return this.#executor.reset()
    this.#isReturning = true
    await this.#executor.restore(this.#place.checkpoint, this.#place.mark)
    this.#isReturning = false
  }

  async #repeat(choice: Choice): Promise<void> {
    const enabled = this.enabled()
    if (!enabled.some(({ label }) => label === choice.label))
      throw new Diverged(this.steps + 1, choice.label, labelsOf(enabled))
    await this.#executor.execute(choice)
  }
}

/** The executor keeps each step until the run is over: of a run of hours, its label alone. */
const named = ({ kind, node, label }: Choice): Choice => ({ kind, node, label, subject: label, numbers: noNumbers })

const noNumbers: readonly number[] = []
