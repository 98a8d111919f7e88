import { Executor } from '../checker/cells/executor.ts'
import { replay } from '../checker/cells/replay.ts'
import { walk } from '../checker/cells/walk.ts'
import { weighted } from '../checker/choosers/weights.ts'
import { Random } from '../checker/random.ts'
import { readTrace } from '../checker/trace/read.ts'
import type { RecordedStep } from '../checker/trace/trace.ts'
import type { Cluster } from '../harness/cluster.ts'
import { type CallDifference, type DescribedCall, firstDifference } from '../harness/execution/first-difference.ts'
import { exactDifference } from './comparison.ts'
import { type LoadedConfig, loadConfig } from './load-config.ts'
import { labelsOf } from './recorded.ts'
import { configOfTrace } from './replay.ts'
import { inSession, type Session } from './session.ts'
import { StepReader } from './step-reader.ts'

export interface RepeatOptions {
  /** Executions; 20 by default. */
  readonly times?: number
  /** Of the schedule that is drawn for a configuration; 100 by default. */
  readonly steps?: number
  /** Of the nodes' randomness and of that schedule; 1 by default, a trace has its own. */
  readonly seed?: number
  /** Whether lives are brought back in place, as in a check; else every execution begins on new processes. */
  readonly rewind?: boolean
  /** Told after each execution. */
  readonly onExecution?: (done: number, isRecorded: boolean) => void
}

/** Where executions of one schedule differed. */
export interface Difference {
  /** Counted from 1; 0 is the start. */
  readonly step: number
  /** The choice that began the step; empty for the start. */
  readonly label: string
  /** What others see of it: a message, an output, a timer, what is enabled. */
  readonly seen: string
  readonly node: string | null
  /** Which of the node's threads, counted from 0; null where no system call differed. */
  readonly thread: number | null
  /** The first system call that differs; null where none did while calls were written down. */
  readonly call: string | null
  readonly was: DescribedCall | null
  readonly is: DescribedCall | null
  /** Executions that were compared call by call until one differed. */
  readonly recorded: number
}

export interface Repeated {
  /** Executions. */
  readonly times: number
  /** How many of them were the same as the first, which counts. */
  readonly same: number
  /** Steps of the schedule. */
  readonly steps: number
  readonly seed: number
  readonly differs: Difference | null
}

/** Whether a file is a trace: else it is a configuration. */
const isTrace = (path: string): boolean => path.endsWith('.trace')

/**
 * Executes one schedule again and again, and names the first system call in which an execution differs from the first.
 *
 * @param path of a trace, whose schedule is executed, or of a configuration, for which one is drawn
 */
export const repeatPath = async (path: string, options: RepeatOptions): Promise<Repeated> => {
  if (!isTrace(path)) return repeatConfig(await loadConfig(path), options)
  const trace = readTrace(path)
  const config = await configOfTrace(path, trace)
  return repeatConfig(config, { ...options, seed: trace.header.seed }, labelsOf(trace))
}

const repeatConfig = (
  config: LoadedConfig,
  { times = 20, steps = 100, seed = 1, rewind = true, onExecution = () => {} }: RepeatOptions,
  labels?: readonly string[],
): Promise<Repeated> =>
  inSession(config, { seed, rewind }, async session => {
    const schedule = labels ?? (await drawSchedule(session, steps))
    const repetition = new Repetition(session, schedule, rewind, onExecution)
    return { times, steps: schedule.length, seed, ...(await repetition.repeat(times)) }
  })

/** The labels of a weighted walk. */
const drawSchedule = async ({ cluster, system, seed }: Session, steps: number): Promise<string[]> => {
  const executor = new Executor(cluster, {}, { allowFindings: true })
  await executor.reset()
  await walk(executor, weighted(new Random(seed), system.weights), steps, () => false)
  return executor.labels()
}

/** Executions that are compared call by call at most, before it is said that none differed. */
const recordedMax = 10

class Repetition {
  readonly #session: Session
  readonly #schedule: readonly string[]
  readonly #rewind: boolean
  readonly #onExecution: NonNullable<RepeatOptions['onExecution']>

  constructor(
    session: Session,
    schedule: readonly string[],
    rewind: boolean,
    onExecution: NonNullable<RepeatOptions['onExecution']>,
  ) {
    this.#session = session
    this.#schedule = schedule
    this.#rewind = rewind
    this.#onExecution = onExecution
  }

  get #cluster(): Cluster {
    return this.#session.cluster
  }

  async repeat(times: number): Promise<Pick<Repeated, 'same' | 'differs'>> {
    this.#cluster.endLives()
    const first = await this.#execute(1, false)
    let same = 1
    let found: Seen | undefined
    for (let count = 2; count <= times && !this.#session.signal.aborted; count++) {
      const difference = differenceOf(first, await this.#execute(count, false))
      if (difference === undefined) same += 1
      found ??= difference
    }
    return { same, differs: found ? await this.#explain(found) : null }
  }

  /** Writes every call down, until two executions differ. */
  async #explain(seen: Seen): Promise<Difference> {
    this.#cluster.endLives()
    this.#cluster.isRecording = true
    try {
      await this.#execute(1, true)
      const first = this.#cluster.calls
      for (let recorded = 2; recorded <= recordedMax && !this.#session.signal.aborted; recorded++) {
        await this.#execute(recorded, true)
        // The start of a life that was brought back is not that of a new one.
        const call = firstDifference(first, this.#cluster.calls, this.#rewind ? 1 : 0)
        if (call) return this.#name(seen, call, recorded)
      }
      return { ...seen, thread: null, call: null, was: null, is: null, recorded: recordedMax }
    } finally {
      this.#cluster.isRecording = false
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
    const { diverged } = await replay(
      this.#cluster,
      {},
      this.#schedule,
      reader.observer(step => steps.push(step)),
    )
    this.#onExecution(count, isRecorded)
    return { steps, diverged: diverged?.message }
  }
}

interface Execution {
  readonly steps: readonly RecordedStep[]
  readonly diverged: string | undefined
}

type Seen = Pick<Difference, 'step' | 'label' | 'seen' | 'node'>

const differenceOf = (first: Execution, other: Execution): Seen | undefined => {
  for (const [step, was] of first.steps.entries()) {
    const is = other.steps[step]
    const label = was.choice?.label ?? ''
    if (is === undefined) return { step, label, seen: other.diverged ?? 'it ended before', node: null }
    const difference = exactDifference(was, is)
    if (difference) return { step, label, ...difference }
  }
  return undefined
}
