import { Executor } from '../../checker/cells/executor.ts'
import { walk } from '../../checker/cells/walk.ts'
import { weighted } from '../../checker/choosers/weights.ts'
import { DoesNotStart } from '../../checker/system/errors.ts'
import { Random } from '../../checker/system/random.ts'
import type { Finding } from '../../checker/system/system.ts'
import { scheduleOf } from '../../checker/trace/again.ts'
import { readTrace } from '../../checker/trace/read.ts'
import { type LoadedConfig, loadConfig } from '../config/load-config.ts'
import { inSession, type Session } from '../session/session.ts'
import { sessionOf } from './recorded.ts'
import { type Repetitions, repeatSchedule } from './repetition.ts'
import { configOfTrace } from './replay.ts'

export interface RepeatOptions {
  /** Number of executions; 20 by default. */
  readonly times?: number
  /** Length of the schedule drawn for a configuration; 100 by default. */
  readonly steps?: number
  /** Seed of the nodes' random numbers and of that schedule; 1 by default. A trace has its own. */
  readonly seed?: number
  /** Whether processes are rewound, as in a check; otherwise every execution begins with new processes. */
  readonly rewind?: boolean
  /** Called after each execution. */
  readonly onExecution?: (done: number, isRecorded: boolean) => void
}

export interface RepeatOutcome extends Repetitions {
  /** Length of the schedule. */
  readonly steps: number
  readonly seed: number
}

/** Whether a file is a trace rather than a configuration. */
const isTrace = (path: string): boolean => path.endsWith('.trace')

/**
 * Executes one schedule repeatedly and names the first system call in which an execution differs from the first.
 *
 * @param path of a trace, whose schedule is executed, or of a configuration, for which one is drawn
 *
 * @throws Diverged if the system does not enable the steps of a trace
 */
export const repeatPath = async (path: string, options: RepeatOptions): Promise<RepeatOutcome> => {
  if (!isTrace(path)) return repeatConfig(await loadConfig(path), options)
  const trace = readTrace(path)
  const config = await configOfTrace(path, trace)
  const { seed: _, ...others } = options
  return repeatConfig(config, others, scheduleOf(trace), sessionOf(trace, 'kept'))
}

const repeatConfig = (
  config: LoadedConfig,
  { times = 20, steps = 100, seed = 1, rewind = true, onExecution }: RepeatOptions,
  labels?: readonly string[],
  recorded?: ReturnType<typeof sessionOf>,
): Promise<RepeatOutcome> =>
  inSession(config, { seed, rewind, ...recorded }, async session => {
    const schedule = labels ?? (await drawSchedule(session, steps))
    const { cluster, signal, seed } = session
    const came = await repeatSchedule(cluster, schedule, times, { rewind, mustApply: true, signal, onExecution })
    return { ...came, steps: schedule.length, seed }
  })

/** The labels of a weighted walk. @throws DoesNotStart */
const drawSchedule = async ({ cluster, system, seed }: Session, steps: number): Promise<string[]> => {
  const executor = new Executor(cluster, {}, { allowFindings: true, observer: { onReset: requireStart } })
  await executor.reset()
  await walk(executor, weighted(new Random(seed), system.weights), steps, () => false)
  return executor.labels()
}

const requireStart = ([finding]: readonly Finding[]): void => {
  if (finding?.kind === 'crash') throw new DoesNotStart(finding)
}
