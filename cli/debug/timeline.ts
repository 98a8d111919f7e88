import { Executor } from '../../checker/cells/executor.ts'
import { follow } from '../../checker/cells/schedule.ts'
import { UsageError } from '../../checker/errors.ts'
import type { Choice } from '../../checker/system.ts'
import { readTrace } from '../../checker/trace/read.ts'
import type { RecordedStep, Trace } from '../../checker/trace/trace.ts'
import type { ExecResult, GlobalState } from '../../harness/config.ts'
import { Execution } from '../../report/model/execution.ts'
import { requireSame } from '../comparison.ts'
import { record } from '../record.ts'
import { scheduleOf, sessionOf } from '../recorded.ts'
import { configOfTrace } from '../replay.ts'
import { inSession, type Session } from '../session.ts'
import { StepReader } from '../step-reader.ts'

/**
 * An execution of real processes that can be moved through in both directions. It stands at one of its steps; what comes
 * after is known where it was recorded, or executed once before. Another choice begins a branch.
 */
export class Timeline {
  readonly #session: Session
  readonly #trace: Trace
  /** Known steps; those up to where it stands have been executed. */
  #steps: RecordedStep[]
  #executor: Executor<GlobalState> | undefined
  #isBranch = false
  /** Of these steps; absent where they have changed since. */
  #known: Execution | undefined

  constructor(session: Session, trace: Trace) {
    this.#session = session
    this.#trace = trace
    this.#steps = [...trace.steps]
    this.#known = new Execution(trace)
  }

  /** Index of the step that it stands at; 0 is the start. */
  get at(): number {
    return this.#executor?.schedule.length ?? 0
  }

  /** All steps that are known, those that are still to come among them. */
  get execution(): Execution {
    this.#known ??= new Execution({ header: this.#trace.header, steps: this.#steps, end: undefined, torn: undefined })
    return this.#known
  }

  /** Whether it has left the trace. */
  get isBranch(): boolean {
    return this.#isBranch
  }

  /** What could happen next. */
  get enabled(): readonly Choice[] {
    return this.#session.cluster.enabled()
  }

  /** The first violation of safety, crash or divergence up to where it stands. */
  get violation(): string | undefined {
    return this.#executor?.violation?.message
  }

  /** The step. @throws UsageError where none is known of that index */
  known(step: number): number {
    const { end } = this.execution
    if (step <= end) return step
    throw new UsageError(`there is no step ${step}: the last that is known is ${end}`)
  }

  /**
   * Moves to a known step: onwards, or from the start again.
   *
   * @throws Diverged, Differs where the processes do something else than is known
   */
  async goTo(step: number): Promise<void> {
    this.known(step)
    if (this.#executor === undefined || step < this.at) await this.#begin()
    const labels = scheduleOf({ steps: this.#steps })
    await follow(this.#executor!, labels.slice(this.at, step))
  }

  /** Executes a choice that is enabled here; what was known to come is forgotten, unless it is the same. */
  async take(label: string): Promise<void> {
    const choice = this.enabled.find(each => each.label === label)
    if (choice === undefined) throw new UsageError(`"${label}" is not enabled here: "choices" lists what is`)
    if (this.#steps[this.at + 1]?.choice?.label !== label) {
      this.#steps = this.#steps.slice(0, this.at + 1)
      this.#known = undefined
      this.#isBranch = true
    }
    await this.#executor!.execute(choice)
  }

  /** Leaves a branch, for the last step that it has in common with the trace. */
  async leaveBranch(): Promise<void> {
    const executed = this.#executor?.labels() ?? []
    const recorded = scheduleOf(this.#trace)
    const other = executed.findIndex((label, index) => label !== recorded[index])
    this.#steps = [...this.#trace.steps]
    this.#known = new Execution(this.#trace)
    this.#isBranch = false
    this.#executor = other < 0 ? this.#executor : undefined
    await this.goTo(other < 0 ? executed.length : other)
  }

  /** Writes what led here as a trace of its own. */
  async save(path: string): Promise<void> {
    const schedule = this.#executor!.labels()
    const { violation } = this.#executor!
    const found = violation
      ? { ...violation, verdict: 'violated', property: violation.property ?? null }
      : { verdict: 'held', property: null, kind: null, message: 'saved from the debugger' }
    await record(this.#session, path, schedule, { options: {}, conclude: () => ({ ...found, schedule }) })
  }

  /** Runs a program inside a node, which goes on meanwhile. What it changes is gone after a move backwards. */
  run(node: string, program: readonly string[]): Promise<ExecResult> {
    return this.#session.cluster.runInside(node, program)
  }

  /** Stops a node for a debugger of processes, until its user is done; then all is as it was. */
  async lend(node: string, untilDone: (pid: number) => Promise<void>): Promise<void> {
    const { pid, takeBack } = this.#session.cluster.lend(node)
    await untilDone(pid).finally(takeBack)
    await this.#comeBack()
  }

  /** Opens the inspector of a Node.js program, and lets the nodes go on until its user is done; then all is as it was. */
  async inspect(node: string, untilDone: (pid: number) => Promise<void>): Promise<void> {
    const { cluster } = this.#session
    const pid = cluster.pidOf(node)
    let isDone = false
    const done = untilDone(pid).finally(() => {
      isDone = true
    })
    process.kill(pid, 'SIGUSR1')
    await cluster.goOnUntil(() => isDone)
    await done
    await this.#comeBack()
  }

  /** To the same step, by new processes. */
  async #comeBack(): Promise<void> {
    const { at } = this
    this.#executor = undefined
    this.#session.cluster.endLives()
    await this.goTo(at)
  }

  async #begin(): Promise<void> {
    const { cluster, system } = this.#session
    const observer = new StepReader(cluster, system.properties).observer(step => this.#see(step))
    this.#executor = new Executor(cluster, system.properties, { observer })
    await this.#executor.reset()
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
 * Opens a trace for as long as some work takes; its processes stand at the start.
 *
 * @throws TraceError where the trace cannot be read
 * @throws Differs where its start is another now
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
