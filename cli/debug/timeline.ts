import { type ExecutionObserver, Executor, type Mark } from '../../checker/cells/executor.ts'
import { follow } from '../../checker/cells/schedule.ts'
import { UsageError } from '../../checker/system/errors.ts'
import type { Checkpoint, Choice, Finding } from '../../checker/system/system.ts'
import { scheduleOf } from '../../checker/trace/again.ts'
import { recordedChoice } from '../../checker/trace/enabled.ts'
import { readTrace } from '../../checker/trace/read.ts'
import type { RecordedStep, Trace } from '../../checker/trace/trace.ts'
import type { ExecResult, GlobalState } from '../../harness/config/config.ts'
import { ShownExecution } from '../../report/model/execution.ts'
import { inSession, type Session } from '../session/session.ts'
import { requireSame } from '../traces/comparison.ts'
import { record } from '../traces/record.ts'
import { sessionOf } from '../traces/recorded.ts'
import { configOfTrace } from '../traces/replay.ts'
import { StepReader } from '../traces/step-reader.ts'

/** A state that was marked in place, with what is known in it. */
interface Marked {
  readonly step: number
  readonly checkpoint: Checkpoint
  readonly known: Mark
  readonly reader: StepReader
}

/** More marks take more memory: for each, the pages that the nodes have written since the one before. */
const marksMax = 16

/**
 * An execution of real processes in which one can move forward and backward. Later steps are known if they were
 * recorded or executed before. Taking another choice begins a branch.
 */
export class Timeline {
  readonly #session: Session
  readonly #trace: Trace
  /** Known steps. Those up to the present one have been executed. */
  #steps: RecordedStep[]
  #executor: Executor<GlobalState> | undefined
  #isBranch = false
  /** States to go back to, in the order of their steps. */
  #marks: Marked[] = []
  /** Whether a program changed something in a node: that state is not part of the execution. */
  #isTouched = false
  #reader: StepReader | undefined
  /** An `ShownExecution` of `#steps`; undefined after they changed. */
  #known: ShownExecution | undefined

  constructor(session: Session, trace: Trace) {
    this.#session = session
    this.#trace = trace
    this.#steps = [...trace.steps]
    this.#known = new ShownExecution(trace)
  }

  /** Index of the present step; 0 is the start. */
  get at(): number {
    return this.#executor?.schedule.length ?? 0
  }

