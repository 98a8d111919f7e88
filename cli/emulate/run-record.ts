import { Writing } from '../../checker/system/written.ts'
import type { RecordedStep, TraceHeader } from '../../checker/trace/trace.ts'
import type { TraceWriter } from '../../checker/trace/write.ts'
import type { ResolvedSystem } from '../../harness/config/config.ts'
import type { Timing } from '../../harness/timed/timing.ts'
import { createTrace } from '../traces/record.ts'
import { RunFiles, traceIn } from './run-files.ts'

/** The record of a run with held nodes, written while it goes on. A write that fails ends it. */
export class RunRecord {
  /** Path of the trace. */
  readonly trace: string
  readonly files: RunFiles
  /** Requests from outside so far, in order. */
  readonly inputs: Timing['inputs'][number][] = []
  readonly #writer: TraceWriter
  readonly #full = new AbortController()
  readonly #writing = new Writing(() => this.#full.abort())

  /**
   * @param keepMs of the run's end so much is recorded as a whole; by default all is
   *
   * @throws NotWritten
   */
  constructor(directory: string, system: ResolvedSystem, header: TraceHeader, keepMs: number | undefined) {
    this.trace = traceIn(directory)
    this.#writer = createTrace(this.trace, header, { keepMs })
    this.files = new RunFiles(directory, system)
  }

  /** Aborted once something cannot be written. */
  get full(): AbortSignal {
    return this.#full.signal
  }

  /** A line about what could not be written. */
  get problem(): string | undefined {
    return this.#writing.problem
  }

  step(step: RecordedStep): void {
    this.#writing.try(() => {
      this.#writer.step(step)
      this.files.print(step.outputs, step.atMs ?? 0)
    })
    if (step.input !== undefined) this.inputs.push(step.input as Timing['inputs'][number])
  }

  end(verdict: object): void {
    this.#writing.try(() => this.#writer.end({ verdict }))
    this.#writer.close()
  }
}
