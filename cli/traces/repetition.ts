import { replay } from '../../checker/cells/replay.ts'
import type { Diverged } from '../../checker/system/errors.ts'
import type { RecordedStep } from '../../checker/trace/trace.ts'
import type { Cluster } from '../../harness/cluster.ts'
import {
  type CallDifference,
  type DescribedCall,
  firstDifference,
  incidentalDifference,
} from '../../harness/execution/first-difference.ts'
import { exactDifference } from './comparison.ts'
import { StepReader } from './step-reader.ts'

/** Where executions of one schedule differed. */
export interface Difference {
  /** Counted from 1; 0 is the start. */
  readonly step: number
  /** Label of the choice that began the step; empty for the start. */
  readonly label: string
  /** How it differs for an observer: a message, an output, a timer, or what is enabled. */
  readonly seen: string
  readonly node: string | null
  /** Index of the node's thread, from 0; null if no system call differed. */
  readonly thread: number | null
  /** The first system call that differs; null if none did while calls were recorded. */
  readonly call: string | null
  readonly was: DescribedCall | null
  readonly is: DescribedCall | null
  /** Executions compared call by call until one differed. */
  readonly recorded: number
}

/** After this many executions without a difference in calls, none is reported. */
const recordedMax = 10

export interface RepetitionOptions {
  /** Variant of the nodes' random numbers; 0 by default. */
  readonly variant?: number
  /** Whether processes are rewound, as in a check; otherwise every execution begins with new processes. */
  readonly rewind: boolean
  /** Whether a schedule that cannot be executed, in the same way each time, is an error. */
  readonly mustApply?: boolean
  /** Ends it early. */
  readonly signal: AbortSignal
  /** Called after each execution. */
  readonly onExecution?: ((done: number, isRecorded: boolean) => void) | undefined
}

/** The result of executing a schedule repeatedly. */
export interface Repetitions {
  readonly times: number
  /** How many equal the first, including itself. */
  readonly same: number
  readonly differs: Difference | null
}

/**
 * Executes a schedule up to `times` times and names the first system call in which an execution differs from the first.
 *
 * @throws Diverged if it must apply and does not
 */
export const repeatSchedule = (
  cluster: Cluster,
  schedule: readonly string[],
  times: number,
  options: RepetitionOptions,
): Promise<Repetitions> => new Repetition(cluster, schedule, options).repeat(times)

class Repetition {
  readonly #cluster: Cluster
  readonly #schedule: readonly string[]
  readonly #options: RepetitionOptions

  constructor(cluster: Cluster, schedule: readonly string[], options: RepetitionOptions) {
    this.#cluster = cluster
    this.#schedule = schedule
    this.#options = options
  }

  async repeat(timesMax: number): Promise<Repetitions> {
    this.#cluster.endLives()
    const first = await this.#execute(1, false)
    let [times, same] = [1, 1]
    let found: Seen | undefined
    for (let count = 2; count <= timesMax && !this.#options.signal.aborted; count++) {
      times += 1
      const difference = differenceOf(first, await this.#execute(count, false))
      if (difference === undefined) same += 1
      found ??= difference
    }
    if (!found && first.diverged && this.#options.mustApply) throw first.diverged
    return { times, same, differs: found ? await this.#explain(found) : null }
  }

  /** Records every call until two executions differ. */
  async #explain(seen: Seen): Promise<Difference> {
    this.#cluster.endLives()
    this.#cluster.recording.isOn = true
    try {
      await this.#execute(1, true)
      const first = this.#cluster.recording.calls
      // The start of a rewound process makes other calls than the start of a new one, so it is skipped.
      const from = this.#options.rewind ? 1 : 0
      let incidental: CallDifference | undefined
      let recorded = 1
      while (recorded < recordedMax && !this.#options.signal.aborted) {
        recorded += 1
        await this.#execute(recorded, true)
        const { calls } = this.#cluster.recording
        const call = firstDifference(first, calls, from)
        if (call) return this.#name(seen, call, recorded)
        incidental ??= incidentalDifference(first, calls, from)
      }
      if (incidental) return this.#name(seen, incidental, recorded)
      return { ...seen, thread: null, call: null, was: null, is: null, recorded }
    } finally {
      this.#cluster.recording.isOn = false
      this.#cluster.endLives()
    }
  }

  #name(seen: Seen, { step, node, thread, call, was, is }: CallDifference, recorded: number): Difference {
    const label = this.#schedule[step - 1] ?? ''
    return { seen: seen.seen, step, label, node, thread, call, was: was ?? null, is: is ?? null, recorded }
  }

  async #execute(count: number, isRecorded: boolean): Promise<Execution> {
    const steps: RecordedStep[] = []
    const reader = new StepReader(this.#cluster, {})
    const { diverged } = await replay(this.#cluster, {}, this.#schedule, {
      observer: reader.observer(step => steps.push(step)),
      variant: this.#options.variant,
    })
    this.#options.onExecution?.(count, isRecorded)
    return { steps, diverged }
  }
}

interface Execution {
  readonly steps: readonly RecordedStep[]
  readonly diverged: Diverged | undefined
}

type Seen = Pick<Difference, 'step' | 'label' | 'seen' | 'node'>

const differenceOf = (first: Execution, other: Execution): Seen | undefined => {
  const steps = Math.max(first.steps.length, other.steps.length)
  for (let step = 0; step < steps; step++) {
    const [was, is] = [first.steps[step], other.steps[step]]
    const label = (was ?? is)!.choice?.label ?? ''
    if (was === undefined || is === undefined)
      return { step, label, seen: (was ? other : first).diverged?.message ?? 'it ended before', node: null }
    const difference = exactDifference(was, is)
    if (difference) return { step, label, ...difference }
  }
  return undefined
}