  /** All known steps, including later ones. */
  get execution(): ShownExecution {
    this.#known ??= new ShownExecution({
      header: this.#trace.header,
      steps: this.#steps,
      end: undefined,
      torn: undefined,
    })
    return this.#known
  }

  /** Whether it has left the trace. */
  get isBranch(): boolean {
    return this.#isBranch
  }

  /** The enabled choices. */
  get enabled(): readonly Choice[] {
    return this.#session.cluster.enabled()
  }

  /** Message of the first safety violation, crash or divergence up to the present step. */
  get violation(): string | undefined {
    return this.#executor?.violation?.message
  }

  /** Returns the step. @throws UsageError if no step with this index is known */
  known(step: number): number {
    const { end } = this.execution
    if (step <= end) return step
    throw new UsageError(`there is no step ${step}: the last that is known is ${end}`)
  }

  /**
   * Moves to a known step: forward, also from a state before it that was marked, or else again from the start.
   *
   * @throws Diverged, Differs if the processes do something other than the known steps
   */
  async goTo(step: number): Promise<void> {
    this.known(step)
    if (this.#executor === undefined) await this.#begin()
    else if (step < this.at) await this.#goBack(step)
    const labels = scheduleOf({ steps: this.#steps })
    // One step back is what is asked for most often.
    for (const stop of [step - 1, step]) {
      if (stop < this.at) continue
      await follow(this.#executor!, labels.slice(this.at, stop))
      await this.#mark()
    }
  }

  /** Executes an enabled choice. Known later steps are forgotten, unless the choice is the next one of them. */
  async take(label: string): Promise<void> {
    const choice = this.enabled.find(each => each.label === label)
    if (choice === undefined) throw new UsageError(`"${label}" is not enabled here: "choices" lists what is`)
    if (this.#steps[this.at + 1]?.choice?.label !== label) {
      this.#steps = this.#steps.slice(0, this.at + 1)
      this.#known = undefined
      this.#isBranch = true
      this.#forgetMarksAfter(this.at)
    }
    await this.#executor!.execute(choice)
    await this.#mark()
  }

  /** Leaves a branch and goes to the last step that it has in common with the trace. */
  async leaveBranch(): Promise<void> {
    const executed = this.#executor?.labels() ?? []
    const recorded = scheduleOf(this.#trace)
    const other = executed.findIndex((label, index) => label !== recorded[index])
    this.#steps = [...this.#trace.steps]
    this.#known = new ShownExecution(this.#trace)
    this.#isBranch = false
    if (other >= 0) this.#forgetMarksAfter(other)
    await this.goTo(other < 0 ? executed.length : other)
  }

  /** Writes the steps up to the present one as a trace. */
  async save(path: string): Promise<void> {
    const schedule = this.#executor!.labels()
    const { violation } = this.#executor!
    const found = violation
      ? { ...violation, verdict: 'violated', property: violation.property ?? null }
      : { verdict: 'held', property: null, kind: null, message: 'saved from the debugger' }
    const { unwritten } = await record(this.#session, path, schedule, {
      options: {},
      conclude: () => ({ ...found, schedule }),
    })
    if (unwritten !== undefined) throw new UsageError(unwritten)
  }

  /** Runs a program inside a node, which runs meanwhile. Moving backward undoes what it changed. */
  run(node: string, program: readonly string[]): Promise<ExecResult> {
    this.#isTouched = true
    return this.#session.cluster.debugging.runInside(node, program)
  }

  /** Stops a node for a process debugger until the user is done; then returns to the same state. */
  async lend(node: string, untilDone: (pid: number) => Promise<void>): Promise<void> {
    const { pid, takeBack } = this.#session.cluster.debugging.lend(node)
    await untilDone(pid).finally(takeBack)
    await this.#comeBack()
  }

  /**
   * Opens the inspector of a Node.js program and lets the nodes run until the user is done; then returns to the same
   * state.
   */
  async inspect(node: string, untilDone: (pid: number) => Promise<void>): Promise<void> {
    const { cluster } = this.#session
    const pid = cluster.debugging.pidOf(node)
    let isDone = false
    const done = untilDone(pid).finally(() => {
      isDone = true
    })
    process.kill(pid, 'SIGUSR1')
    await cluster.debugging.goOnUntil(() => isDone)
    await done
    await this.#comeBack()
  }

  /** Goes to the same step with new processes. */
  async #comeBack(): Promise<void> {
    const { at } = this
    this.#executor = undefined
    this.#marks = []
    this.#session.cluster.endLives()
    await this.goTo(at)
  }

  async #begin(): Promise<void> {
    const { cluster, system } = this.#session
    this.#executor ??= new Executor(cluster, system.properties, { observer: this.#observer })
    this.#reader = new StepReader(cluster, system.properties)
    this.#isTouched = false
    await this.#executor.reset()
  }

  /** Each step is read once; one that was restored was read before. */
  get #observer(): ExecutionObserver<GlobalState> {
    const read = (choice: Choice | undefined, findings: readonly Finding[], state: GlobalState) =>
      this.#see(this.#reader!.read(choice && recordedChoice(choice), findings, state))
    return {
      onReset: (findings, state, schedule) => {
        if (schedule.length === 0) read(undefined, findings, state())
      },
      onStep: ({ choice, findings }, state) => read(choice, findings, state()),
    }
  }

  /** Goes to the last marked state up to this step; without one, to the start. */
  async #goBack(step: number): Promise<void> {
    this.#marks = this.#marks.filter(({ checkpoint }) => !checkpoint.isLost)
    const nearest = this.#marks.findLast(mark => mark.step <= step)
    if (nearest === undefined) return this.#begin()
    this.#reader = nearest.reader.copy()
    this.#isTouched = false
    await this.#executor!.restore(nearest.checkpoint, nearest.known)
  }

  async #mark(): Promise<void> {
    const { at: step } = this
    const { violation, broken } = this.#executor!
    if (step === 0 || violation || broken || this.#isTouched || this.#marks.some(mark => mark.step === step)) return
    const checkpoint = await this.#session.cluster.mark()
    if (checkpoint === undefined) return
    const mark = { step, checkpoint, known: this.#executor!.mark(), reader: this.#reader!.copy() }
    this.#marks = [...this.#marks, mark].slice(-marksMax).toSorted((one, other) => one.step - other.step)
  }

  #forgetMarksAfter(step: number): void {
    this.#marks = this.#marks.filter(mark => mark.step <= step)
  }

  #see(step: RecordedStep): void {
    const known = this.#steps[step.index]
    if (known) requireSame(known, step)
    else {
      this.#steps.push(step)
      this.#known = undefined
    }
  }
}

/**
 * Opens a trace for the duration of some work. Its processes begin at the start.
 *
 * @throws TraceError if the trace cannot be read
 *
 * @throws Differs if the system's start differs from the recorded one
 */
export const withTimeline = async (
  path: string,
  work: (timeline: Timeline, trace: Trace, signal: AbortSignal) => Promise<void>,
): Promise<void> => {
  const trace = readTrace(path, { torn: 'accept' })
  const config = await configOfTrace(path, trace)
  await inSession(config, sessionOf(trace, 'kept'), async session => {
    const timeline = new Timeline(session, trace)
    await timeline.goTo(0)
    await work(timeline, trace, session.signal)
  })
}
