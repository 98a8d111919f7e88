import { regionsOf } from '../../linux/memory.ts'
import { CallRecorder } from '../hold/held/call-recorder.ts'
import type { RecordedCalls } from './first-difference.ts'
import type { Stage } from './stage.ts'

/** Records the nodes' system calls, one execution at a time. It makes executions ten times slower. */
export class Recording {
  readonly #stage: Stage
  #isOn = false

  constructor(stage: Stage) {
    this.#stage = stage
  }

  get isOn(): boolean {
    return this.#isOn
  }

  /** Calls are recorded, or not, from the next start on. */
  set isOn(isOn: boolean) {
    this.#isOn = isOn
    this.#stage.runner.tracer.recorder = undefined
  }

  /** Call before an execution starts. */
  begin(): void {
    if (this.#isOn) this.#stage.runner.tracer.recorder = new CallRecorder()
  }

  /** Call before a step. */
  nextStep(): void {
    this.#stage.runner.tracer.recorder?.nextStep()
  }

  /** How often each system call was made in this execution, by number; empty if calls are not recorded. */
  get counts(): ReadonlyMap<number, number> {
    const counts = new Map<number, number>()
    const records = this.#steps.flatMap(step => [...step.values()].flat())
    for (const { number } of records) if (number !== undefined) counts.set(number, (counts.get(number) ?? 0) + 1)
    return counts
  }

  /** The system calls of this execution, and the present memory mappings of nodes whose process is still there. */
  get calls(): RecordedCalls {
    const mapped = this.#stage.nodes.map(
      ({ name, held }) => [name, held?.hasProcesses ? regionsOf(held.pid) : []] as const,
    )
    return { steps: this.#steps, regions: new Map(mapped) }
  }

  get #steps(): RecordedCalls['steps'] {
    return this.#stage.runner.tracer.recorder?.steps ?? []
  }
}
